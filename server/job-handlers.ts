import { mailAccountDeleted } from "./features/account.server";
import { mailEmailChange, mailEmailChanged, mailEmailChanging } from "./features/email-change.server";
import { mailNewSignIn } from "./features/login.server";
import { mailPasswordChangedByOwner } from "./features/password-change.server";
import { mailPasswordChanged, mailPasswordReset } from "./features/password-reset.server";
import { mailProviderLinked, mailProviderUnlinked } from "./features/provider-link.server";
import { purgeExpired } from "./features/purge.server";
import { mailRegistration } from "./features/registration.server";
import type { JobHandler } from "./queue/jobs";

export const handleJob: JobHandler = async (job) => {
  switch (job.task) {
    case "mail_password_reset":
      return mailPasswordReset(job.email);
    case "mail_registration":
      return mailRegistration(job.email);
    case "mail_password_changed":
      return mailPasswordChanged(job.email);
    case "mail_password_changed_by_owner":
      return mailPasswordChangedByOwner(job.email);
    case "mail_email_change":
      return mailEmailChange(job.email, job);
    case "mail_email_changing":
      return mailEmailChanging(job.email, job.newEmail);
    case "mail_email_changed":
      return mailEmailChanged(job.email, job);
    case "mail_provider_linked":
      return mailProviderLinked(job.email);
    case "mail_provider_unlinked":
      return mailProviderUnlinked(job.email);
    case "mail_account_deleted":
      return mailAccountDeleted(job.email);
    case "mail_new_sign_in":
      return mailNewSignIn(job.email, job.browser, job.at);
    case "purge_expired":
      await purgeExpired();
  }
};
