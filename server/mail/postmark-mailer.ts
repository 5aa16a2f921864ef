import * as z from "zod";
import { callJson } from "../http/json-client";
import type { MailServiceConfig } from "../settings/mail";
import { callMailService } from "./call-mail-service";
import { type Mailer, mailHeaders } from "./mail";

/** `POST /email`, https://postmarkapp.com/developer/api/email-api */
export interface PostmarkEmail {
  From: string;
  To: string;
  Subject: string;
  TextBody: string;
  HtmlBody: string;
  Headers: { Name: string; Value: string }[];
  MessageStream: "outbound";
  TrackOpens: false;
  TrackLinks: "None";
}

/** https://postmarkapp.com/developer/api/overview#error-codes: the others concern the sender, the token or the server. */
const errorCode = z.object({ ErrorCode: z.int() }).transform(({ ErrorCode }) => ErrorCode);
const refusals = { 300: "message_refused", 406: "recipient_refused" } as const;

const mailHeaderList = Object.entries(mailHeaders).map(([Name, Value]) => ({ Name, Value }));

/** Postmark may refuse a mail with status 200 and an error code. */
export const postmarkAnswer = z.object({ ErrorCode: z.literal(0) });
export type PostmarkAnswer = z.infer<typeof postmarkAnswer>;

export function postmarkMailer({ from, apiUrl, apiKey }: MailServiceConfig): Mailer {
  const api = apiUrl ?? "https://api.postmarkapp.com";
  const headers = { "x-postmark-server-token": apiKey };
  return {
    async send({ to, subject, text, html }) {
      const json: PostmarkEmail = {
        From: from,
        To: to,
        Subject: subject,
        TextBody: text,
        HtmlBody: html,
        Headers: mailHeaderList,
        MessageStream: "outbound",
        TrackOpens: false,
        TrackLinks: "None",
      };
      await callMailService(`${api}/email`, { headers, json, errorCode }, postmarkAnswer, refusals);
    },
    /** `GET /server` is for any server token, https://postmarkapp.com/developer/api/server-api */
    async verify() {
      await callJson(`${api}/server`, { method: "GET", headers }, z.unknown());
    },
  };
}
