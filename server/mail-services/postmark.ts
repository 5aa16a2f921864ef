import { timingSafeEqual } from "node:crypto";
import * as z from "zod";
import { sha256 } from "../crypto/tokens";
import { type DeliveryFailure, headersIn, type MailService, sender } from "./service";

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

/** Postmark may refuse a mail with status 200 and an error code. */
const postmarkAnswer = z.object({ ErrorCode: z.literal(0) });
export type PostmarkAnswer = z.infer<typeof postmarkAnswer>;

/** https://postmarkapp.com/developer/webhooks/bounce-webhook and …/spam-complaint-webhook */
const postmarkEvent = z
  .object({ ID: z.string(), BouncedAt: z.string(), From: sender, Email: z.string() })
  .and(
    z.union([
      z.object({ RecordType: z.literal("Bounce"), Type: z.enum(["HardBounce", "BadEmailAddress"]) }),
      z.object({ RecordType: z.literal("SpamComplaint") }),
    ]),
  )
  .transform(({ RecordType: type, ID: id, BouncedAt: at, From: from, Email: to }): DeliveryFailure => {
    return { id: `${type} ${id}`, type: type === "Bounce" ? "mail.bounced" : "mail.complained", at, from, to };
  });

export const postmark = {
  label: "Postmark",
  setting: "POSTMARK_SERVER_TOKEN",
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
  events: {
    secret: z.string().min(16, "must have 16 characters or more"),
    challenge: 'Basic realm="Latchkey"',
    isGenuine(secret: string, headers: Headers) {
      const [, credentials = ""] = /^Basic +(\S+)$/i.exec(headers.get("Authorization") ?? "") ?? [];
      const [, password = ""] = /^[^:]*:(.*)$/s.exec(Buffer.from(credentials, "base64").toString()) ?? [];
      return timingSafeEqual(Buffer.from(sha256(password)), Buffer.from(sha256(secret)));
    },
    shape: postmarkEvent,
  },
} as const satisfies MailService;
