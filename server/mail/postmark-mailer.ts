import * as z from "zod";
import type { MailServiceConfig } from "../config";
import { callJson } from "../http/json-client";
import type { Mailer } from "./mail";

/** `POST /email`, https://postmarkapp.com/developer/api/email-api */
export interface PostmarkEmail {
  From: string;
  To: string;
  Subject: string;
  TextBody: string;
  HtmlBody: string;
  MessageStream: "outbound";
  TrackOpens: false;
  TrackLinks: "None";
}

/** Postmark may refuse a mail with status 200 and an error code. */
export const postmarkAnswer = z.object({ ErrorCode: z.literal(0) });
export type PostmarkAnswer = z.infer<typeof postmarkAnswer>;

export function postmarkMailer({ from, apiUrl, apiKey }: MailServiceConfig): Mailer {
  const url = `${apiUrl ?? "https://api.postmarkapp.com"}/email`;
  const headers = { "x-postmark-server-token": apiKey };
  return async ({ to, subject, text, html }) => {
    const json: PostmarkEmail = {
      From: from,
      To: to,
      Subject: subject,
      TextBody: text,
      HtmlBody: html,
      MessageStream: "outbound",
      TrackOpens: false,
      TrackLinks: "None",
    };
    await callJson(url, { method: "POST", headers, json }, postmarkAnswer);
  };
}
