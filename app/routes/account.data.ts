import { type ActionFunctionArgs, redirect } from "@remix-run/node";
import { accountData } from "#server/features/owner/account-data";
import { jsonFile } from "~/answers/no-page";
import { respond } from "~/answers/responses";
import { readFields } from "~/forms/form";
import { accountLogin, endedSession, requireRecentSignIn, requireUser } from "~/visitor/session";

export { default } from "~/answers/no-page";

/** The owner's own data, as a file. */
export function action({ request }: ActionFunctionArgs) {
  return respond(async () => {
    await readFields(request);
    const owner = await requireUser(request, accountLogin());
    await requireRecentSignIn(request, owner);
    const content = await accountData(owner);
    if (!content) return endedSession(request);
    throw jsonFile("account.json", content);
  });
}

/** An error page links to the address of the form: the button is on another page. */
export function loader() {
  return redirect("/account/activity");
}
