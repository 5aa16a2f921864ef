import type { ActionFunctionArgs } from "@remix-run/node";
import { data } from "@remix-run/react";
import {
  countChallenge,
  hasPasskeys,
  startAddingPasskey,
  startPasskeySignIn,
} from "#server/features/owner/passkeys.server";
import { signInWithPasskey } from "#server/features/visitor/passkey-sign-in.server";
import { methodNotAllowed, minutesIn, respond, tooManyRequests, unprocessable } from "~/answers/responses";
import {
  browserOf,
  clientOf,
  deviceToken,
  factsOf,
  getUser,
  mustSignInAgain,
  ownerOf,
  passkeyBrowser,
  readFields,
  returnToOf,
  signIn,
  textsFor,
  withDevice,
} from "~/request";
import { withPasskeyBrowser } from "~/visitor/passkey-ceremony.server";

const loginOrigin = (request: Request) => ({ client: clientOf(request), deviceToken: deviceToken(request) });

/** The options of a ceremony, whose challenge this browser alone can answer: to sign in, or to `add` a passkey. */
async function ceremonyOptions(request: Request, adds: boolean): Promise<Response> {
  if (!hasPasskeys(factsOf(request).origin)) return new Response(null, { status: 404 });
  const signedIn = adds ? await getUser(request) : null;
  if (adds && (!signedIn || mustSignInAgain(signedIn))) return new Response(null, { status: 403 });
  const wait = await countChallenge(signedIn?.user.id ?? null, loginOrigin(request));
  if (wait !== null) return new Response(null, tooManyRequests(wait));
  const { browser, headers } = withPasskeyBrowser(request);
  if (!signedIn) return Response.json(await startPasskeySignIn(browser), { headers });
  return Response.json(await startAddingPasskey(ownerOf(request, signedIn), signedIn.user, browser), { headers });
}

/** @param text an authenticator's answer, as JSON */
async function signInBy(request: Request, text: string) {
  const t = textsFor(request);
  const answer = { text, browser: passkeyBrowser(request) };
  const done = await signInWithPasskey(answer, browserOf(request), loginOrigin(request));
  if (!done) return unprocessable({ message: t("login.passkeyFailed") });
  if ("wait" in done) {
    const message = t("login.tooMany", { count: minutesIn(done.wait) });
    return data({ message }, tooManyRequests(done.wait));
  }
  const end = { session: done.session, way: "passkey", returnTo: returnToOf(request) } as const;
  return withDevice(request, signIn(request, end), done.deviceToken);
}

/** With the field `passkey` a sign-in, otherwise the options of a ceremony with the `purpose`. */
export function action({ request }: ActionFunctionArgs) {
  return respond(async () => {
    const { fields } = await readFields(request, ["purpose", "passkey"]);
    if (fields.passkey !== undefined) return signInBy(request, fields.passkey);
    return ceremonyOptions(request, fields.purpose === "add");
  });
}

export function loader() {
  return methodNotAllowed("POST");
}
