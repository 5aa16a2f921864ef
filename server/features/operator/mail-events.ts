import { parseAsciiAddress } from "../../accounts/users/email-address";
import { historyKept, recordMail } from "../../accounts/users/history";
import { config } from "../../config";
import { uuidOf } from "../../crypto/tokens";
import { logEvent } from "../../log";
import { type DeliveryFailure, parseSender } from "../../mail-services/service";
import { deliveryEventsOf } from "../../mail-services/services";

/** The source of the mail service's events; `null` when `MAIL_EVENTS_SECRET` is not set. */
export function mailEvents() {
  const { mail } = config();
  const secret = "eventsSecret" in mail && mail.eventsSecret;
  const events = deliveryEventsOf(mail.driver);
  if (!secret || !events) return null;
  const { challenge, isGenuine, shape } = events;
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

/** The event of a body; `null` for what is not JSON. Postmark's 64-bit ids, too long for a number, become texts. */
function parseEvent(headers: Headers, body: string): unknown {
  try {
    const event = JSON.parse(body.replace(/"ID"\s*:\s*(\d+)/g, '"ID":"$1"'));
    return { ...event, svixId: headers.get("svix-id") };
  } catch {
    return null;
  }
}

async function store({ id, type, at: stated, from, to }: DeliveryFailure): Promise<void> {
  const at = new Date(stated);
  const email = parseAsciiAddress(to);
  const age = Date.now() - at.getTime();
  if (email === null || addressOf(from) !== addressOf(config().mail.from) || !(age < historyKept)) return;
  const past = age < 0 ? new Date() : at;
  const userId = await recordMail(email, { id: uuidOf(`mail event ${id}`), type, at: past, isUndeliverable: true });
  if (userId !== null) logEvent({ event: type, userId });
}

const addressOf = (sender: string) => parseSender(sender).address.toLowerCase();
