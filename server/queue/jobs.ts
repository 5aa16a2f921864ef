import type { Language } from "../languages/languages";

/** A job's data: what to do, for which address, and the language of its mail. Never a token or a password. */
export type Job =
  | {
      task:
        | "mail_password_reset"
        | "mail_registration"
        | "mail_password_changed"
        | "mail_provider_linked"
        | "mail_provider_unlinked"
        | "mail_account_deleted";
      email: string;
      language: Language;
    }
  | { task: "mail_new_sign_in"; email: string; language: Language; browser: string; at: string }
  | { task: "purge_expired" };

/** The second part of a job: its call to the mail service. */
export type MailCall = () => Promise<void>;

/** The first part of a job: its work in the database. Resolves with the second part, if there is one. */
export type JobHandler = (job: Job) => Promise<MailCall | undefined>;
