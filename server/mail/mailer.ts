import type { MailConfig } from "../config";
import { processValue } from "../process-value";
import { logMailer } from "./log-mailer";
import type { Mailer, Message } from "./mail";
import { postmarkMailer } from "./postmark-mailer";
import { resendMailer } from "./resend-mailer";

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

const provided = processValue<Mailer>("mailer");

/** Makes a driver the one of this process. */
export function provideMailer(mailer: Mailer): void {
  provided.current = mailer;
}

/**
 * Sends one message through the driver of this process.
 *
 * @throws CallError when the mail service did not accept it
 */
export function sendMail(to: string, message: Message): Promise<void> {
  if (!provided.current) throw new Error("No mail driver has been created.");
  return provided.current({ to, ...message });
}
