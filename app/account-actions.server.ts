import { data, redirect } from "@remix-run/node";
import * as z from "zod";
import { deleteAccount } from "#server/features/account.server";
import { logExternalSignInFailure, providerLabel, startExternalSignIn } from "#server/features/external-sign-in.server";
import { requestPasswordReset } from "#server/features/password-reset.server";
import { unlinkProvider } from "#server/features/provider-link.server";
import { endOtherSessions, endSession, type SignedIn } from "#server/features/sessions.server";
import { clientOf } from "#server/http/request-facts.server";
import type { AnswerTexts } from "#server/languages/texts";
import type { Translate } from "#server/languages/translate";
import { formProblem } from "./form.server";
import { languageOf, textsFor } from "./language.server";
import { connectCookies, redirectUri } from "./oauth-attempt.server";
import { minutesIn, unprocessable } from "./responses";
import { requireRecentSignIn, signOut } from "./session.server";

interface ActionContext {
  request: Request;
  t: Translate<AnswerTexts>;
  signedIn: SignedIn;
  fields: { sessionId: string | undefined; email: string };
}

/** What the account page says after an action. */
type ActionResult = { done: string } | { errors: Record<string, string>; typed: Record<string, string> };

const refused = (errors: Record<string, string>, typed: Record<string, string> = {}) =>
  unprocessable<ActionResult>({ errors, typed });

const done = (text: string) => data<ActionResult>({ done: text });

async function endOneSession({ request, t, signedIn, fields: { sessionId } }: ActionContext) {
  if (sessionId === signedIn.sessionId) return signOut(request);
  const ended = sessionId !== undefined && (await endSession(signedIn.user.id, sessionId));
  return ended ? done(t("account.sessionEnded")) : refused({ sessionId: t("account.sessionAlreadyEnded") });
}

async function endEveryOtherSession({ t, signedIn: { user, sessionId } }: ActionContext) {
  await endOtherSessions(user.id, sessionId);
  return done(t("account.otherSessionsEnded"));
}

async function sendPasswordLink({ request, t, signedIn: { user } }: ActionContext) {
  const wait = await requestPasswordReset(user.email, clientOf(request), languageOf(request));
  if (wait === null) return done(t("account.passwordLinkSent", { email: user.email }));
  const errors = { passwordLink: t("account.tooManyLinks", { count: minutesIn(wait) }) };
  return data<ActionResult>({ errors, typed: {} }, { status: 429, headers: { "Retry-After": String(wait) } });
}

async function connect({ request, t, signedIn }: ActionContext) {
  await requireRecentSignIn(request, signedIn);
  if (providerLabel() === null) return refused({ provider: t("account.signInOff") });
  if (signedIn.user.isLinked) return refused({ provider: t("account.alreadyConnected") });
  try {
    const attempt = await startExternalSignIn(redirectUri(request));
    return redirect(attempt.consentUrl, { headers: connectCookies(request, attempt) });
  } catch (error) {
    logExternalSignInFailure(error);
    return redirect("/dashboard?notice=idp_failed");
  }
}

async function disconnect({ request, t, signedIn }: ActionContext) {
  await requireRecentSignIn(request, signedIn);
  const { user, sessionId } = signedIn;
  const unlinked = await unlinkProvider(user.id, sessionId, languageOf(request));
  if (unlinked) return done(t("account.disconnected"));
  return refused({ provider: t("account.onlyWayIn") });
}

async function removeAccount({ request, t, signedIn, fields }: ActionContext) {
  await requireRecentSignIn(request, signedIn);
  const deleted = await deleteAccount(signedIn.user, fields.email, languageOf(request));
  if (deleted) return signOut(request, "/account-deleted");
  return refused({ email: t("account.typeYourEmail") }, { email: fields.email });
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
    intent: z.enum(Object.keys(actions) as (keyof typeof actions)[], formProblem("account.chooseAction")),
    sessionId: z.uuid().optional().catch(undefined),
    email: z.string().default(""),
  });

export type AccountForm = z.infer<ReturnType<typeof accountForm>>;

/** Does what the owner asked for on the account page. */
export function runAccountAction(request: Request, signedIn: SignedIn, { intent, sessionId, email }: AccountForm) {
  return actions[intent]({ request, t: textsFor(request), signedIn, fields: { sessionId, email } });
}
