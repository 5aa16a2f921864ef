import type { LoaderFunctionArgs } from "@remix-run/node";
import { findFile } from "#server/features/visitor/branding.server";

export { default } from "~/answers/no-page";

/** The brand's files and the texts. `app/entry.server.tsx` sends them, because a loader's answer cannot have bytes. */
export function loader({ request }: LoaderFunctionArgs) {
  if (!findFile(new URL(request.url).pathname)) throw new Response(null, { status: 404 });
  return null;
}
