import { type ActionFunctionArgs, redirect } from "@remix-run/node";
import { isLanguage } from "#server/languages/languages";
import { readFields } from "~/form.server";
import { languageCookie } from "~/language.server";
import { methodNotAllowed } from "~/responses";

export function loader() {
  throw methodNotAllowed("POST");
}

/** A path of this site with its query, as `Location` needs it; `null` for anything that may lead elsewhere. */
function pathOf(page: string): string | null {
  if (!/^\/(?![/\\])/.test(page) || !URL.canParse(page, "http://localhost")) return null;
  const { origin, pathname, search } = new URL(page, "http://localhost");
  const path = pathname + search; // `/..//host` is `//host` by now
  return origin === "http://localhost" && /^\/(?![/\\])/.test(path) ? path : null;
}

/** Keeps the visitor's language and shows the page again. */
export async function action({ request }: ActionFunctionArgs) {
  const { fields } = await readFields(request, ["language", "page"]);
  const { language = "", page = "" } = fields;
  const headers = new Headers();
  if (isLanguage(language)) headers.set("Set-Cookie", languageCookie(request, language));
  return redirect(pathOf(page) ?? "/", { headers });
}

/** Only for the page of a refused method. */
export default function LanguagePage() {
  return null;
}
