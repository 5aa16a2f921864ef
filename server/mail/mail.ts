import type { Language } from "../languages/languages";

export interface Message {
  subject: string;
  text: string;
  html: string;
  language: Language;
  /** Who answers. `null`: the sender's address. */
  replyTo: string | null;
}

export interface Mail extends Message {
  to: string;
}

/** Automatic replies are not wanted: RFC 3834, and Exchange's own header ([MS-OXCMAIL], section 2.2.3.2.14). */
export const headersIn = (language: Language) => ({
  "Auto-Submitted": "auto-generated",
  "X-Auto-Response-Suppress": "All",
  "Content-Language": language,
});

export interface Mailer {
  /** @throws MailRefused when the service refuses this mail or its recipient for good; after another Error the job is retried */
  send(mail: Mail): Promise<void>;
  /** Connects and authenticates. @throws Error when the service would take no mail, or cannot be reached */
  verify(): Promise<void>;
  close?(): Promise<void>;
}
