import { createHash, timingSafeEqual } from "node:crypto";
import { Webhook, WebhookVerificationError } from "standardwebhooks";
import * as z from "zod";
import { sha256 } from "../../accounts/links/tokens";
import { parseAsciiAddress } from "../../accounts/users/email-address";
import { historyKept, recordMail } from "../../accounts/users/history";
import { config } from "../../config";
import { logEvent } from "../../log";
import { parseSender } from "../../mail/smtp-mailer";

type Told = "mail.bounced" | "mail.complained";

/** An event that says that mails to an address do not arrive, or that their reader calls them spam. */
interface MailEvent {
  /** What the service calls the event. */
  id: string;
  type: Told;
  at: string;
  from: string;
  to: string;
}

interface EventSource {
  /** For a 401 (RFC 9110, section 15.5.2). */
  challenge: string;
  isGenuine(secret: string, headers: Headers, body: string): boolean;
  /** `null` for what says nothing of the kind. */
  read(headers: Headers, body: string): MailEvent | null;
}

/** `null` for what is no JSON. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** https://resend.com/docs/webhooks/emails/bounced, …/complained and …/suppressed */
const resendEvent = z.object({
  created_at: z.string(),
  data: z.object({ from: z.string(), to: z.tuple([z.string()]) }),
});
const resendType = z.union([
  z.object({
    type: z.literal("email.bounced"),
    data: z.object({ bounce: z.object({ type: z.literal("Permanent") }) }),
  }),
  z.object({ type: z.enum(["email.suppressed", "email.complained"]) }),
]);

/**
 * https://postmarkapp.com/developer/webhooks/bounce-webhook and …/spam-complaint-webhook. Its ids are integers of 64 bits,
 * which are no JavaScript numbers: they are read as texts.
 */
const postmarkEvent = z.object({ ID: z.string(), BouncedAt: z.string(), From: z.string(), Email: z.string() });
const postmarkType = z.union([
  z.object({ RecordType: z.literal("Bounce"), Type: z.enum(["HardBounce", "BadEmailAddress"]) }),
  z.object({ RecordType: z.literal("SpamComplaint") }),
]);
const idsAsTexts = (json: string) => json.replace(/"ID"\s*:\s*(\d+)/g, '"ID":"$1"');

const digest = (text: string) => createHash("sha256").update(text).digest();

const sources: Record<"resend" | "postmark", EventSource> = {
  resend: {
    challenge: 'Webhook realm="Latchkey"',
    isGenuine(secret, headers, body) {
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
    read(headers, body) {
      const json = parseJson(body);
      const type = resendType.safeParse(json).data?.type;
      const event = resendEvent.safeParse(json).data;
      if (!type || !event) return null;
      const { from, to } = event.data;
      const told = type === "email.complained" ? "mail.complained" : "mail.bounced";
      return { id: `resend ${headers.get("svix-id")}`, type: told, at: event.created_at, from, to: to[0] };
    },
  },
  postmark: {
    challenge: 'Basic realm="Latchkey"',
    isGenuine(secret, headers) {
      const [, credentials = ""] = /^Basic +(\S+)$/i.exec(headers.get("Authorization") ?? "") ?? [];
      const [, password = ""] = /^[^:]*:(.*)$/s.exec(Buffer.from(credentials, "base64").toString()) ?? [];
      return timingSafeEqual(digest(password), digest(secret));
    },
    read(_headers, body) {
      const json = parseJson(idsAsTexts(body));
      const type = postmarkType.safeParse(json).data?.RecordType;
      const event = postmarkEvent.safeParse(json).data;
      if (!type || !event) return null;
      const { ID: id, BouncedAt: at, From: from, Email: to } = event;
      return { id: `${type} ${id}`, type: type === "Bounce" ? "mail.bounced" : "mail.complained", at, from, to };
    },
  },
};

const addressOf = (sender: string) => parseSender(sender).address.toLowerCase();

/** The id of the event's row: the same event has the same one. RFC 9562, UUIDv8. */
const rowIdOf = (id: string) =>
  sha256(`mail event ${id}`).replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12}).*$/, "$1-$2-8$3-8$4-$5");

async function store({ id, type, at: stated, from, to }: MailEvent): Promise<void> {
  const at = new Date(stated);
  const email = parseAsciiAddress(to);
  const age = Date.now() - at.getTime();
  if (email === null || addressOf(from) !== addressOf(config().mail.from) || !(age < historyKept)) return;
  const past = age < 0 ? new Date() : at;
  const userId = await recordMail(email, { id: rowIdOf(id), type, at: past, isUndeliverable: true });
  if (userId !== null) logEvent({ event: type, userId });
}

/** The source of the mail service's events; `null` when `MAIL_EVENTS_SECRET` is not set. */
export function mailEvents() {
  const { mail } = config();
  if (mail.driver === "log" || mail.driver === "smtp" || mail.eventsSecret === null) return null;
  const secret = mail.eventsSecret;
  const { challenge, isGenuine, read } = sources[mail.driver];
  return {
    challenge,
    /** Stores what an event tells of an account. @returns whether the mail service sent it @throws DatabaseUnavailable */
    async take(headers: Headers, body: string): Promise<boolean> {
      if (!isGenuine(secret, headers, body)) return false;
      const event = read(headers, body);
      if (event) await store(event);
      return true;
    },
  };
}
