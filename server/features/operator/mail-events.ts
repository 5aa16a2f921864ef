import { timingSafeEqual } from "node:crypto";
import { Webhook, WebhookVerificationError } from "standardwebhooks";
import * as z from "zod";
import { parseAsciiAddress } from "../../accounts/users/email-address";
import { historyKept, recordMail } from "../../accounts/users/history";
import { config } from "../../config";
import { logEvent } from "../../log";
import { parseSender } from "../../mail/smtp-mailer";
import { tellsEvents } from "../../settings/mail-services";
import { sha256, uuidOf } from "../../tokens";

type Told = "mail.bounced" | "mail.complained";

/** An event that says that mails to an address do not arrive, or that their reader calls them spam. */
interface MailEvent {
  id: string;
  type: Told;
  at: string;
  from: string;
  to: string;
}

const from = z.string().max(1_000); // the expression of `parseSender` costs the square of its length

const resendMail = { from, to: z.tuple([z.string()]) };
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
  .transform(({ svixId, type, created_at: at, data: { from, to } }): MailEvent => {
    const told = type === "email.complained" ? "mail.complained" : "mail.bounced";
    return { id: `resend ${svixId}`, type: told, at, from, to: to[0] };
  });

/** https://postmarkapp.com/developer/webhooks/bounce-webhook and …/spam-complaint-webhook */
const postmarkEvent = z
  .object({ ID: z.string(), BouncedAt: z.string(), From: from, Email: z.string() })
  .and(
    z.union([
      z.object({ RecordType: z.literal("Bounce"), Type: z.enum(["HardBounce", "BadEmailAddress"]) }),
      z.object({ RecordType: z.literal("SpamComplaint") }),
    ]),
  )
  .transform(({ RecordType: type, ID: id, BouncedAt: at, From: from, Email: to }): MailEvent => {
    return { id: `${type} ${id}`, type: type === "Bounce" ? "mail.bounced" : "mail.complained", at, from, to };
  });

/** The event of a body; `null` for what is no JSON. Postmark's ids have 64 bits, which no JavaScript number has: texts. */
function parseEvent(headers: Headers, body: string): unknown {
  try {
    const event = JSON.parse(body.replace(/"ID"\s*:\s*(\d+)/g, '"ID":"$1"'));
    return { ...event, svixId: headers.get("svix-id") };
  } catch {
    return null;
  }
}

const sources = {
  resend: {
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
  postmark: {
    challenge: 'Basic realm="Latchkey"',
    isGenuine(secret: string, headers: Headers) {
      const [, credentials = ""] = /^Basic +(\S+)$/i.exec(headers.get("Authorization") ?? "") ?? [];
      const [, password = ""] = /^[^:]*:(.*)$/s.exec(Buffer.from(credentials, "base64").toString()) ?? [];
      return timingSafeEqual(Buffer.from(sha256(password)), Buffer.from(sha256(secret)));
    },
    shape: postmarkEvent,
  },
};

const addressOf = (sender: string) => parseSender(sender).address.toLowerCase();

async function store({ id, type, at: stated, from, to }: MailEvent): Promise<void> {
  const at = new Date(stated);
  const email = parseAsciiAddress(to);
  const age = Date.now() - at.getTime();
  if (email === null || addressOf(from) !== addressOf(config().mail.from) || !(age < historyKept)) return;
  const past = age < 0 ? new Date() : at;
  const userId = await recordMail(email, { id: uuidOf(`mail event ${id}`), type, at: past, isUndeliverable: true });
  if (userId !== null) logEvent({ event: type, userId });
}

/** The source of the mail service's events; `null` when `MAIL_EVENTS_SECRET` is not set. */
export function mailEvents() {
  const { mail } = config();
  const secret = "eventsSecret" in mail && mail.eventsSecret;
  if (!secret || !tellsEvents(mail.driver)) return null;
  const { challenge, isGenuine, shape } = sources[mail.driver];
  return {
    challenge,
    /** Stores what an event tells of an account. @returns whether the mail service sent it @throws DatabaseUnavailable */
    async take(headers: Headers, body: string): Promise<boolean> {
      if (!isGenuine(secret, headers, body)) return false;
      const { data: event } = shape.safeParse(parseEvent(headers, body));
      if (event) await store(event);
      return true;
    },
  };
}
