import * as z from "zod";
import type { MailServiceConfig } from "../config";
import { callJson } from "../http/json-client";
import type { Mailer } from "./mail";

/** `POST /emails`, https://resend.com/docs/api-reference/emails/send-email */
export interface ResendEmail {
  from: string;
  to: [string];
  subject: string;
  text: string;
  html: string;
}

export const resendAnswer = z.object({ id: z.string() });
export type ResendAnswer = z.infer<typeof resendAnswer>;

/** Resend tracks opens and links by domain, not by message: switch both off for the sending domain. */
export function resendMailer({ from, apiUrl, apiKey }: MailServiceConfig): Mailer {
  const url = `${apiUrl ?? "https://api.resend.com"}/emails`;
  const headers = { authorization: `Bearer ${apiKey}` };
  return async ({ to, subject, text, html }) => {
    const json: ResendEmail = { from, to: [to], subject, text, html };
    await callJson(url, { method: "POST", headers, json }, resendAnswer);
  };
}
