/** A job's data: what to do, and for which address. Never a token or a password. */
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
    }
  | { task: "mail_new_sign_in"; email: string; browser: string; at: string }
  | { task: "purge_expired" };

export type JobHandler = (job: Job) => Promise<void>;
