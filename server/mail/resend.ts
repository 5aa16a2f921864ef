import { z } from "zod";
import { callJson } from "../http";
import type { Mailer } from "./mailer";

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
export function resendMailer({
  from,
  apiUrl,
  apiKey,
}: {
  from: string;
  apiUrl: string | null;
  apiKey: string;
}): Mailer {
  return async ({ to, subject, text, html }) => {
    const email: ResendEmail = { from, to: [to], subject, text, html };
    const headers = { authorization: `Bearer ${apiKey}`, "content-type": "application/json" };
    await callJson(
      `${apiUrl ?? "https://api.resend.com"}/emails`,
      { method: "POST", headers, body: JSON.stringify(email) },
      resendAnswer,
    );
  };
}
