import * as z from "zod";
import { CallError, callJson } from "../http/json-client";
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
  const api = apiUrl ?? "https://api.resend.com";
  const headers = { authorization: `Bearer ${apiKey}` };
  return {
    async send({ to, subject, text, html }) {
      const json: ResendEmail = { from, to: [to], subject, text, html, headers: mailHeaders };
      await callMailService(`${api}/emails`, { headers, json, errorCode }, resendAnswer, refusals);
    },
    /** `GET /domains` is for keys with full access. One that may only send mails is known, and refused by name. */
    async verify() {
      try {
        await callJson(`${api}/domains`, { method: "GET", headers, errorCode }, z.unknown());
      } catch (error) {
        if (!(error instanceof CallError) || error.code !== "restricted_api_key") throw error;
      }
    },
  };
}
