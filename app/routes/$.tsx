import type { ActionFunctionArgs, LoaderFunctionArgs } from "@remix-run/node";
import { refusalOf } from "#server/http/request-facts.server";

export function loader({ request }: LoaderFunctionArgs) {
  throw new Response(null, { status: refusalOf(request) ?? 404 });
}

export function action(request: ActionFunctionArgs) {
  return loader(request);
}

/** Only for the page of the error. */
export default function NotFound() {
  return null;
}
