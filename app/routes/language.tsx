import { type ActionFunctionArgs, redirect } from "@remix-run/node";
import { config } from "#server/config";
import { setNoticeLanguage } from "#server/features/owner/own-sessions";
import { isLanguage } from "#server/files/texts";
import { ownPath } from "#server/origins/return-to";
import { methodNotAllowed, respond } from "~/answers/responses";
import { readFields } from "~/forms/form";
import { languageCookie } from "~/visitor/cookies";
import { getUser } from "~/visitor/session";

export { default } from "~/answers/no-page";

export function loader() {
  throw methodNotAllowed("POST");
}

export function action({ request }: ActionFunctionArgs) {
  return respond(async () => {
    if (request.method !== "POST") throw methodNotAllowed("POST");
    const { fields } = await readFields(request, "language", "page");
    const { language, page } = fields;
    const signedIn = await getUser(request);
    if (signedIn) await setNoticeLanguage(signedIn.user.id, language);
    const headers = new Headers();
    if (isLanguage(language)) headers.set("Set-Cookie", languageCookie.write(request, language));
    return redirect(ownPath(page, config()) ?? "/", { headers });
  });
}
