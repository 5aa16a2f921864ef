import { config } from "./config";
import { purgeExpired } from "./features/operator/purge";
import { mailEmailChange } from "./features/owner/email-change";
import { mailNotice } from "./features/owner/notices";
import { mailInvitation, mailPasswordReset } from "./features/visitor/password-reset";
import { mailRegistration } from "./features/visitor/registration";
import type { Language } from "./languages/languages";
import { logEvent } from "./log";
import type { Job, JobHandler } from "./queue/jobs";

/** A job from an earlier version may have no language. */
const languageOf = (job: { language?: Language }) => job.language ?? config().defaultLanguage;

export const handleJob: JobHandler<Job> = async (job, enqueued) => {
  switch (job.task) {
    case "mail_password_reset":
      return mailPasswordReset(job.email, languageOf(job));
    case "mail_invitation":
      return mailInvitation(job.email, languageOf(job));
    case "mail_registration":
      return mailRegistration(job.email, languageOf(job), job.return_to);
    case "mail_email_change":
      return mailEmailChange(job.email, languageOf(job), job);
    case "log_event": {
      const told = { ...job.event, actor: "cli", at: enqueued.at.toISOString() };
      return void logEvent(told);
    }
    case "purge_expired":
      return void (await purgeExpired());
    default:
      return mailNotice(job, languageOf(job));
  }
};
