import * as z from "zod";
import { CallError, callJson } from "../calls/json-client";
import type { MailServiceConfig } from "../config";
import { MailRefused } from "../errors";
import type { MailRefusal } from "../events";
import { headersIn, type Mail, type Mailer } from "./mail";

/** `POST /emails`, https://resend.com/docs/api-reference/emails/send-email */
export interface ResendEmail {
  from: string;
  to: [string];
  subject: string;
  text: string;
  html: string;
  reply_to?: string;
  headers: Record<string, string>;
}

/** `POST /email`, https://postmarkapp.com/developer/api/email-api */
export interface PostmarkEmail {
  From: string;
  To: string;
  ReplyTo?: string;
  Subject: string;
  TextBody: string;
  HtmlBody: string;
  Headers: { Name: string; Value: string }[];
  MessageStream: "outbound";
  TrackOpens: false;
  TrackLinks: "None";
}

interface MailService {
  api: string;
  authorization(key: string): Record<string, string>;
  path: string;
  body(from: string, mail: Mail): ResendEmail | PostmarkEmail;
  answer: z.ZodType;
  errorCode: z.ZodType<string | number>;
  /** The error codes that concern this mail alone; any other error is worth a retry. */
  refusals: Record<string, MailRefusal>;
  /** A path that any key may read, and the error code of a key that is known but may not read it. */
  verify: { path: string; known?: string };
}

export const resendAnswer = z.object({ id: z.string() });
export type ResendAnswer = z.infer<typeof resendAnswer>;

/** Postmark may refuse a mail with status 200 and an error code. */
export const postmarkAnswer = z.object({ ErrorCode: z.literal(0) });
export type PostmarkAnswer = z.infer<typeof postmarkAnswer>;

const services = {
  /** Resend tracks opens and links by domain, not by message: switch both off for the sending domain. */
  resend: {
    api: "https://api.resend.com",
    authorization: (key) => ({ authorization: `Bearer ${key}` }),
    path: "/emails",
    body: (from, { to, replyTo, language, ...message }): ResendEmail => ({
      from,
      to: [to],
      ...message,
      ...(replyTo && { reply_to: replyTo }),
      headers: headersIn(language),
    }),
    answer: resendAnswer,
    // https://resend.com/docs/api-reference/errors: the others concern the key, the domain or the quota.
    errorCode: z.object({ name: z.string().regex(/^[a-z_]{1,40}$/) }).transform(({ name }) => name),
    refusals: {
      validation_error: "message_refused",
      invalid_parameter: "message_refused",
      missing_required_field: "message_refused",
    },
    verify: { path: "/domains", known: "restricted_api_key" }, // of a key that may only send mails
  },
  postmark: {
    api: "https://api.postmarkapp.com",
    authorization: (key) => ({ "x-postmark-server-token": key }),
    path: "/email",
    body: (from, { to, subject, text, html, replyTo, language }): PostmarkEmail => ({
      From: from,
      To: to,
      ...(replyTo && { ReplyTo: replyTo }),
      Subject: subject,
      TextBody: text,
      HtmlBody: html,
      Headers: Object.entries(headersIn(language)).map(([Name, Value]) => ({ Name, Value })),
      MessageStream: "outbound",
      TrackOpens: false,
      TrackLinks: "None",
    }),
    answer: postmarkAnswer,
    // https://postmarkapp.com/developer/api/overview#error-codes: the others concern the sender, the token or the server.
    errorCode: z.object({ ErrorCode: z.int() }).transform(({ ErrorCode }) => ErrorCode),
    refusals: { 300: "message_refused", 406: "recipient_refused" },
    verify: { path: "/server" },
  },
} satisfies Record<MailServiceConfig["driver"], MailService>;

/** The driver of a mail service with an HTTP API. Its `send` throws MailRefused or CallError. */
export function httpMailer({ driver, from, apiUrl, apiKey }: MailServiceConfig): Mailer {
  const service: MailService = services[driver];
  const api = apiUrl ?? service.api;
  const headers = service.authorization(apiKey);
  const { errorCode, answer, refusals, verify } = service;
  return {
    async send(mail) {
      try {
        const json = service.body(from, mail);
        await callJson(`${api}${service.path}`, { method: "POST", headers, json, errorCode }, answer);
      } catch (error) {
        const code = error instanceof CallError && error.reason === "status 422" ? error.code : undefined;
        const refusal = Object.entries(refusals).find(([key]) => key === String(code))?.[1];
        throw refusal ? new MailRefused(refusal) : error;
      }
    },
    async verify() {
      try {
        await callJson(`${api}${verify.path}`, { method: "GET", headers, errorCode }, z.unknown());
      } catch (error) {
        if (!verify.known || !(error instanceof CallError) || error.code !== verify.known) throw error;
      }
    },
  };
}
