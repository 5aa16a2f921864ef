import type { ActionFunctionArgs } from "@remix-run/node";
import {
  countChallenge,
  hasPasskeys,
  startAddingPasskey,
  startPasskeySignIn,
} from "#server/features/owner/passkeys.server";
import { methodNotAllowed, respond } from "~/answers/responses";
import { clientOf, deviceToken, factsOf, getUser, mustSignInAgain, ownerOf, readFields } from "~/request";
import { withPasskeyBrowser } from "~/visitor/passkey-ceremony.server";

/** The options of a ceremony, whose challenge this browser alone can answer: to sign in, or to `add` a passkey. */
export function action({ request }: ActionFunctionArgs) {
  return respond(async () => {
    const { fields } = await readFields(request, ["purpose"]);
    if (!hasPasskeys(factsOf(request).origin)) return new Response(null, { status: 404 });
    const adds = fields.purpose === "add";
    const signedIn = adds ? await getUser(request) : null;
    if (adds && (!signedIn || mustSignInAgain(signedIn))) return new Response(null, { status: 403 });
    const origin = { client: clientOf(request), deviceToken: deviceToken(request) };
    const wait = await countChallenge(signedIn?.user.id ?? null, origin);
    if (wait !== null) return new Response(null, { status: 429, headers: { "Retry-After": String(wait) } });
    const { browser, headers } = withPasskeyBrowser(request);
    if (!signedIn) return Response.json(await startPasskeySignIn(browser), { headers });
    return Response.json(await startAddingPasskey(ownerOf(request, signedIn), signedIn.user, browser), { headers });
  });
}

export function loader() {
  return methodNotAllowed("POST");
}
