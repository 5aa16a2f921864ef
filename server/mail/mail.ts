import { service } from "../service";
import { createMailer, type Mail } from "./mailer";

/**
 * Sends one message through the configured driver.
 *
 * @throws CallError when the mail service did not take it
 */
export function mail(to: string, message: Omit<Mail, "to">): Promise<void> {
  return createMailer(service().config.mail)({ to, ...message });
}
