import type { LoggedEvent, NoticeTask, WebhookDetails, WebhookType } from "../events/events";
import type { Language } from "../languages/languages";

/** The queue of mails and all other work in the service. */
export const mailQueue = "latchkey";

/** A queue of its own: an application that does not answer must not delay mails. */
export const webhookQueue = "latchkey-webhooks";

// Retries wait 10–20 s, then twice as long each time: 14 of them take from 45 to 91 hours.
export const retries = { retryLimit: 14, retryDelay: 10, retryBackoff: true, expireInSeconds: 60 };

export interface AskedEmailChange {
  userId: string;
  sessionId: string;
  currentEmail: string;
}

interface Recipient {
  email: string;
  language: Language;
}

/** The user as `/auth/session` has it, after the change. */
export interface ChangedUser {
  id: string;
  email: string;
  name: string | null;
  pictureUrl: string | null;
  groups: string[];
}

/** Ways to sign in about which the account page asks: the names of passkeys, and whether the provider is one. */
export interface QuestionedWays {
  passkeys: string[];
  provider: boolean;
}

/** Tells an owner of a change, because somebody else may have made it. */
export interface NoticeJob extends Recipient {
  task: NoticeTask;
  /** Of a change of address. */
  oldEmail?: string;
  newEmail?: string;
  questioned?: QuestionedWays;
  /** The name of a passkey that was added or removed. */
  passkey?: string;
  /** Of an access token: the application's, and when it ends. */
  origin?: string;
  expiresAt?: string;
  /** Of a new sign-in. */
  by?: "password" | "passkey";
  /** Of a new sign-in or a passkey. */
  browser?: string;
  at?: string;
}

/** Its data never hold a token or a password. */
export type Job =
  | NoticeJob
  | (Recipient & { task: "mail_password_reset" | "mail_invitation" })
  | (Recipient & { task: "mail_invited"; invitedAt: string })
  | (Recipient & { task: "mail_registration"; return_to?: string })
  | (Recipient & AskedEmailChange & { task: "mail_email_change" })
  | { task: "purge_expired" }
  /** An event of a command. */
  | { task: "log_event"; event: LoggedEvent };

/** The task of a mail without its prefix: what an account's history calls the mail. */
export type MailKind = Extract<Job, { email: string }>["task"] extends `mail_${infer Kind}` ? Kind : never;

export const mailKind = (task: `mail_${MailKind}`) => task.replace("mail_", "") as MailKind;

export interface WebhookJob {
  task: "webhook";
  type: WebhookType;
  data: ChangedUser & WebhookDetails;
}

/** A job's call to the mail service, or what stands in for it. */
export type MailCall = () => Promise<"sent" | "simulated">;

/**
 * Does a job's work in the database, if it has any. Resolves with the other part of the job, if there is one: its call
 * to the mail service, or to the application. The call resolves with "ended" if it has deleted the job itself.
 */
export type JobHandler<Task> = (
  job: Task,
  enqueued: { id: string; at: Date },
) => Promise<(() => Promise<unknown>) | undefined>;
