import type { Mail } from "../mail-services/service";

export interface Mailer {
  /** @throws MailRefused if the service refuses the mail or the recipient for good, else an Error, for a retry */
  send(mail: Mail): Promise<void>;
  /** Connects and authenticates. @throws Error when the service would take no mail, or cannot be reached */
  verify(): Promise<void>;
  close?(): Promise<void>;
}
