import type { AuthenticationEvent } from "../events";
import type { Language } from "../languages/languages";

export interface AskedEmailChange {
  userId: string;
  sessionId: string;
  currentEmail: string;
}

interface MailJob {
  email: string;
  language: Language;
}

export type AccountChange =
  | "user.created"
  | "user.email_changed"
  | "user.provider_linked"
  | "user.provider_unlinked"
  | "user.password_changed"
  | "user.groups_changed"
  | "user.suspended"
  | "user.restored"
  | "user.deleted";

/** The user as `/auth/session` has it, after the change. */
export interface ChangedUser {
  id: string;
  email: string;
  name: string | null;
  pictureUrl: string | null;
  groups: string[];
  /** Only for `user.email_changed`. */
  previousEmail?: string;
}

/** The data of each job. Never a token or a password. */
export interface JobData {
  mail_password_reset: MailJob;
  mail_invitation: MailJob;
  mail_registration: MailJob & { return_to?: string };
  mail_email_change: MailJob & AskedEmailChange;
  mail_email_changing: MailJob & { newEmail: string };
  mail_email_changed: MailJob & { oldEmail: string; newEmail: string; passkeys?: number };
  mail_password_changed: MailJob & { passkeys?: number };
  mail_password_changed_by_owner: MailJob;
  mail_provider_linked: MailJob & { passkeys?: number };
  mail_provider_unlinked: MailJob;
  mail_passkey_added: MailJob;
  mail_passkey_removed: MailJob;
  mail_new_sign_in: MailJob & { by?: "password" | "passkey"; browser: string; at: string };
  mail_account_deleted: MailJob;
  purge_expired: object;
  /** An event of a command. */
  log_event: { event: AuthenticationEvent };
}

export type Job = { [Task in keyof JobData]: { task: Task } & JobData[Task] }[keyof JobData];

export type NoticeTask = Exclude<
  Extract<keyof JobData, `mail_${string}`>,
  "mail_password_reset" | "mail_invitation" | "mail_registration" | "mail_email_change"
>;

export interface WebhookJob {
  task: "webhook";
  type: AccountChange;
  data: ChangedUser;
}

/** The second part of a job: its call to the mail service, or to the application. */
export type MailCall = () => Promise<void>;

/** The first part of a job: its work in the database. Resolves with the second part, if there is one. */
export type JobHandler<Task> = (job: Task, enqueued: { id: string; at: Date }) => Promise<MailCall | undefined>;
