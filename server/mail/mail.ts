import type { Language } from "../languages/languages";

export interface Message {
  subject: string;
  text: string;
  html: string;
  language: Language;
  /** Where answers go. `null`: the sender's address. */
  replyTo: string | null;
}

export interface Mail extends Message {
  to: string;
}

/** Headers against automatic replies: RFC 3834, and Exchange's own header ([MS-OXCMAIL], section 2.2.3.2.14). */
export const headersIn = (language: Language) => ({
  "Auto-Submitted": "auto-generated",
  "X-Auto-Response-Suppress": "All",
  "Content-Language": language,
});

export interface Mailer {
  /** @throws MailRefused if the service refuses the mail or the recipient for good, else an Error, for a retry */
  send(mail: Mail): Promise<void>;
  /** Connects and authenticates. @throws Error when the service would take no mail, or cannot be reached */
  verify(): Promise<void>;
  close?(): Promise<void>;
}
