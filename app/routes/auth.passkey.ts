import type { ActionFunctionArgs } from "@remix-run/node";
import { data } from "@remix-run/react";
import {
  addPasskey,
  countChallenge,
  hasPasskeys,
  startAddingPasskey,
  startPasskeySignIn,
} from "#server/features/owner/passkeys.server";
import { browserName } from "#server/features/owner/sessions.server";
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

/** Who may add a passkey; `null` for others. */
async function recentlySignedIn(request: Request) {
  const signedIn = await getUser(request);
  return signedIn && !mustSignInAgain(signedIn) ? signedIn : null;
}

/** The options of a ceremony, whose challenge this browser alone can answer: to add a passkey, or to sign in. */
async function ceremonyOptions(request: Request, by: "add" | "upgrade" | undefined): Promise<Response> {
  if (!hasPasskeys(factsOf(request).origin)) return new Response(null, { status: 404 });
  const signedIn = by ? await recentlySignedIn(request) : null;
  if (by && !signedIn) return new Response(null, { status: 403 });
  const wait = await countChallenge(signedIn?.user.id ?? null, loginOrigin(request));
  if (wait !== null) return new Response(null, tooManyRequests(wait));
  const { browser, headers } = withPasskeyBrowser(request);
  if (!by || !signedIn) return Response.json(await startPasskeySignIn(browser), { headers });
  const options = await startAddingPasskey(ownerOf(request, signedIn), signedIn.user, { browser, by });
  return options ? Response.json(options, { headers }) : new Response(null, { status: 403 });
}

/** Adds what the browser created without a click. Its page shows no refusal. */
async function upgrade(request: Request, text: string): Promise<Response> {
  const signedIn = await recentlySignedIn(request);
  if (!signedIn) return new Response(null, { status: 403 });
  const owner = ownerOf(request, signedIn);
  const name = browserName(request.headers.get("User-Agent"), owner.language);
  const outcome = await addPasskey(owner, { browser: passkeyBrowser(request), by: "upgrade" }, text, [name, name]);
  return new Response(null, { status: outcome === "added" ? 204 : 422 });
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

/** With the field `passkey` a sign-in or an upgrade, otherwise the options of a ceremony with the `purpose`. */
export function action({ request }: ActionFunctionArgs) {
  return respond(async () => {
    const { fields } = await readFields(request, ["purpose", "passkey"]);
    const { passkey } = fields;
    const by = (["add", "upgrade"] as const).find((one) => one === fields.purpose);
    if (passkey === undefined) return ceremonyOptions(request, by);
    return by === "upgrade" ? upgrade(request, passkey) : signInBy(request, passkey);
  });
}

export function loader() {
  return methodNotAllowed("POST");
}
