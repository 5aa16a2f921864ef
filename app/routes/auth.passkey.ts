import type { ActionFunctionArgs } from "@remix-run/node";
import { factsOf } from "#server/door/request-facts";
import { addPasskey, startAddingPasskey } from "#server/features/owner/passkeys";
import { offersPasskeys, signInWithPasskey, startPasskeySignIn } from "#server/features/visitor/passkey-sign-in";
import { startResetPasskey } from "#server/features/visitor/password-reset";
import { startRegistrationPasskey } from "#server/features/visitor/registration";
import { answersIn } from "#server/files/texts";
import { methodNotAllowed, minutesIn, respond, tooManyRequests } from "~/answers/responses";
import { readFields } from "~/forms/form";
import type { LinkParameters } from "~/forms/mailed-link";
import { ceremonyCookie } from "~/visitor/cookies";
import { returnToOf } from "~/visitor/page-query";
import { getUser, mustSignInAgain, signIn } from "~/visitor/session";
import { visitorOf } from "~/visitor/visitor";

const purposes = ["sign-in", "add", "upgrade", "reset", "register"] as const;

/** With the field `passkey`, the answer of a sign-in or an upgrade; without it, the options of the `purpose`. */
export function action({ request }: ActionFunctionArgs) {
  return respond(async () => {
    if (request.method !== "POST") return methodNotAllowed("POST");
    const { sent, fields } = await readFields(request, "purpose", "passkey", "email", "token");
    const { purpose: name = "sign-in", passkey } = sent;
    const purpose = purposes.find((known) => known === name);
    if (purpose && passkey === undefined) return ceremonyOptions(request, purpose, fields);
    if (purpose === "sign-in") return signInBy(request, passkey ?? "");
    if (purpose === "upgrade") return upgrade(request, passkey ?? "");
    return new Response(null, { status: 422 });
  });
}

type AskedPurpose = (typeof purposes)[number];

/** The options of a ceremony. Only this browser can answer the challenge. */
async function ceremonyOptions(request: Request, purpose: AskedPurpose, link: LinkParameters): Promise<Response> {
  if (!offersPasskeys(factsOf(request).origin)) return new Response(null, { status: 404 });
  const begun = await begin(request, purpose, link);
  if (!begun) return new Response(null, { status: 403 });
  if (begun === "invalid_link") return new Response(null, { status: 422 });
  if ("wait" in begun) return new Response(null, tooManyRequests(begun.wait));
  const headers = { "Set-Cookie": ceremonyCookie.write(request, begun.ceremonyToken) };
  return Response.json(begun.options, { headers });
}

/** Begins the ceremony. `null` if this browser may not. @param link proves the mailbox, in place of a session */
async function begin(request: Request, purpose: AskedPurpose, link: LinkParameters) {
  if (purpose === "sign-in") return startPasskeySignIn(visitorOf(request));
  if (purpose === "reset") return startResetPasskey(visitorOf(request), link);
  if (purpose === "register") return startRegistrationPasskey(visitorOf(request), link);
  const owner = await recentlySignedIn(request);
  return owner && startAddingPasskey(owner, purpose);
}

/** Returns Responses: without a page, Remix drops the status of `data`. @param text an answer, as JSON */
async function signInBy(request: Request, text: string) {
  const visitor = visitorOf(request);
  const t = answersIn(visitor.language);
  const done = await signInWithPasskey(visitor, text);
  if (!done) return Response.json({ message: t("login.passkeyFailed") }, { status: 422 });
  if ("wait" in done) {
    const message = t("login.tooMany", { count: minutesIn(done.wait) });
    return Response.json({ message }, tooManyRequests(done.wait));
  }
  return signIn(request, { ...done, way: "passkey", returnTo: returnToOf(request) });
}

/** Adds the passkey that the browser created without a click. The page shows no refusal. */
async function upgrade(request: Request, text: string): Promise<Response> {
  const owner = await recentlySignedIn(request);
  if (!owner) return new Response(null, { status: 403 });
  const outcome = await addPasskey(owner, "upgrade", { text, typedName: "" });
  return new Response(null, { status: outcome === "added" ? 204 : 422 });
}

/** The owner, if the sign-in is recent enough to add a passkey; otherwise `null`. */
async function recentlySignedIn(request: Request) {
  const owner = await getUser(request);
  return owner && !mustSignInAgain(owner) ? owner : null;
}

export function loader() {
  return methodNotAllowed("POST");
}
