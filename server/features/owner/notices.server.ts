import { config } from "../../config";
import type { Language } from "../../languages/languages";
import { mailTextsIn } from "../../languages/texts";
import { momentIn } from "../../languages/translate";
import type { Message } from "../../mail/mail";
import { sendMail } from "../../mail/mailer";
import { type Part, page, write } from "../../mail/messages";
import type { JobData, MailCall, NoticeTask } from "../../queue/jobs";
import { providerLabel } from "../visitor/external-sign-in.server";

type Texts = ReturnType<typeof mailTextsIn>;

const resetHere = (t: Texts): Part => ({ label: t("common.resetPassword"), url: page("/forgot-password") });
const accountHere = (t: Texts): Part => ({ label: t("common.yourAccount"), url: page("/dashboard") });

/** Reset the password, which ends every session, then open the account page. @param why to open it */
const resetThenAccount = (t: Texts, why = t("newSignIn.check")): Part[] => [resetHere(t), { say: why }, accountHere(t)];

const passkeysLeft = (t: Texts, count = 0) => (count > 0 ? [t("reset.passkeys", { count })] : []);

interface Context {
  language: Language;
  provider: string;
}

type Notice = [subject: string, sentences: string[], then: Part[]];

/** What each notice says, and what to do when it was not you, in an order that works. */
const notices: { [Task in NoticeTask]: (t: Texts, job: JobData[Task], context: Context) => Notice } = {
  mail_password_changed: (t, { passkeys }) => [
    t("passwordChanged.subject"),
    [t("passwordChanged.what"), t("passwordChanged.act")],
    [resetHere(t), ...passkeysLeft(t, passkeys).flatMap((say) => [{ say }, accountHere(t)])],
  ],
  mail_password_changed_by_owner: (t) => [
    t("passwordChanged.subject"),
    [t("passwordChanged.onPage"), t("passwordChanged.act")],
    resetThenAccount(t),
  ],
  mail_email_changing: (t, { newEmail }) => [
    t("emailChanging.subject"),
    [t("emailChanging.what", { newEmail }), t("emailChanging.act")],
    resetThenAccount(t),
  ],
  // To the old address: a reset mail goes to the new one now, so a reset is no way back. To the new one: who confirms
  // somebody else's change by mistake gets that account, and with it the other person's external sign-in.
  mail_email_changed: (t, { email, oldEmail, newEmail, passkeys }) => {
    const what = [t("emailChanged.what", { oldEmail, newEmail }), ...passkeysLeft(t, passkeys)];
    if (email === newEmail)
      return [t("emailChanged.subject"), [...what, t("emailChanged.secureMailbox")], resetThenAccount(t)];
    const back = t("emailChanged.changeBack", { newEmail });
    return [t("emailChanged.subject"), [...what, back], [accountHere(t), { say: t("emailChanged.lost") }]];
  },
  mail_passkey_added: (t) => [
    t("passkey.added"),
    [t("passkey.addedWhat"), t("providerLinked.act")],
    resetThenAccount(t),
  ],
  mail_passkey_removed: (t) => [
    t("passkey.removed"),
    [t("passkey.removedWhat"), t("providerUnlinked.act")],
    resetThenAccount(t),
  ],
  mail_new_sign_in: (t, { by, browser, at }, { language }) => [
    t("newSignIn.subject"),
    [
      t(by === "passkey" ? "newSignIn.leadPasskey" : "newSignIn.lead"),
      t("newSignIn.what", { browser, moment: momentIn(language, new Date(at)) }),
      t("newSignIn.act"),
    ],
    resetThenAccount(t),
  ],
  mail_provider_linked: (t, { passkeys }, { provider }) => [
    t("providerLinked.subject", { provider }),
    [t("providerLinked.what", { provider }), ...passkeysLeft(t, passkeys), t("providerLinked.act")],
    resetThenAccount(t, t("providerLinked.remove", { provider })),
  ],
  mail_provider_unlinked: (t, _job, { provider }) => [
    t("providerUnlinked.subject", { provider }),
    [t("providerUnlinked.what", { provider }), t("providerUnlinked.act")],
    resetThenAccount(t, t("providerUnlinked.again", { provider })),
  ],
  mail_account_deleted: (t) => {
    const again = { label: t("accountDeleted.button"), url: page("/register") };
    return [
      t("accountDeleted.subject"),
      [t("accountDeleted.what"), t("accountDeleted.act")],
      config().registration.mode === "closed" ? [] : [{ say: t("accountDeleted.again") }, again],
    ];
  },
};

type NoticeJob = { [Task in NoticeTask]: { task: Task } & JobData[Task] }[NoticeTask];

/** The mail that tells an owner of a change, because somebody else may have made it. It holds no token. */
export function noticeMail(job: NoticeJob, language: Language): Message {
  const t = mailTextsIn(language);
  const describe = notices[job.task] as (t: Texts, job: NoticeJob, context: Context) => Notice;
  const provider = providerLabel(language) ?? t("common.anotherService");
  const [subject, sentences, then] = describe(t, job, { language, provider });
  return write(language, subject, [...sentences.map((say) => ({ say })), ...then]);
}

export async function mailNotice(job: NoticeJob, language: Language): Promise<MailCall> {
  return () => sendMail(job.email, noticeMail(job, language));
}
