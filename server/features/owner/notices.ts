import { config } from "../../config";
import type { Language } from "../../languages/languages";
import { mailTextsIn } from "../../languages/texts";
import { listIn, momentIn } from "../../languages/translate";
import { type Part, page, resetHere, write } from "../../mail/messages";
import type { Message } from "../../mail-services/service";
import { providerLabel } from "../../provider/label";
import type { NoticeJob } from "../../queue/jobs";
import { offersRegistration } from "../visitor/registration";

type Texts = ReturnType<typeof mailTextsIn>;

interface Context {
  language: Language;
  provider: string;
}

/** The mail that tells an owner of a change, because somebody else may have made it. It holds no token. */
export function noticeMail(job: NoticeJob, language: Language): Message {
  const t = mailTextsIn(language);
  const provider = providerLabel(language) ?? t("common.anotherService");
  const subject = noticeSubjects[job.task](t, { provider });
  const [what, then] = notices[job.task](t, job, { language, provider });
  const hasAccount = job.task !== "mail_account_deleted";
  const steps = typeof then === "string" ? resetThenAccount(t, then) : then;
  const byOperator = job.task === "mail_email_set";
  const parts = config().passwords.on || byOperator ? steps : secureProvider(t, provider, hasAccount);
  return write(language, subject, [...what.map((say) => ({ say })), ...parts]);
}

export type Subject = (t: Texts, values: { provider: string }) => string;

/** The subjects, which the account's history shows, too. */
export const noticeSubjects: Record<NoticeJob["task"], Subject> = {
  mail_email_changing: (t) => t("emailChanging.subject"),
  mail_email_changed: (t) => t("emailChanged.subject"),
  mail_password_changed: (t) => t("passwordChanged.subject"),
  mail_email_set: (t) => t("emailChanged.subject"),
  mail_password_removed: (t) => t("passwordRemoved.subject"),
  mail_password_replaced: (t) => t("passwordReplaced.subject"),
  mail_password_changed_by_owner: (t) => t("passwordChanged.subject"),
  mail_provider_linked: (t, { provider }) => t("providerLinked.subject", { provider }),
  mail_provider_unlinked: (t, { provider }) => t("providerUnlinked.subject", { provider }),
  mail_passkey_added: (t) => t("passkey.added"),
  mail_passkey_removed: (t) => t("passkey.removed"),
  mail_token_created: (t) => t("tokenMade.subject"),
  mail_new_sign_in: (t) => t("newSignIn.subject"),
  mail_account_deleted: (t) => t("accountDeleted.subject"),
};

/** `then`: what owners must do, in this order, if they did not make the change. A text is for `resetThenAccount`. */
type Notice = [what: string[], then: string | Part[]];

const notices: Record<NoticeJob["task"], (t: Texts, job: NoticeJob, context: Context) => Notice> = {
  mail_password_changed: (t, job, context) => [[t("passwordChanged.what")], resetThenAnswer(t, job, context)],
  // A reset removes no passkey.
  mail_password_replaced: (t, job, context) => [
    [t("passwordReplaced.what"), ...questions(t, job, context)],
    t("providerLinked.act"),
  ],
  mail_password_changed_by_owner: (t) => [[t("passwordChanged.onPage")], t("passwordChanged.act")],
  mail_password_removed: (t) => [[t("passwordRemoved.what")], t("passwordChanged.act")],
  mail_email_changing: (t, { newEmail = "" }) => [[t("emailChanging.what", { newEmail })], t("emailChanging.act")],
  // To the old address: a reset mail goes to the new one now, so a reset does not help. To the new one: who confirms
  // somebody else's change by mistake gets that account, and with it the other person's external sign-in.
  mail_email_changed: (t, job, context) => {
    const { email, oldEmail = "", newEmail = "" } = job;
    const what = [t("emailChanged.what", { oldEmail, newEmail }), ...questions(t, job, context)];
    if (email === newEmail) return [what, t("emailChanged.secureMailbox")];
    const back = { say: t("emailChanged.changeBack", { newEmail }) };
    return [what, [back, accountHere(t), lost(t)]];
  },
  // The mail to the old address does not name the new one: a thief may read the old mailbox.
  mail_email_set: (t, job, context) => {
    const { email, newEmail = "" } = job;
    const { brand, passwords } = config();
    const address = brand.supportEmail;
    const notAsked = { say: address ? t("emailSet.notAskedTo", { address }) : t("emailSet.notAsked") };
    if (email !== newEmail) return [[t("emailSet.what")], [notAsked]];
    const what = [t("emailSet.given", { newEmail }), ...(passwords.on ? [t("emailSet.logIn")] : [])];
    return [what, [notAsked, ...answerHere(t, job, context)]];
  },
  mail_passkey_added: (t, job, context) => [
    [t("passkey.addedWhat"), ...whichPasskey(t, job, context), ...questions(t, job, context)],
    t("providerLinked.act"),
  ],
  mail_passkey_removed: (t, job, context) => [
    [t("passkey.removedWhat"), ...whichPasskey(t, job, context)],
    t("providerUnlinked.act"),
  ],
  mail_token_created: (t, { origin = "", expiresAt = "" }, { language }) => [
    [t("tokenMade.what", { origin, moment: momentIn(language, new Date(expiresAt)) })],
    t("tokenMade.act"),
  ],
  mail_new_sign_in: (t, { by, browser = "", at = "" }, { language }) => [
    [
      t(by === "passkey" ? "newSignIn.leadPasskey" : "newSignIn.lead"),
      t("newSignIn.what", { browser, moment: momentIn(language, new Date(at)) }),
    ],
    t("newSignIn.act"),
  ],
  mail_provider_linked: (t, job, context) => [
    [t("providerLinked.what", context), ...questions(t, job, context)],
    resetThenAccount(t, t("providerLinked.act"), t("providerLinked.remove", context)),
  ],
  mail_provider_unlinked: (t, _job, context) => [
    [t("providerUnlinked.what", context)],
    resetThenAccount(t, t("providerUnlinked.act"), t("providerUnlinked.again", context)),
  ],
  mail_account_deleted: (t) => {
    const again = [{ say: t("accountDeleted.again") }, { label: t("accountDeleted.button"), url: page("/register") }];
    return [[t("accountDeleted.what")], [{ say: t("accountDeleted.act") }, ...(offersRegistration() ? again : [])]];
  },
};

/** Reset the password, then answer the questions of the account page. */
const resetThenAnswer = (t: Texts, job: NoticeJob, context: Context): Part[] => [
  { say: t("passwordChanged.act") },
  resetHere(t),
  ...answerHere(t, job, context),
];

const answerHere = (t: Texts, job: NoticeJob, context: Context): Part[] =>
  questions(t, job, context).flatMap((say) => [{ say }, accountHere(t)]);

/** A passkey's name, if a mail may show it: a thief may have chosen it, and mail clients make links of some texts. */
const harmlessName = /^[\p{L}\p{M}\p{N} '’()_-]{1,32}$/u;

/** Names the ways to sign in about which the account page asks. */
function questions(t: Texts, { questioned }: NoticeJob, { language, provider }: Context): string[] {
  if (!questioned) return [];
  const passkeys = questioned.passkeys.map((name) =>
    harmlessName.test(name) ? t("questioned.passkey", { name }) : t("questioned.unnamed"),
  );
  const ways = [...passkeys, ...(questioned.provider ? [provider] : [])];
  return ways.length > 0 ? [t("questioned.ways", { ways: listIn(language, ways) })] : [];
}

/** Which passkey, in which browser, and when. A job of an earlier release does not say it. */
function whichPasskey(t: Texts, { passkey = "", browser = "", at }: NoticeJob, { language }: Context): string[] {
  if (at === undefined) return [];
  const moment = momentIn(language, new Date(at));
  if (!harmlessName.test(passkey)) return [t("newSignIn.what", { browser, moment })];
  return [t("passkey.which", { name: passkey, browser, moment })];
}

/** Reset the password, which ends every session, then open the account page. @param why to open it */
const resetThenAccount = (t: Texts, act: string, why = t("newSignIn.check")): Part[] => [
  { say: act },
  resetHere(t),
  { say: why },
  accountHere(t),
];

/** With `PASSWORDS=off`, instead of a reset: the provider first, because it could start a new session at any time. */
function secureProvider(t: Texts, provider: string, hasAccount: boolean): Part[] {
  const secure = { say: t("noPasswords.secure", { provider }) };
  if (!hasAccount) return [secure];
  return [secure, { say: t("noPasswords.undo") }, accountHere(t), lost(t)];
}

const accountHere = (t: Texts): Part => ({ label: t("common.yourAccount"), url: page("/dashboard") });

/** Whom to ask for help. */
function lost(t: Texts): Part {
  const { supportEmail: address } = config().brand;
  return { say: address ? t("emailChanged.lostTo", { address }) : t("emailChanged.lost") };
}
