import { config } from "./config";
import { mailAccountDeleted } from "./features/account.server";
import { mailEmailChange, mailEmailChanged, mailEmailChanging } from "./features/email-change.server";
import { mailNewSignIn } from "./features/login.server";
import { mailPasswordChangedByOwner } from "./features/password-change.server";
import { mailPasswordChanged, mailPasswordReset } from "./features/password-reset.server";
import { mailProviderLinked, mailProviderUnlinked } from "./features/provider-link.server";
import { purgeExpired } from "./features/purge.server";
import { mailRegistration } from "./features/registration.server";
import type { Language } from "./languages/languages";
import type { JobHandler } from "./queue/jobs";

/** A job that an earlier version enqueued has no language. */
const languageOf = (job: { language?: Language }) => job.language ?? config().defaultLanguage;

export const handleJob: JobHandler = async (job) => {
  switch (job.task) {
    case "mail_password_reset":
      return mailPasswordReset(job.email, languageOf(job));
    case "mail_registration":
      return mailRegistration(job.email, languageOf(job), job.return_to);
    case "mail_password_changed":
      return mailPasswordChanged(job.email, languageOf(job));
    case "mail_password_changed_by_owner":
      return mailPasswordChangedByOwner(job.email, languageOf(job));
    case "mail_email_change":
      return mailEmailChange(job.email, languageOf(job), job);
    case "mail_email_changing":
      return mailEmailChanging(job.email, languageOf(job), job.newEmail);
    case "mail_email_changed":
      return mailEmailChanged(job.email, languageOf(job), job);
    case "mail_provider_linked":
      return mailProviderLinked(job.email, languageOf(job));
    case "mail_provider_unlinked":
      return mailProviderUnlinked(job.email, languageOf(job));
    case "mail_account_deleted":
      return mailAccountDeleted(job.email, languageOf(job));
    case "mail_new_sign_in":
      return mailNewSignIn(job.email, languageOf(job), job.browser, job.at);
    case "purge_expired":
      await purgeExpired();
  }
};
