export interface Message {
  subject: string;
  text: string;
  html: string;
}

export interface Mail extends Message {
  to: string;
}

/** The headers of every mail: automatic replies are not wanted (RFC 3834). */
export const mailHeaders = { "Auto-Submitted": "auto-generated" } as const;

export interface Mailer {
  /** @throws MailRefused when the service refuses this mail or its recipient for good; after another Error the job is retried */
  send(mail: Mail): Promise<void>;
  /** Connects and authenticates. @throws Error when the service would take no mail, or cannot be reached */
  verify(): Promise<void>;
  close?(): Promise<void>;
}
