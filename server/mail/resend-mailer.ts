import * as z from "zod";
import type { MailServiceConfig } from "../settings/mail";
import { callMailService } from "./call-mail-service";
import { type Mailer, mailHeaders } from "./mail";

/** `POST /emails`, https://resend.com/docs/api-reference/emails/send-email */
export interface ResendEmail {
  from: string;
  to: [string];
  subject: string;
  text: string;
  html: string;
  headers: Record<string, string>;
}

/** https://resend.com/docs/api-reference/errors: the others concern the key, the domain or the quota. */
const errorCode = z.object({ name: z.string().regex(/^[a-z_]{1,40}$/) }).transform(({ name }) => name);
const refusals = {
  validation_error: "message_refused",
  invalid_parameter: "message_refused",
  missing_required_field: "message_refused",
} as const;

export const resendAnswer = z.object({ id: z.string() });
export type ResendAnswer = z.infer<typeof resendAnswer>;

/** Resend tracks opens and links by domain, not by message: switch both off for the sending domain. */
export function resendMailer({ from, apiUrl, apiKey }: MailServiceConfig): Mailer {
  const url = `${apiUrl ?? "https://api.resend.com"}/emails`;
  const headers = { authorization: `Bearer ${apiKey}` };
  return {
    async send({ to, subject, text, html }) {
      const json: ResendEmail = { from, to: [to], subject, text, html, headers: mailHeaders };
      await callMailService(url, { headers, json, errorCode }, resendAnswer, refusals);
    },
  };
}
