import * as z from "zod";
import { webhookSecret } from "./formats";

/** Each is a value of `MAIL_DRIVER`, with the setting of its key. `server/mail/http-mailer.ts` has their requests. */
export const mailServices = {
  resend: { service: "Resend", setting: "RESEND_API_KEY" },
  postmark: { service: "Postmark", setting: "POSTMARK_SERVER_TOKEN" },
} as const;

export type MailServiceName = keyof typeof mailServices;

/** The drivers that mail. */
export const mailDrivers = ["smtp", ...(Object.keys(mailServices) as MailServiceName[])] as const;

/** The form of `MAIL_EVENTS_SECRET` for each service that tells of mails that did not arrive. */
export const eventsSecrets = {
  resend: webhookSecret,
  postmark: z.string().min(16, "must have 16 characters or more"),
} satisfies { [Name in MailServiceName]?: z.ZodType };

export const tellsEvents = (driver: string): driver is keyof typeof eventsSecrets => driver in eventsSecrets;
