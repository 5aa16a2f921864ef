import { redirect } from "@remix-run/node";
import { deleteAccount } from "#server/features/account.server";
import {
  isExternalSignInOn,
  logExternalSignInFailure,
  startExternalSignIn,
} from "#server/features/external-sign-in.server";
import { requestPasswordReset } from "#server/features/password-reset.server";
import { unlinkProvider } from "#server/features/provider-link.server";
import { endOtherSessions, endSession, type SignedIn } from "#server/features/sessions.server";
import { clientOf } from "#server/http/request-facts.server";
import { languageOf, textsFor } from "~/request/language.server";
import { connectCookies, redirectUri } from "~/request/oauth-attempt.server";
import { minutesIn } from "~/request/responses";
import { requireRecentSignIn, signOut } from "~/request/session.server";
import {
  type AccountForm,
  type ActionContext,
  done,
  type Intent,
  refused,
  sessionEnded,
  throttled,
} from "./answers.server";
import { changeOwnEmail, changeOwnPassword } from "./credential-actions.server";

async function endOneSession({ request, t, signedIn, form }: ActionContext) {
  const { sessionId } = form;
  if (sessionId === signedIn.sessionId) return signOut(request);
  const owner = { userId: signedIn.user.id, sessionId: signedIn.sessionId };
  const ended = sessionId === undefined ? 0 : await endSession(owner, sessionId);
  if (ended === null) return sessionEnded();
  return ended > 0 ? done(t("account.sessionEnded")) : refused(form, { sessionId: t("account.sessionAlreadyEnded") });
}

async function endEveryOtherSession({ t, signedIn: { user, sessionId } }: ActionContext) {
  const ended = await endOtherSessions({ userId: user.id, sessionId });
  if (ended === null) return sessionEnded();
  return done(t("account.otherSessionsEnded"));
}

async function sendPasswordLink({ request, t, signedIn: { user }, form }: ActionContext) {
  const wait = await requestPasswordReset(user.email, clientOf(request), languageOf(request));
  if (wait === null) return done(t("account.passwordLinkSent", { email: user.email }));
  return throttled(form, { passwordLink: t("account.tooManyLinks", { count: minutesIn(wait) }) }, wait);
}

async function connect({ request, t, signedIn, form }: ActionContext) {
  await requireRecentSignIn(request, signedIn);
  if (!isExternalSignInOn()) return refused(form, { provider: t("account.signInOff") });
  if (signedIn.user.isLinked) return refused(form, { provider: t("account.alreadyConnected") });
  try {
    const attempt = await startExternalSignIn(redirectUri(request));
    return redirect(attempt.consentUrl, { headers: connectCookies(request, attempt) });
  } catch (error) {
    logExternalSignInFailure(error);
    return redirect("/dashboard?notice=idp_failed");
  }
}

async function disconnect({ request, t, signedIn, form }: ActionContext) {
  await requireRecentSignIn(request, signedIn);
  const { user, sessionId } = signedIn;
  const outcome = await unlinkProvider({ userId: user.id, sessionId }, languageOf(request));
  if (outcome === "session_ended") return sessionEnded();
  if (outcome === "unlinked") return done(t("account.disconnected"));
  return refused(form, { provider: t("account.onlyWayIn") });
}

async function removeAccount({ request, t, signedIn, form }: ActionContext) {
  await requireRecentSignIn(request, signedIn);
  const outcome = await deleteAccount(signedIn.user, signedIn.sessionId, form.email, languageOf(request));
  if (outcome === "session_ended") return sessionEnded();
  if (outcome === "deleted") return signOut(request, "/account-deleted");
  return refused(form, { email: t("account.typeYourEmail") });
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
  return actions[form.intent]({ request, t: textsFor(request), signedIn, form });
}
