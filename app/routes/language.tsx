import { type ActionFunctionArgs, redirect } from "@remix-run/node";
import { setNoticeLanguage } from "#server/features/owner/sessions.server";
import { allowedPath } from "#server/features/visitor/return-to.server";
import { methodNotAllowed, respond } from "~/answers/responses";
import { getUser, readFields, withLanguage } from "~/request";

export { default } from "~/answers/no-page";

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
