import { postmark } from "./postmark";
import { resend } from "./resend";
import type { DeliveryEvents, MailService } from "./service";

/** Each is a value of `MAIL_DRIVER`. */
export const mailServices = { resend, postmark } as const satisfies Record<string, MailService>;

export type MailServiceName = keyof typeof mailServices;

const names = Object.keys(mailServices) as MailServiceName[];

/** The drivers that mail. */
export const mailDrivers = ["smtp", ...names] as const;

/** Those that tell of mails that did not arrive. */
export const tellingDrivers = names.filter((name) => "events" in mailServices[name]);

/** How the driver's service tells of mails that did not arrive; `null` if it does not. */
export function deliveryEventsOf(driver: string): DeliveryEvents | null {
  const name = names.find((each) => each === driver);
  const mailService: MailService | undefined = name && mailServices[name];
  return mailService?.events ?? null;
}
