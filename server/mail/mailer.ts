import type { MailConfig } from "../config.server";
import { logMailer } from "./log";
import { postmarkMailer } from "./postmark";
import { resendMailer } from "./resend";

export interface Mail {
  to: string;
  subject: string;
  text: string;
  html: string;
}

/**
 * Hands one mail over.
 *
 * @throws CallError when the service did not take it; the job that sent it is tried again
 */
export type Mailer = (mail: Mail) => Promise<void>;

export function createMailer(config: MailConfig): Mailer {
  switch (config.driver) {
    case "log":
      return logMailer(config.from);
    case "resend":
      return resendMailer(config);
    case "postmark":
      return postmarkMailer(config);
  }
}
