import { createRemixStub } from "@remix-run/testing";
import { cleanup, configure, getConfig, render, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import type { ComponentType, ReactNode } from "react";
import { onTestFinished, vi } from "vitest";
import { texts } from "#server/languages/texts";
import { useFocusOnArrival } from "~/document/focus";
import { type PageContent, PageProvider } from "~/document/page-context";

const { asyncWrapper } = getConfig();

/** React runs the effects of what a query has found in an immediate of its own, which a slow machine may run later. */
configure({
  asyncWrapper: async (work) => {
    const found = await asyncWrapper(work);
    await new Promise((resolve) => setImmediate(resolve));
    return found;
  },
});

export const english: PageContent = {
  language: "en",
  texts: texts.en.pages,
  brand: { name: "Latchkey", logo: null, colors: null, termsUrl: null, privacyUrl: null, supportEmail: null },
  textsPath: "/__files/texts-en.json",
  shortestPassword: 8,
  passwordless: null,
  providerMark: "Google",
  nonce: "",
};

export function English({ children }: { children: ReactNode }) {
  return <PageProvider content={english}>{children}</PageProvider>;
}

interface Answers {
  loaded: unknown;
  /** The action's data for every form. While it is a pending promise, the action does not answer. */
  refused?: unknown;
  content?: PageContent;
}

export async function renderPage(
  path: string,
  Page: ComponentType,
  { loaded, refused = null, content = english }: Answers,
) {
  const posted = vi.fn<(to: string, fields: Record<string, FormDataEntryValue>) => void>();
  const action = async ({ request }: { request: Request }) => {
    posted(new URL(request.url).pathname, Object.fromEntries(await request.formData()));
    return Response.json(await refused);
  };
  const FocusedPage = () => {
    useFocusOnArrival();
    return <Page />;
  };
  const { pathname } = new URL(path, "http://localhost");
  const Stub = createRemixStub([
    { path: pathname, Component: FocusedPage, loader: () => Response.json(loaded), action },
  ]);
  onTestFinished(cleanup);
  render(
    <PageProvider content={content}>
      <Stub initialEntries={[path]} />
    </PageProvider>,
  );
  await screen.findByRole("heading", { level: 1 });
  return { posted, user: userEvent.setup() };
}
