import * as z from "zod";
import type { Language } from "../languages/languages";

export interface Message {
  subject: string;
  text: string;
  html: string;
  language: Language;
  /** Where answers go. `null`: the sender's address. */
  replyTo: string | null;
}

export interface Mail extends Message {
  to: string;
}

/** Headers against automatic replies: RFC 3834, and Exchange's own header ([MS-OXCMAIL], section 2.2.3.2.14). */
export const headersIn = (language: Language) => ({
  "Auto-Submitted": "auto-generated",
  "X-Auto-Response-Suppress": "All",
  "Content-Language": language,
});

/** What a call of a service's interface has besides its method. */
interface Request {
  /** Below `api`. */
  path: string;
  headers?: Record<string, string>;
  /** A body as JSON, or as text with its content type in `headers`. */
  json?: unknown;
  body?: string;
}

/** An event that says that mails to an address do not arrive, or that their reader calls them spam. */
export interface DeliveryFailure {
  id: string;
  type: "mail.bounced" | "mail.complained";
  /** RFC 3339. */
  at: string;
  from: string;
  to: string;
}

/** How a service tells of mails that did not arrive (`POST /mail/events`). */
export interface DeliveryEvents {
  /** The form of `MAIL_EVENTS_SECRET`. */
  secret: z.ZodType<string>;
  /** For a 401 (RFC 9110, section 15.5.2). */
  challenge: string;
  isGenuine(secret: string, headers: Headers, body: string): boolean;
  /** Of the body, with the header `svix-id` as `svixId`. Other events have another shape. */
  shape: z.ZodType<DeliveryFailure>;
}

/** A mail service with an HTTP API: a value of `MAIL_DRIVER`. */
export interface MailService {
  /** Its name, for people. */
  label: string;
  /** The setting of its key. */
  setting: string;
  api: string;
  authorization(key: string): Record<string, string>;
  request(from: string, mail: Mail): Request;
  answer: z.ZodType;
  errorCode: z.ZodType<string | number>;
  /** The reason, if an error concerns only this mail; any other error is worth a retry. */
  refusal(error: {
    status?: number | undefined;
    code?: string | number | undefined;
  }): "recipient_refused" | "message_refused" | undefined;
  /** A path that any key may read, and the error code of a key that is known but may not read it. */
  verify: { path: string; known?: string };
  events?: DeliveryEvents;
}

/** An address with or without a name. Bounded, because `parseSender` costs the square of its length. */
export const sender = z.string().max(1_000);

export function parseSender(from: string): { name: string; address: string } {
  const [, name = "", address = ""] = /^(.*?)\s*<?([^\s@<>]+@[^\s@<>]+)>?$/.exec(from) ?? [];
  return { name: name.replace(/^"(.*)"$/, "$1"), address };
}
