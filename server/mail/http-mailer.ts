import * as z from "zod";
import { type Call, callJson } from "../calls/json-client";
import type { MailServiceConfig } from "../config";
import { CallError, MailRefused } from "../errors";
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
  /** The path below `api`, and the body as `json`, or as a `body` with its content type in `headers`. */
  request(from: string, mail: Mail): { path: string } & Pick<Call, "headers" | "body" | "json">;
  answer: z.ZodType;
  errorCode: z.ZodType<string | number>;
  /** The reason, if an error concerns only this mail; any other error is worth a retry. */
  refusal(error: CallError): MailRefusal | undefined;
  /** A path that any key may read, and the error code of a key that is known but may not read it. */
  verify: { path: string; known?: string };
}

const resendAnswer = z.object({ id: z.string() });
export type ResendAnswer = z.infer<typeof resendAnswer>;

/** Postmark may refuse a mail with status 200 and an error code. */
const postmarkAnswer = z.object({ ErrorCode: z.literal(0) });
export type PostmarkAnswer = z.infer<typeof postmarkAnswer>;

const services = {
  /** Resend tracks opens and links by domain, not by message: switch both off for the sending domain. */
  resend: {
    api: "https://api.resend.com",
    authorization: (key) => ({ authorization: `Bearer ${key}` }),
    request: (from, { to, replyTo, language, ...message }) => ({
      path: "/emails",
      json: {
        from,
        to: [to],
        ...message,
        ...(replyTo && { reply_to: replyTo }),
        headers: headersIn(language),
      } satisfies ResendEmail,
    }),
    answer: resendAnswer,
    // https://resend.com/docs/api-reference/errors: the others concern the key, the domain or the quota.
    errorCode: z.object({ name: z.string().regex(/^[a-z_]{1,40}$/) }).transform(({ name }) => name),
    refusal: ({ status, code }) =>
      status === 422 && ["validation_error", "invalid_parameter", "missing_required_field"].includes(String(code))
        ? "message_refused"
        : undefined,
    verify: { path: "/domains", known: "restricted_api_key" }, // of a key that may only send mails
  },
  postmark: {
    api: "https://api.postmarkapp.com",
    authorization: (key) => ({ "x-postmark-server-token": key }),
    request: (from, { to, subject, text, html, replyTo, language }) => ({
      path: "/email",
      json: {
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
      } satisfies PostmarkEmail,
    }),
    answer: postmarkAnswer,
    // https://postmarkapp.com/developer/api/overview#error-codes: the others concern sender, token or server.
    errorCode: z.object({ ErrorCode: z.int() }).transform(({ ErrorCode }) => ErrorCode),
    refusal: ({ status, code }) =>
      status !== 422 ? undefined : code === 300 ? "message_refused" : code === 406 ? "recipient_refused" : undefined,
    verify: { path: "/server" },
  },
} satisfies Record<MailServiceConfig["driver"], MailService>;

/** The driver of a mail service with an HTTP API. Its `send` throws MailRefused or CallError. */
export function httpMailer({ driver, from, apiUrl, apiKey }: MailServiceConfig): Mailer {
  const service: MailService = services[driver];
  const api = apiUrl ?? service.api;
  const { errorCode, answer, verify } = service;
  const headers = service.authorization(apiKey);
  return {
    async send(mail) {
      try {
        const { path, headers: more, ...body } = service.request(from, mail);
        await callJson(
          `${api}${path}`,
          { method: "POST", headers: { ...headers, ...more }, errorCode, ...body },
          answer,
        );
      } catch (error) {
        const refusal = error instanceof CallError && service.refusal(error);
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
