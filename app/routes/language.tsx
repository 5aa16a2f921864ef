import { type ActionFunctionArgs, redirect } from "@remix-run/node";
import { allowedPath } from "#server/features/return-to.server";
import { readFields, withLanguage } from "~/request";
import { methodNotAllowed } from "~/request/responses";

export { default } from "~/page/no-page";

export function loader() {
  throw methodNotAllowed("POST");
}

/** Keeps the visitor's language and shows the page again. */
export async function action({ request }: ActionFunctionArgs) {
  const { fields } = await readFields(request, ["language", "page"]);
  const { language = "", page = "" } = fields;
  return withLanguage(request, redirect(allowedPath(page) ?? "/"), language);
}
