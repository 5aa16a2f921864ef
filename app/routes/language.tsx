import { type ActionFunctionArgs, redirect } from "@remix-run/node";
import { allowedPath } from "#server/features/return-to.server";
import { isLanguage } from "#server/languages/languages";
import { readFields } from "~/form.server";
import { languageCookie } from "~/language.server";
import { methodNotAllowed } from "~/responses";

export function loader() {
  throw methodNotAllowed("POST");
}

/** Keeps the visitor's language and shows the page again. */
export async function action({ request }: ActionFunctionArgs) {
  const { fields } = await readFields(request, ["language", "page"]);
  const { language = "", page = "" } = fields;
  const headers = new Headers();
  if (isLanguage(language)) headers.set("Set-Cookie", languageCookie(request, language));
  return redirect(allowedPath(page) ?? "/", { headers });
}

/** Only for the page of a refused method. */
export default function LanguagePage() {
  return null;
}
