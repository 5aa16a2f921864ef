import { z } from "zod";
import { callJson } from "../http";
import type { Mailer } from "./mailer";

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

/** A refusal may come with status 200 and an error code of its own. */
export const postmarkAnswer = z.object({ ErrorCode: z.literal(0) });
export type PostmarkAnswer = z.infer<typeof postmarkAnswer>;

export function postmarkMailer({
  from,
  apiUrl,
  apiKey,
}: {
  from: string;
  apiUrl: string | null;
  apiKey: string;
}): Mailer {
  return async ({ to, subject, text, html }) => {
    const email: PostmarkEmail = {
      From: from,
      To: to,
      Subject: subject,
      TextBody: text,
      HtmlBody: html,
      MessageStream: "outbound",
      TrackOpens: false,
      TrackLinks: "None",
    };
    const headers = { "x-postmark-server-token": apiKey, "content-type": "application/json" };
    await callJson(
      `${apiUrl ?? "https://api.postmarkapp.com"}/email`,
      { method: "POST", headers, body: JSON.stringify(email) },
      postmarkAnswer,
    );
  };
}
