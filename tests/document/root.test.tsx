import type { LoaderFunction } from "@remix-run/node";
import { useParams } from "@remix-run/react";
import { createRemixStub } from "@remix-run/testing";
import { cleanup, render, screen } from "@testing-library/react";
import { afterEach, describe, expect, test, vi } from "vitest";
import { PageProvider, usePage } from "~/document/page-context";
import { titled, useHead } from "~/document/title";
import App, { ErrorBoundary, headers, links } from "~/root";
import { English, english } from "../support/render-page";

afterEach(cleanup);

function NonceText() {
  return <h1>{`nonce: ${usePage().nonce}.`}</h1>;
}

function renderApp(loader: LoaderFunction) {
  const Stub = createRemixStub([
    { path: "/", Component: App, ErrorBoundary, children: [{ index: true, Component: NonceText, loader }] },
  ]);
  render(<Stub />, { wrapper: English });
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

test.each([
  ["a request without an answer", new TypeError("Failed to fetch"), "No connection"],
  ["an error of the server, as the browser gets it", new Error("Unexpected Server Error"), "Something went wrong"],
])("%s is rendered as a page of its own", async (_what, error, title) => {
  vi.spyOn(console, "warn").mockImplementation(() => {});
  vi.spyOn(console, "error").mockImplementation(() => {});
  renderApp(() => {
    throw error;
  });
  expect((await screen.findByRole("heading", { level: 1 })).textContent).toBe(title);
});

describe("a page about passwords", () => {
  const open = async (passwordless: string | null) => {
    const handle = titled("register.title", { password: true });
    const page = { path: "register", Component: NonceText, handle };
    const Stub = createRemixStub([{ path: "/", Component: App, children: [page] }]);
    render(
      <PageProvider content={{ ...english, passwordless }}>
        <Stub initialEntries={["/register?return_to=/notes"]} />
      </PageProvider>,
    );
    return screen.findByRole("heading", { level: 1 });
  };

  test("is shown with passwords", async () => {
    expect((await open(null)).textContent).toBe("nonce: .");
  });

  test("says without passwords where accounts come from", async () => {
    expect((await open("Example")).textContent).toBe("No passwords here");
    expect(screen.getByRole("main").textContent).toContain("Accounts come from Example");
  });

  test("leads without passwords back to the login page with its target", async () => {
    await open("Example");
    const back = screen.getByRole("link", { name: "Back to log in" });
    expect(back.getAttribute("href")).toBe("/login?return_to=%2Fnotes");
  });
});

function Title() {
  const { status } = useParams();
  return <h1>{useHead(status === "null" ? null : Number(status)).title}</h1>;
}

test.each<[number | null, ReturnType<typeof titled> | undefined, string, string?]>([
  [null, titled("common.logIn"), "Log in · Latchkey"],
  [null, titled("register.title", { password: true }), "No passwords here · Latchkey", "Example"],
  [null, undefined, "Latchkey"],
  [404, titled("common.logIn"), "Page not found · Latchkey"],
  [418, undefined, "Something went wrong · Latchkey"],
])("the title of status %j with the handle %j is %j", async (status, handle, title, passwordless?) => {
  const Stub = createRemixStub([{ path: "/:status", Component: Title, handle }]);
  render(
    <PageProvider content={{ ...english, passwordless: passwordless ?? null }}>
      <Stub initialEntries={[`/${status}`]} />
    </PageProvider>,
  );
  expect((await screen.findByRole("heading", { level: 1 })).textContent).toBe(title);
});

test("an error's headers are kept", () => {
  const answer = (errorHeaders?: Headers) => headers({ errorHeaders } as Parameters<typeof headers>[0]);
  const allow = new Headers({ Allow: "POST" });
  expect(answer(allow)).toBe(allow);
  expect(answer()).toEqual({});
});

test("every stylesheet is same-origin", () => {
  const addresses = links().flatMap((link) => ("href" in link && link.href ? [link.href] : []));
  for (const address of addresses) expect(address).toMatch(/^\/(?!\/)/);
});
