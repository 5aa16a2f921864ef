import { type ActionFunctionArgs, redirect } from "@remix-run/node";
import { allowedPath } from "#server/features/return-to.server";
import { setNoticeLanguage } from "#server/features/sessions.server";
import { getUser, readFields, withLanguage } from "~/request";
import { methodNotAllowed, respond } from "~/request/responses";

export { default } from "~/page/no-page";

export function loader() {
  throw methodNotAllowed("POST");
}

export function action({ request }: ActionFunctionArgs) {
  return respond(async () => {
    const { fields } = await readFields(request, ["language", "page"]);
    const { language = "", page = "" } = fields;
    const signedIn = await getUser(request);
    if (signedIn) await setNoticeLanguage(signedIn.user.id, language);
    return withLanguage(request, redirect(allowedPath(page) ?? "/"), language);
  });
}
