import { data, redirect } from "@remix-run/node";
import * as z from "zod";
import { config } from "#server/config";
import { deleteAccount } from "#server/features/owner/account-deletion";
import { requestEmailChange } from "#server/features/owner/email-change";
import { changeName } from "#server/features/owner/name-change";
import { type EndedOthers, endOtherSessions, endSession } from "#server/features/owner/own-sessions";
import { addPasskey, keepWayIn, removePasskey } from "#server/features/owner/passkeys";
import { changePassword, removePassword, verifyCurrentPassword } from "#server/features/owner/password-change";
import { unlinkProvider } from "#server/features/owner/provider-link";
import type { Owner } from "#server/features/owner/signed-in";
import { logExternalSignInFailure, startExternalSignIn } from "#server/features/visitor/external-sign-in";
import { passwordProblem } from "#server/features/visitor/password-policy";
import { requestPasswordReset } from "#server/features/visitor/password-reset";
import type { AnswerTexts } from "#server/languages/texts";
import type { Translate } from "#server/languages/translate";
import { linkMinutes, longestName } from "#server/rules";
import { minutesIn, tooManyRequests, unprocessable } from "~/answers/responses";
import { passwordMessage, readFields } from "~/forms/form";
import { lastWayCookie, writeNotice } from "~/visitor/cookies";
import { type AccountNoticeKey, accountWith } from "~/visitor/notices";
import { connectCookies, failConnection, newAttempt } from "~/visitor/oauth-attempt";
import {
  accountLogin,
  endedSession,
  keepSession,
  logOutAndRedirect,
  requireAccount,
  requireRecentSignIn,
  requireUser,
  signOut,
} from "~/visitor/session";
import { textsFor } from "~/visitor/visitor";

const fieldNames = [
  "intent",
  "sessionId",
  "email",
  "currentPassword",
  "password",
  "passwordConfirmation",
  "passkey",
  "name",
  "account",
] as const;

type AccountForm = Record<(typeof fieldNames)[number], string>;

interface ActionContext {
  request: Request;
  t: Translate<AnswerTexts>;
  owner: Owner;
  form: AccountForm;
  /** Without the fields that are missing. */
  sent: Partial<AccountForm>;
}

export interface Refusal {
  intent: string;
  errors: Record<string, string>;
  typed: Record<string, string>;
}

type ActionResult = { done: string } | Refusal;

interface AccountAction {
  /** The action concerns a password: it is refused with `PASSWORDS=off`. */
  password?: true;
  /** The action needs a sign-in of the last 15 minutes: it changes who can sign in, or cannot be undone. */
  recent?: true;
  run(context: ActionContext): Promise<Response | ReturnType<typeof done | typeof refused> | "session_ended">;
}

export type Intent = keyof typeof actions;

/** Runs the action that the form names. If the session has ended meanwhile, redirects to the login page. */
export async function runAccountAction(request: Request) {
  const { fields: form, sent } = await readFields(request, ...fieldNames);
  const owner = await requireUser(request, accountLogin());
  requireAccount(request, owner, sent.account);
  const t = textsFor(request);
  const action = new Map<string, AccountAction>(Object.entries(actions)).get(form.intent);
  if (!action) return refused(form, { intent: t("account.chooseAction") });
  if (action.password && !config().passwords.on) return refused(form, { passwordLink: t("account.passwordsOff") });
  if (action.recent) await requireRecentSignIn(request, owner);
  const answer = await action.run({ request, t, owner, form, sent });
  return answer === "session_ended" ? endedSession(request) : answer;
}

export const actions = {
  "end-session": { run: endOneSession },
  "end-other-sessions": { run: endEveryOtherSession },
  "send-password-link": { password: true, run: sendPasswordLink },
  "change-password": { password: true, recent: true, run: changeOwnPassword },
  "remove-password": { password: true, recent: true, run: removeOwnPassword },
  "connect-provider": { recent: true, run: connect },
  "unlink-provider": { recent: true, run: disconnect },
  "add-passkey": { recent: true, run: addOwnPasskey },
  "remove-passkey": { recent: true, run: removeOwnPasskey },
  "keep-passkey": { run: (context) => keepOwnWayIn(context, context.form.passkey) },
  "keep-provider": { run: (context) => keepOwnWayIn(context, null) },
  "change-name": { run: changeOwnName },
  "change-email": { recent: true, run: changeOwnEmail },
  "delete-account": { recent: true, run: removeAccount },
} satisfies Record<string, AccountAction>;

/** @param credentialId of a passkey; `null` for the provider */
async function keepOwnWayIn({ t, owner, form }: ActionContext, credentialId: string | null) {
  const outcome = await keepWayIn(owner, credentialId);
  if (outcome === "session_ended") return outcome;
  if (outcome === "kept") return done(t("account.kept"));
  if (outcome === "no_such_passkey") return refused(form, { passkey: t("account.passkeyGone") });
  const needsPassword = config().passwords.on && !owner.user.hasPassword;
  return refused(form, { question: t("account.keepRefused") + (needsPassword ? ` ${t("account.noPassword")}` : "") });
}

async function endOneSession({ request, t, owner, form }: ActionContext) {
  const { data: sessionId } = z.uuid().toLowerCase().safeParse(form.sessionId);
  if (sessionId === owner.sessionId) return logOutAndRedirect(request);
  const ended = sessionId === undefined ? 0 : await endSession(owner, sessionId);
  if (ended === null) return "session_ended";
  return ended > 0 ? done(t("account.sessionEnded")) : refused(form, { sessionId: t("account.sessionAlreadyEnded") });
}

async function endEveryOtherSession({ request, owner }: ActionContext) {
  const ended = await endOtherSessions(owner);
  return ended ? sessionsEnded(request, ended, "sessions_ended") : "session_ended";
}

async function sendPasswordLink({ t, owner, form }: ActionContext) {
  const { email } = owner.user;
  const wait = await requestPasswordReset(owner, email);
  if (wait === null) return done(t("account.passwordLinkSent", { email }));
  return throttled(form, { passwordLink: t("account.tooManyLinks", { count: minutesIn(wait) }) }, wait);
}

async function changeOwnPassword({ request, t, owner, form }: ActionContext) {
  const { email, hasPassword } = owner.user;
  if (!hasPassword) return refused(form, { passwordLink: t("account.noPassword") });
  const { currentPassword, password, passwordConfirmation } = form;
  if (currentPassword === "") return refused(form, { currentPassword: t("account.typeCurrentPassword") });

  const verified = await verifyCurrentPassword(owner, currentPassword);
  if (verified && "wait" in verified) {
    const { wait } = verified;
    return throttled(form, { currentPassword: t("account.tooManyWrong", { count: minutesIn(wait) }) }, wait);
  }

  const problem = await passwordProblem({ email, password, passwordConfirmation });
  if (!verified || problem) {
    const wrong = !verified && { currentPassword: t("account.wrongPassword") };
    return refused(form, { ...wrong, ...(problem && passwordMessage(t, problem)) });
  }

  const outcome = await changePassword(owner, verified, password);
  if (outcome === "session_ended") return outcome;
  if (outcome === "changed_meanwhile") return refused(form, { currentPassword: t("account.changedMeanwhile") });
  return sessionsEnded(request, outcome, "password_changed");
}

/** @param wait seconds until the next attempt is allowed */
const throttled = ({ intent }: AccountForm, errors: Record<string, string>, wait: number) =>
  data<ActionResult>({ intent, errors, typed: {} }, tooManyRequests(wait));

const removalRefusals = {
  no_password: "account.noPassword",
  only_way_in: "account.onlyWayIn",
  in_question: "account.answerFirst",
} as const;

async function removeOwnPassword({ request, t, owner, form }: ActionContext) {
  const outcome = await removePassword(owner);
  if (outcome === "session_ended") return outcome;
  if (typeof outcome === "string") return refused(form, { removal: t(removalRefusals[outcome]) });
  return sessionsEnded(request, outcome, "password_removed");
}

async function connect({ request, t, owner, form }: ActionContext) {
  if (!config().identityProvider) return refused(form, { provider: t("account.signInOff") });
  if (owner.user.isLinked) return refused(form, { provider: t("account.alreadyConnected") });
  try {
    const attempt = newAttempt(request, "connect");
    const consentUrl = await startExternalSignIn(attempt);
    return redirect(consentUrl, { headers: connectCookies(request, attempt) });
  } catch (error) {
    return failConnection(request, new Headers(), logExternalSignInFailure(error));
  }
}

async function disconnect({ request, t, owner, form }: ActionContext) {
  const outcome = await unlinkProvider(owner);
  if (outcome === "session_ended") return outcome;
  if (outcome === "only_way_in") return refused(form, { provider: t("account.onlyWayIn") });
  if (outcome === "accounts_come_from_it") return refused(form, { provider: t("account.accountsComeFromIt") });
  return sessionsEnded(request, outcome, "idp_disconnected");
}

async function addOwnPasskey({ t, owner, form }: ActionContext) {
  const outcome = await addPasskey(owner, "add", { text: form.passkey, typedName: form.name });
  if (outcome === "session_ended") return outcome;
  return outcome === "added" ? done(t("account.passkeyAdded")) : refused(form, { passkey: t("account.passkeyFailed") });
}

async function removeOwnPasskey({ request, t, owner, form }: ActionContext) {
  const outcome = await removePasskey(owner, form.passkey);
  if (outcome === "session_ended") return outcome;
  if (outcome === "only_way_in") return refused(form, { passkey: t("account.onlyWayIn") });
  if (outcome === "no_such_passkey") return refused(form, { passkey: t("account.passkeyGone") });
  const answer = sessionsEnded(request, outcome, "sessions_ended");
  const told = { notice: "passkey_removed", passkey: outcome.name } as const;
  if (outcome.kept) answer.headers.append("Set-Cookie", writeNotice(request, told));
  return answer;
}

/** Redirects: the account page's loader would read the request's own cookie, whose session has ended. */
function sessionsEnded(
  request: Request,
  { kept, tokens = 0 }: EndedOthers & { tokens?: number },
  notice: AccountNoticeKey,
): Response {
  const location = `${accountWith(notice)}${tokens > 0 ? "&tokens" : ""}`;
  return kept ? keepSession(request, kept, location) : redirect("/login");
}

async function changeOwnName({ t, owner, form, sent }: ActionContext) {
  const { intent, name } = form;
  if (sent.name === undefined) return refused(form, { name: t("form.missing") });
  const outcome = await changeName(owner, name);
  if (outcome === "session_ended") return outcome;
  if (outcome === "changed") return done(t("account.nameChanged"));
  const errors = { name: t("form.wrongName", { count: longestName }) };
  return unprocessable<ActionResult>({ intent, errors, typed: { name } });
}

const emailRefusals = { no_address: "account.enterEmail", own_address: "account.ownEmail" } as const;

async function changeOwnEmail({ t, owner, form }: ActionContext) {
  const outcome = await requestEmailChange(owner, form.email);
  if (outcome === "session_ended") return outcome;
  if (outcome !== "requested") return refused(form, { email: t(emailRefusals[outcome]) });
  return done(t("account.emailChangeSent", { email: form.email.trim(), count: linkMinutes }));
}

const done = (text: string) => data<ActionResult>({ done: text });

async function removeAccount({ request, t, owner, form }: ActionContext) {
  const outcome = await deleteAccount(owner, owner.user.email, form.email);
  if (outcome === "deleted") return signOut(request, "/account-deleted", lastWayCookie.clear(request));
  return outcome === "session_ended" ? outcome : refused(form, { email: t("account.typeYourEmail") });
}

const refused = ({ intent, email }: AccountForm, errors: Record<string, string>) =>
  unprocessable<ActionResult>({ intent, errors, typed: { email } });
