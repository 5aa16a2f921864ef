import type { ActionFunctionArgs, LoaderFunctionArgs } from "@remix-run/node";
import { factsOf } from "#server/door/request-facts";
import { methodNotAllowed } from "~/answers/responses";

export { default } from "~/answers/no-page";

/** A POST gets the same 404 as a GET. The 405 for other methods allows GET and HEAD, because static files are here. */
export function action(args: ActionFunctionArgs) {
  if (args.request.method !== "POST") throw methodNotAllowed();
  return loader(args);
}

export function loader({ request }: LoaderFunctionArgs) {
  throw new Response(null, { status: factsOf(request).unreadable ? 400 : 404 });
}
