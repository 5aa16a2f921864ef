import * as z from "zod";
import { form, headerValue, oneOf, webUrl } from "./forms";
import { given, type Setting, type Values } from "./setting";
import { parseSmtpUrl } from "./smtp-url";

export const mailSettings = {
  MAIL_DRIVER: {
    form: oneOf("log", "smtp", "resend", "postmark"),
    default: "log",
    help: "The mail service; `log` writes each mail to standard output.",
  },
  MAIL_FROM: {
    form: z.string().regex(/^[^\r\n]*[^\s@<>]+@[^\s@<>]+>?$/, "must be an address, or a name and an <address>"),
    help: "The sender. Required with a mail service.",
    example: "Latchkey <no-reply@example.com>",
  },
  SMTP_URL: {
    // One message for every fault: the URL holds the password.
    form: form(parseSmtpUrl, "must be smtps://user:password@host:465 or smtp://user:password@host:587"),
    help: "`smtps://user:password@host:465`, or `smtp://user:password@host:587` with STARTTLS.",
    secret: true,
    requiredWith: "MAIL_DRIVER=smtp",
  },
  RESEND_API_KEY: { form: headerValue, help: "The API key.", secret: true, requiredWith: "MAIL_DRIVER=resend" },
  POSTMARK_SERVER_TOKEN: {
    form: headerValue,
    help: "The server's token.",
    secret: true,
    requiredWith: "MAIL_DRIVER=postmark",
  },
  MAIL_API_URL: {
    form: webUrl.transform((text) => text.replace(/\/+$/, "")),
    help: "Another base URL of Resend or Postmark, e.g. of a mock server or a regional endpoint.",
  },
} satisfies Record<string, Setting>;

export type MailConfig = ReturnType<typeof mailConfig>;
export type SmtpConfig = Extract<MailConfig, { driver: "smtp" }>;
export type MailServiceConfig = Extract<MailConfig, { apiKey: string }>;

/** `apiUrl`: `null` is the service's public address. */
export function mailConfig(v: Values<typeof mailSettings> & { BRAND_NAME: string }) {
  const from = v.MAIL_FROM ?? `${v.BRAND_NAME} <latchkey@localhost>`;
  const { MAIL_DRIVER: driver, MAIL_API_URL: apiUrl } = v;
  if (driver === "log") return { driver, from };
  if (driver === "smtp") return { driver, from, server: given(v.SMTP_URL) };
  return { driver, from, apiUrl, apiKey: given(driver === "resend" ? v.RESEND_API_KEY : v.POSTMARK_SERVER_TOKEN) };
}
