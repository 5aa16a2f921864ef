import { recordMail } from "./accounts/users/history";
import { config } from "./config";
import { MailRefused } from "./errors";
import { mailInvited } from "./features/operator/invitations";
import { purgeExpired } from "./features/operator/purge";
import { mailEmailChange } from "./features/owner/email-change";
import { noticeMail } from "./features/owner/notices";
import { mailNewAccount, mailPasswordReset } from "./features/visitor/password-reset";
import { mailRegistration } from "./features/visitor/registration";
import type { Language } from "./languages/languages";
import { logEvent, logUnexpected } from "./log";
import { sendMail } from "./mail/mailer";
import { type Job, type JobHandler, type MailCall, mailKind } from "./queue/jobs";

export const handleJob: JobHandler<Job> = async (job, enqueued) => {
  switch (job.task) {
    case "log_event": {
      const told = { ...job.event, actor: "cli", at: enqueued.at.toISOString() };
      return void logEvent(told);
    }
    case "purge_expired":
      return void (await purgeExpired());
    default:
      return recorded(job, enqueued.id, await mail(job));
  }
};

type MailJob = Extract<Job, { email: string }>;

/**
 * Writes into the history what became of a mail, and ends its job unless the mail was refused: by one statement, also
 * where no mail was sent, because a statement for known addresses alone would show in time. If it fails, the mail is
 * not sent again.
 */
const recorded =
  ({ email, task }: MailJob, id: string, call: MailCall) =>
  async () => {
    const outcome = await call().catch((error: unknown) => {
      if (error instanceof MailRefused) return error;
      throw error;
    });
    const refusal = outcome instanceof MailRefused ? outcome : null;
    const type = refusal ? "mail.refused" : outcome === "sent" ? "mail.sent" : null;
    const isUndeliverable = refusal?.reason === "recipient_refused";
    const jobId = refusal ? null : id;
    const recording = recordMail(email, { type, detail: mailKind(task), isUndeliverable, jobId });
    const end = await recording.then(() => "ended", logUnexpected);
    if (refusal) throw refusal;
    return end;
  };

async function mail(job: MailJob): Promise<MailCall> {
  const { language = config().defaultLanguage }: { language?: Language } = job; // an earlier version stored none
  switch (job.task) {
    case "mail_password_reset":
      return mailPasswordReset(job.email, language);
    case "mail_invitation":
      return mailNewAccount(job.email, language);
    case "mail_invited":
      return mailInvited(job.email, language, job.invitedAt);
    case "mail_registration":
      return mailRegistration(job.email, language, job.return_to);
    case "mail_email_change":
      return mailEmailChange(job.email, language, job);
    default:
      return () => sendMail(job.email, noticeMail(job, language));
  }
}
