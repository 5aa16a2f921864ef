import { mailProviderLinked } from "./features/external-sign-in.server";
import { mailPasswordChanged, mailPasswordReset } from "./features/password-reset.server";
import { purgeExpired } from "./features/purge.server";
import { mailRegistration } from "./features/registration.server";
import type { JobHandler } from "./queue/jobs";

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
