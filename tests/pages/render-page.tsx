import { createRemixStub } from "@remix-run/testing";
import { cleanup, render, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import type { ComponentType } from "react";
import { afterEach, vi } from "vitest";
import { useFocusOnArrival } from "~/focus";

afterEach(cleanup);

interface Answers {
  /** What the loader says. */
  loaded: unknown;
  /** What the action says to every form; a promise keeps it waiting. */
  refused?: unknown;
}

/** Shows a page at `path`, with answers in the place of the server; `posted` gets the fields of every form. */
export async function renderPage(path: string, Page: ComponentType, { loaded, refused = null }: Answers) {
  const posted = vi.fn<(to: string, fields: Record<string, FormDataEntryValue>) => void>();
  const action = async ({ request }: { request: Request }) => {
    posted(new URL(request.url).pathname, Object.fromEntries(await request.formData()));
    return Response.json(await refused);
  };
  const Arriving = () => {
    useFocusOnArrival();
    return <Page />;
  };
  const { pathname } = new URL(path, "http://localhost");
  const Stub = createRemixStub([{ path: pathname, Component: Arriving, loader: () => Response.json(loaded), action }]);
  render(<Stub initialEntries={[path]} />);
  await screen.findByRole("heading", { level: 1 });
  return { posted, user: userEvent.setup() };
}
