import type { Language } from "../languages/languages";

/** An owner who asked for another address. */
export interface AskedEmailChange {
  userId: string;
  sessionId: string;
  currentEmail: string;
}

/** A job's data: what to do, for which address, and the language of its mail. Never a token or a password. */
export type Job =
  | {
      task:
        | "mail_password_reset"
        | "mail_password_changed"
        | "mail_password_changed_by_owner"
        | "mail_provider_linked"
        | "mail_provider_unlinked"
        | "mail_account_deleted";
      email: string;
      language: Language;
    }
  /** `return_to` is where the sign-in ends. */
  | { task: "mail_registration"; email: string; language: Language; return_to?: string }
  | { task: "mail_new_sign_in"; email: string; language: Language; browser: string; at: string }
  | ({ task: "mail_email_change"; email: string; language: Language } & AskedEmailChange)
  | { task: "mail_email_changing"; email: string; language: Language; newEmail: string }
  | { task: "mail_email_changed"; email: string; language: Language; oldEmail: string; newEmail: string }
  | { task: "purge_expired" };

/** The second part of a job: its call to the mail service. */
export type MailCall = () => Promise<void>;

/** The first part of a job: its work in the database. Resolves with the second part, if there is one. */
export type JobHandler = (job: Job) => Promise<MailCall | undefined>;
