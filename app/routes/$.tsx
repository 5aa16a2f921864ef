import type { ActionFunctionArgs, LoaderFunctionArgs } from "@remix-run/node";
import { factsOf } from "#server/door/request-facts";
import { methodNotAllowed } from "~/answers/responses";

export { default } from "~/answers/no-page";

export function loader({ request }: LoaderFunctionArgs) {
  throw new Response(null, { status: factsOf(request).unreadable ? 400 : 404 });
}

/** A form finds no page here either. What only the other methods find here are the static files. */
export function action(args: ActionFunctionArgs) {
  if (args.request.method !== "POST") throw methodNotAllowed("GET, HEAD");
  return loader(args);
}
