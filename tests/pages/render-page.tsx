import { createRemixStub } from "@remix-run/testing";
import { cleanup, render, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import type { ComponentType } from "react";
import { afterEach, vi } from "vitest";
import { useFocusOnArrival } from "~/focus";

afterEach(cleanup);

interface Answers {
  /** The loader's data. */
  loaded: unknown;
  /** The action's data for every form. While it is a pending promise, the action does not answer. */
  refused?: unknown;
}

/** Renders a page at `path` with a stubbed loader and action; `posted` is called with the fields of every form. */
export async function renderPage(path: string, Page: ComponentType, { loaded, refused = null }: Answers) {
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
  render(<Stub initialEntries={[path]} />);
  await screen.findByRole("heading", { level: 1 });
  return { posted, user: userEvent.setup() };
}
