import type { LoaderFunctionArgs } from "@remix-run/node";
import { requireGuest } from "~/request";
import { respond } from "~/request/responses";

// Every page loads this file at first, so it imports nothing for the browser: `redirect` of @remix-run/node and the shared
// `no-page` would be two more requests, of 0.6 kB each.

export function loader({ request }: LoaderFunctionArgs) {
  return respond(async () => {
    await requireGuest(request);
    return new Response(null, { status: 302, headers: { Location: "/login" } });
  });
}

export default function NoPage() {
  return null;
}
