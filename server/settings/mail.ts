import * as z from "zod";
import { defaultName } from "./branding";
import { headerValue, optional, required, webUrl } from "./forms";
import { parseSmtpUrl, type SmtpServer } from "./smtp-url";

export interface MailServiceConfig {
  readonly driver: "resend" | "postmark";
  readonly from: string;
  /** `null`: the service's public address. */
  readonly apiUrl: string | null;
  readonly apiKey: string;
}

export interface SmtpConfig {
  readonly driver: "smtp";
  readonly from: string;
  readonly server: SmtpServer;
}

export type MailConfig = { readonly driver: "log"; readonly from: string } | SmtpConfig | MailServiceConfig;

/** One message for every fault: the URL holds the password. */
const smtpUrl = z.string().refine((text) => parseSmtpUrl(text) !== null, {
  error: "must be smtps://user:password@host:465 or smtp://user:password@host:587",
});

const knownDrivers = "must be log, smtp, resend or postmark";

/** The form of each setting by itself. */
export const mailForms = {
  MAIL_DRIVER: z.enum(["log", "smtp", "resend", "postmark"], knownDrivers).default("log"),
  MAIL_FROM: z
    .string()
    .regex(/^[^\r\n]*[^\s@<>]+@[^\s@<>]+>?$/, "must be an address, or a name and an <address>")
    .optional(),
  MAIL_API_URL: webUrl.transform((text) => text.replace(/\/+$/, "")).optional(),
  SMTP_URL: smtpUrl.optional(),
  RESEND_API_KEY: headerValue.optional(),
  POSTMARK_SERVER_TOKEN: headerValue.optional(),
};

const sender = required("a mail service needs the sender's address");
const mailService = { MAIL_FROM: sender, MAIL_API_URL: optional };

/** What each mail driver needs. */
export const mailSettings = z
  .discriminatedUnion(
    "MAIL_DRIVER",
    [
      z.object({
        MAIL_DRIVER: z.literal("log").default("log"),
        MAIL_FROM: optional,
        BRAND_NAME: z.string().default(defaultName),
      }),
      z.object({
        MAIL_DRIVER: z.literal("smtp"),
        SMTP_URL: required("MAIL_DRIVER is smtp").transform((text) => parseSmtpUrl(text) ?? z.NEVER),
        MAIL_FROM: sender,
      }),
      z.object({
        MAIL_DRIVER: z.literal("resend"),
        RESEND_API_KEY: required("MAIL_DRIVER is resend"),
        ...mailService,
      }),
      z.object({
        MAIL_DRIVER: z.literal("postmark"),
        POSTMARK_SERVER_TOKEN: required("MAIL_DRIVER is postmark"),
        ...mailService,
      }),
    ],
    knownDrivers,
  )
  .transform((env): MailConfig => {
    switch (env.MAIL_DRIVER) {
      case "log":
        return { driver: "log", from: env.MAIL_FROM ?? `${env.BRAND_NAME} <latchkey@localhost>` };
      case "smtp":
        return { driver: "smtp", from: env.MAIL_FROM, server: env.SMTP_URL };
      case "resend":
        return { driver: "resend", from: env.MAIL_FROM, apiUrl: env.MAIL_API_URL, apiKey: env.RESEND_API_KEY };
      case "postmark":
        return { driver: "postmark", from: env.MAIL_FROM, apiUrl: env.MAIL_API_URL, apiKey: env.POSTMARK_SERVER_TOKEN };
    }
  });
