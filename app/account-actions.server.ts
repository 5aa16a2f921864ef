import { redirect } from "@remix-run/node";
import { deleteAccount } from "#server/features/account.server";
import { logExternalSignInFailure, providerLabel, startExternalSignIn } from "#server/features/external-sign-in.server";
import { requestPasswordReset } from "#server/features/password-reset.server";
import { unlinkProvider } from "#server/features/provider-link.server";
import { endOtherSessions, endSession, type SignedIn } from "#server/features/sessions.server";
import { clientOf } from "#server/http/request-facts.server";
import { type AccountForm, type ActionContext, done, type Intent, refused, throttled } from "./account-action.server";
import { changeOwnEmail, changeOwnPassword } from "./credential-actions.server";
import { connectCookies, redirectUri } from "./oauth-attempt.server";
import { requireRecentSignIn, signOut } from "./session.server";

async function endOneSession({ request, signedIn, form }: ActionContext) {
  const { sessionId } = form;
  if (sessionId === signedIn.sessionId) return signOut(request);
  const ended = sessionId !== undefined && (await endSession(signedIn.user.id, sessionId));
  return ended ? done("The session was ended.") : refused(form, { sessionId: "This session has already ended." });
}

async function endEveryOtherSession({ signedIn: { user, sessionId } }: ActionContext) {
  await endOtherSessions(user.id, sessionId);
  return done("Every other session was ended.");
}

async function sendPasswordLink({ request, signedIn: { user }, form }: ActionContext) {
  const wait = await requestPasswordReset(user.email, clientOf(request));
  if (wait !== null) return throttled(form, "passwordLink", "Too many links were asked for.", wait);
  return done(`A link to set the password is on its way to ${user.email}.`);
}

async function connect({ request, signedIn, form }: ActionContext) {
  await requireRecentSignIn(request, signedIn);
  if (providerLabel() === null) return refused(form, { provider: "External sign-in is switched off." });
  if (signedIn.user.isLinked) return refused(form, { provider: "It is connected already." });
  try {
    const attempt = await startExternalSignIn(redirectUri(request));
    return redirect(attempt.consentUrl, { headers: connectCookies(request, attempt) });
  } catch (error) {
    logExternalSignInFailure(error);
    return redirect("/dashboard?notice=idp_failed");
  }
}

async function disconnect({ request, signedIn, form }: ActionContext) {
  await requireRecentSignIn(request, signedIn);
  const unlinked = await unlinkProvider({ userId: signedIn.user.id, sessionId: signedIn.sessionId });
  if (unlinked) return done("The external sign-in was disconnected, and every other session was ended.");
  return refused(form, { provider: "Set a password first: this is the only way into your account." });
}

async function removeAccount({ request, signedIn, form }: ActionContext) {
  await requireRecentSignIn(request, signedIn);
  const deleted = await deleteAccount(signedIn.user, form.email);
  if (deleted) return signOut(request, "/account-deleted");
  return refused(form, { email: "Type the email address of this account." });
}

const actions = {
  "end-session": endOneSession,
  "end-other-sessions": endEveryOtherSession,
  "send-password-link": sendPasswordLink,
  "change-password": changeOwnPassword,
  "connect-provider": connect,
  "unlink-provider": disconnect,
  "change-email": changeOwnEmail,
  "delete-account": removeAccount,
} satisfies Record<Intent, unknown>;

/** Does what the owner asked for on the account page. */
export function runAccountAction(request: Request, signedIn: SignedIn, form: AccountForm) {
  return actions[form.intent]({ request, signedIn, form });
}
