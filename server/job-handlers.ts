import { mailProviderLinked } from "./external-sign-in.server";
import type { JobHandler } from "./jobs";
import { mailPasswordChanged, mailPasswordReset } from "./password-reset.server";
import { purgeExpired } from "./purge";
import { mailRegistration } from "./registration.server";

export const handleJob: JobHandler = (job) => {
  switch (job.task) {
    case "mail_password_reset":
      return mailPasswordReset(job.email);
    case "mail_registration":
      return mailRegistration(job.email);
    case "mail_password_changed":
      return mailPasswordChanged(job.email);
    case "mail_provider_linked":
      return mailProviderLinked(job.email);
    case "purge_expired":
      return purgeExpired();
  }
};
