import { Webhook, WebhookVerificationError } from "standardwebhooks";
import * as z from "zod";
import { webhookSecret } from "../crypto/webhook-secret";
import { type DeliveryFailure, headersIn, type MailService, sender } from "./service";

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

const resendAnswer = z.object({ id: z.string() });
export type ResendAnswer = z.infer<typeof resendAnswer>;

const resendMail = { from: sender, to: z.tuple([z.string()]) };
const bounce = z.object({ type: z.literal("Permanent") });

/** https://resend.com/docs/webhooks/emails/bounced, …/complained and …/suppressed, with the header `svix-id` */
const resendEvent = z
  .object({ svixId: z.string(), created_at: z.string() })
  .and(
    z.union([
      z.object({ type: z.literal("email.bounced"), data: z.object({ ...resendMail, bounce }) }),
      z.object({ type: z.enum(["email.suppressed", "email.complained"]), data: z.object(resendMail) }),
    ]),
  )
  .transform(({ svixId, type, created_at: at, data: { from, to } }): DeliveryFailure => {
    const told = type === "email.complained" ? "mail.complained" : "mail.bounced";
    return { id: `resend ${svixId}`, type: told, at, from, to: to[0] };
  });

/** Resend tracks opens and links by domain, not by message: switch both off for the sending domain. */
export const resend = {
  label: "Resend",
  setting: "RESEND_API_KEY",
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
  events: {
    secret: webhookSecret,
    challenge: 'Webhook realm="Latchkey"', // for a 401 (RFC 9110, section 15.5.2)
    isGenuine(secret: string, headers: Headers, body: string) {
      // Svix, which sends Resend's webhooks, has its own names for the headers of Standard Webhooks 1.0.
      const names = ["id", "timestamp", "signature"];
      const standard = Object.fromEntries(names.map((name) => [`webhook-${name}`, headers.get(`svix-${name}`) ?? ""]));
      try {
        new Webhook(secret).verify(body, standard, { jsonParse: false });
        return true;
      } catch (error) {
        if (error instanceof WebhookVerificationError) return false;
        throw error;
      }
    },
    shape: resendEvent,
  },
} as const satisfies MailService;
