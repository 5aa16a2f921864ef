/** The content of a mail. */
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

/** A mail driver. */
export interface Mailer {
  /**
   * Hands one mail over to a mail service.
   *
   * @throws MailRefused when the service refuses this mail or its recipient for good
   * @throws Error when the service did not accept it; the job is retried
   */
  send(mail: Mail): Promise<void>;
  /**
   * Asks the mail service, without a mail, whether it would take one: connects and authenticates.
   *
   * @throws Error when it would not, or cannot be reached
   */
  verify(): Promise<void>;
  /** Closes connections that are kept open. A mail that is being sent fails. */
  close?(): Promise<void>;
}
