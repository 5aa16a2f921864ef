// @vitest-environment happy-dom
import type { LoaderFunction } from "@remix-run/node";
import { createRemixStub } from "@remix-run/testing";
import { cleanup, render, screen } from "@testing-library/react";
import { afterEach, expect, test, vi } from "vitest";
import { useNonce } from "~/nonce";
import App, { ErrorBoundary, headers, links, meta } from "~/root";

afterEach(cleanup);

function NonceText() {
  return <h1>{`nonce: ${useNonce()}.`}</h1>;
}

function renderApp(loader: LoaderFunction) {
  const Stub = createRemixStub([
    { path: "/", Component: App, ErrorBoundary, children: [{ index: true, Component: NonceText, loader }] },
  ]);
  render(<Stub />);
}

test("a page is rendered without a nonce in the browser", async () => {
  renderApp(() => null);
  expect((await screen.findByRole("heading", { level: 1 })).textContent).toBe("nonce: .");
});

test("a response that a route throws is rendered as the error page of its status", async () => {
  vi.spyOn(console, "warn").mockImplementation(() => {});
  renderApp(() => {
    throw new Response(null, { status: 503 });
  });
  expect((await screen.findByRole("heading", { level: 1 })).textContent).toBe("Back in a moment");
});

test("an error has its own title, its headers are kept, and every stylesheet is same-origin", () => {
  const titled = (error: unknown) => meta({ error } as Parameters<typeof meta>[0]);
  expect(titled(undefined)).toEqual([{ title: "Latchkey" }]);
  expect(titled(new Error("unexpected"))).toEqual([{ title: "Something went wrong · Latchkey" }]);

  const answer = (errorHeaders?: Headers) => headers({ errorHeaders } as Parameters<typeof headers>[0]);
  const allow = new Headers({ Allow: "POST" });
  expect(answer(allow)).toBe(allow);
  expect(answer()).toEqual({});

  const addresses = links().flatMap((link) => ("href" in link && link.href ? [link.href] : []));
  for (const address of addresses) expect(address).toMatch(/^\/(?!\/)/);
});
