/** The content of a mail. */
export interface Message {
  subject: string;
  text: string;
  html: string;
}

export interface Mail extends Message {
  to: string;
}

/**
 * A mail driver: hands one mail over to a mail service.
 *
 * @throws CallError when the service did not accept it; the job is retried
 */
export type Mailer = (mail: Mail) => Promise<void>;
