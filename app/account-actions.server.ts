import { data, redirect } from "@remix-run/node";
import * as z from "zod";
import { deleteAccount } from "#server/features/account.server";
import { logExternalSignInFailure, providerLabel, startExternalSignIn } from "#server/features/external-sign-in.server";
import { requestPasswordReset } from "#server/features/password-reset.server";
import { unlinkProvider } from "#server/features/provider-link.server";
import { endOtherSessions, endSession, type SignedIn } from "#server/features/sessions.server";
import { clientOf } from "#server/http/request-facts.server";
import { connectCookies, redirectUri } from "./oauth-attempt.server";
import { minutesFrom, unprocessable } from "./responses";
import { requireRecentSignIn, signOut } from "./session.server";

interface ActionContext {
  request: Request;
  signedIn: SignedIn;
  fields: { sessionId: string | undefined; email: string };
}

/** What the account page says after an action. */
type ActionResult = { done: string } | { errors: Record<string, string>; typed: Record<string, string> };

const refused = (errors: Record<string, string>, typed: Record<string, string> = {}) =>
  unprocessable<ActionResult>({ errors, typed });

const done = (text: string) => data<ActionResult>({ done: text });

async function endOneSession({ request, signedIn, fields: { sessionId } }: ActionContext) {
  if (sessionId === signedIn.sessionId) return signOut(request);
  const ended = sessionId !== undefined && (await endSession(signedIn.user.id, sessionId));
  return ended ? done("The session was ended.") : refused({ sessionId: "This session has already ended." });
}

async function endEveryOtherSession({ signedIn: { user, sessionId } }: ActionContext) {
  await endOtherSessions(user.id, sessionId);
  return done("Every other session was ended.");
}

async function sendPasswordLink({ request, signedIn: { user } }: ActionContext) {
  const wait = await requestPasswordReset(user.email, clientOf(request));
  if (wait === null) return done(`A link to set the password is on its way to ${user.email}.`);
  const errors = { passwordLink: `Too many links were asked for. Try again in ${minutesFrom(wait)}.` };
  return data<ActionResult>({ errors, typed: {} }, { status: 429, headers: { "Retry-After": String(wait) } });
}

async function connect({ request, signedIn }: ActionContext) {
  await requireRecentSignIn(request, signedIn);
  if (providerLabel() === null) return refused({ provider: "External sign-in is switched off." });
  if (signedIn.user.isLinked) return refused({ provider: "It is connected already." });
  try {
    const attempt = await startExternalSignIn(redirectUri(request));
    return redirect(attempt.consentUrl, { headers: connectCookies(request, attempt) });
  } catch (error) {
    logExternalSignInFailure(error);
    return redirect("/dashboard?notice=idp_failed");
  }
}

async function disconnect({ request, signedIn }: ActionContext) {
  await requireRecentSignIn(request, signedIn);
  const unlinked = await unlinkProvider(signedIn.user.id, signedIn.sessionId);
  if (unlinked) return done("The external sign-in was disconnected, and every other session was ended.");
  return refused({ provider: "Set a password first: this is the only way into your account." });
}

async function removeAccount({ request, signedIn, fields }: ActionContext) {
  await requireRecentSignIn(request, signedIn);
  const deleted = await deleteAccount(signedIn.user, fields.email);
  if (deleted) return signOut(request, "/account-deleted");
  return refused({ email: "Type the email address of this account." }, { email: fields.email });
}

const actions = {
  "end-session": endOneSession,
  "end-other-sessions": endEveryOtherSession,
  "send-password-link": sendPasswordLink,
  "connect-provider": connect,
  "unlink-provider": disconnect,
  "delete-account": removeAccount,
};

/** The form of an account action: its name and the fields that some of them have. */
export const accountForm = () =>
  z.object({
    intent: z.enum(Object.keys(actions) as (keyof typeof actions)[], "Choose an action."),
    sessionId: z.uuid().optional().catch(undefined),
    email: z.string().default(""),
  });

export type AccountForm = z.infer<ReturnType<typeof accountForm>>;

/** Does what the owner asked for on the account page. */
export function runAccountAction(request: Request, signedIn: SignedIn, { intent, sessionId, email }: AccountForm) {
  return actions[intent]({ request, signedIn, fields: { sessionId, email } });
}
