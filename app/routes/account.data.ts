import { type ActionFunctionArgs, redirect } from "@remix-run/node";
import { accountData } from "#server/features/owner/account-data";
import { methodNotAllowed, respond } from "~/answers/responses";
import { readFields } from "~/forms/form";
import { requireRecentSignIn, requireUser } from "~/visitor/session";

/** The owner's own data, as a file. */
export function action({ request }: ActionFunctionArgs) {
  return respond(async () => {
    await readFields(request);
    const owner = await requireUser(request, "/login");
    await requireRecentSignIn(request, owner);
    const content = await accountData(owner);
    if (!content) return redirect("/login");
    return new Response(`${JSON.stringify(content, null, 2)}\n`, {
      headers: {
        "Content-Type": "application/json",
        "Content-Disposition": 'attachment; filename="account.json"',
        "Cache-Control": "no-store",
      },
    });
  });
}

export function loader() {
  return methodNotAllowed("POST");
}
