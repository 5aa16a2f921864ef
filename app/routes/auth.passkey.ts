import type { ActionFunctionArgs } from "@remix-run/node";
import { hasPasskeys, startAddingPasskey, startPasskeySignIn } from "#server/features/owner/passkeys.server";
import { methodNotAllowed, respond } from "~/answers/responses";
import { factsOf, getUser, mustSignInAgain, ownerOf, readFields } from "~/request";
import { withPasskeyBrowser } from "~/visitor/passkey-ceremony.server";

/** The options of a ceremony, whose challenge this browser alone can answer: to sign in, or to `add` a passkey. */
export function action({ request }: ActionFunctionArgs) {
  return respond(async () => {
    const { fields } = await readFields(request, ["purpose"]);
    if (!hasPasskeys(factsOf(request).origin)) return new Response(null, { status: 404 });
    const { browser, headers } = withPasskeyBrowser(request);
    if (fields.purpose !== "add") return Response.json(await startPasskeySignIn(browser), { headers });
    const signedIn = await getUser(request);
    if (!signedIn || mustSignInAgain(signedIn)) return new Response(null, { status: 403 });
    return Response.json(await startAddingPasskey(ownerOf(request, signedIn), signedIn.user, browser), { headers });
  });
}

export function loader() {
  return methodNotAllowed("POST");
}
