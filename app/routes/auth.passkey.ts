import type { ActionFunctionArgs } from "@remix-run/node";
import { factsOf } from "#server/door/request-facts";
import {
  addPasskey,
  countChallenge,
  hasPasskeys,
  newCeremonyToken,
  startAddingPasskey,
  startPasskeySignIn,
} from "#server/features/owner/passkeys";
import { signInWithPasskey } from "#server/features/visitor/passkey-sign-in";
import { methodNotAllowed, minutesIn, respond, returnToOf, tooManyRequests } from "~/answers/responses";
import { readFields } from "~/forms/form";
import { ceremonyCookie } from "~/visitor/cookies";
import { getUser, mustSignInAgain, signIn } from "~/visitor/session";
import { ownerOf, textsFor, visitorOf } from "~/visitor/visitor";

/** The signed-in user, if the sign-in is recent enough to add a passkey; otherwise `null`. */
async function recentlySignedIn(request: Request) {
  const signedIn = await getUser(request);
  return signedIn && !mustSignInAgain(signedIn) ? signedIn : null;
}

/** The options of a ceremony to add a passkey or to sign in. Only this browser can answer the challenge. */
async function ceremonyOptions(request: Request, by: "add" | "upgrade" | undefined): Promise<Response> {
  if (!hasPasskeys(factsOf(request).origin)) return new Response(null, { status: 404 });
  const signedIn = by ? await recentlySignedIn(request) : null;
  if (by && !signedIn) return new Response(null, { status: 403 });
  const wait = await countChallenge(visitorOf(request), signedIn?.user.id ?? null);
  if (wait !== null) return new Response(null, tooManyRequests(wait));
  // A new challenge does not change the browser's token: each of its tabs has a challenge of its own.
  const ceremonyToken = ceremonyCookie.read(request) ?? newCeremonyToken();
  const headers = { "Set-Cookie": ceremonyCookie.write(request, ceremonyToken) };
  if (!by || !signedIn) return Response.json(await startPasskeySignIn({ ceremonyToken }), { headers });
  const options = await startAddingPasskey({ ...ownerOf(request, signedIn), ceremonyToken }, by);
  return options ? Response.json(options, { headers }) : new Response(null, { status: 403 });
}

/** Adds the passkey that the browser created without a click. The page shows no refusal. */
async function upgrade(request: Request, text: string): Promise<Response> {
  const signedIn = await recentlySignedIn(request);
  if (!signedIn) return new Response(null, { status: 403 });
  const outcome = await addPasskey(ownerOf(request, signedIn), "upgrade", { text, typedName: "" });
  return new Response(null, { status: outcome === "added" ? 204 : 422 });
}

/** Answers by Responses: of a route without a page, Remix keeps no status of `data`. @param text an answer, as JSON */
async function signInBy(request: Request, text: string) {
  const t = textsFor(request);
  const done = await signInWithPasskey(visitorOf(request), text);
  if (!done) return Response.json({ message: t("login.passkeyFailed") }, { status: 422 });
  if ("wait" in done) {
    const message = t("login.tooMany", { count: minutesIn(done.wait) });
    return Response.json({ message }, tooManyRequests(done.wait));
  }
  return signIn(request, { ...done, way: "passkey", returnTo: returnToOf(request) });
}

/** With the field `passkey`: a sign-in or an upgrade. Without it: the options of a ceremony for the `purpose`. */
export function action({ request }: ActionFunctionArgs) {
  return respond(async () => {
    if (request.method !== "POST") return methodNotAllowed("POST");
    const { sent } = await readFields(request, "purpose", "passkey");
    const { purpose, passkey } = sent;
    const by = purpose === "add" || purpose === "upgrade" ? purpose : undefined;
    if (passkey === undefined) return ceremonyOptions(request, by);
    return by === "upgrade" ? upgrade(request, passkey) : signInBy(request, passkey);
  });
}

export function loader() {
  return methodNotAllowed("POST");
}
