import type { EntityManager } from "@mikro-orm/postgresql";
import { browserNames } from "../../browsers";
import type { AccountEvent } from "../../database/entities";
import { prepared, preparedWithin } from "../../database/unit-of-work";
import type { AccountEventType, MailEventType } from "../../events";
import { mailQueue } from "../../queue/jobs";

export const historyKept = 180 * 86_400_000; // ms

/** How many events of each kind a user has at most: many sign-ins must not push out a thief's change. */
const most = { mail: 50, signIn: 50, change: 100 };
const kindOfEvent = "case when actor is null then 'mail' when way is null then 'change' else 'signIn' end";

/** MikroORM's condition for events that are no longer kept. */
export const outdatedEvents = (now: Date) => ({ at: { $lte: new Date(now.getTime() - historyKept) } });

/** Who does something: an operator has no browser. */
export interface Doer {
  userAgent?: string | null;
  sessionKey?: string;
  /** If neither the owner nor an operator did it. */
  actor?: "provider";
}

type Told = { type: Exclude<AccountEventType, MailEventType> } & Partial<Pick<AccountEvent, "way" | "detail" | "at">>;

// Both parts of the statement see the rows without the new one, so it takes the place of the last row that is allowed.
const surplus = (users: string) => `
  delete from account_events where id in (
    select id from (
      select id, row_number() over (partition by user_id order by at desc, id) as position
      from account_events where ${users} and ${kindOfEvent} = ?) as events
    where position >= ?)`;

/** The parts of a statement that writes an event for several users, and removes the surplus. */
export const eventWriting = {
  told: `
    insert into account_events (user_id, at, type, actor, way, browser, system, session_key, detail)
    select user_id, ?::timestamptz, ?, ?, ?, ?, ?, ?::uuid, ? from unnest(?::uuid[]) as user_id`,
  trimmed: surplus("user_id = any(?::uuid[])"),
};

/** The values of `eventWriting`, in its order. */
export function eventValues(userIds: string[], by: Doer, event: Told): unknown[] {
  const { at = new Date(), type, way = null, detail = null } = event;
  const actor = by.actor ?? (by.userAgent === undefined ? "operator" : "owner");
  const { browser, system } = browserNames(by.userAgent ?? null);
  const kind = way === null ? "change" : "signIn";
  const row = [at, type, actor, way, browser, system, by.sessionKey ?? null, detail];
  return [...row, userIds, userIds, kind, most[kind]];
}

const writeEvent = `with told as (${eventWriting.told}) ${eventWriting.trimmed}`;

/** Writes an event into the history of users whose rows `em`'s transaction holds, or which it has just created. */
export async function record(em: EntityManager, userIds: string[], by: Doer, event: Told): Promise<void> {
  if (userIds.length > 0) await preparedWithin(em, "write-event", writeEvent, eventValues(userIds, by, event));
}

// The user's row is locked first, as in every other transaction that writes events: a deletion could deadlock otherwise.
const writeMailEvent = `
  with ended as (delete from pgboss.job where name = '${mailQueue}' and id = ?::uuid),
  owner as (select id from users where email = ? for no key update),
  told as (
    insert into account_events (id, user_id, at, type, detail)
    select ?::uuid, id, ?::timestamptz, ?, ? from owner where ?::text is not null
    on conflict (id) do nothing returning user_id, at, type),
  trimmed as (${surplus("user_id in (select user_id from told)")}),
  cleared as (
    update users set undeliverable_at = null, undeliverable_by = null from told
    where users.id = user_id and type = 'mail.sent' and undeliverable_by = 'mail.refused'),
  marked as (
    update users set undeliverable_at = coalesce(undeliverable_at, at), undeliverable_by = type from told
    where users.id = user_id and ? and coalesce(undeliverable_by, 'mail.refused') = 'mail.refused')
  select user_id as "userId" from told`;

interface MailEvent {
  /** Two events with the same id count once. */
  id?: string;
  type: MailEventType | null;
  at?: Date;
  /** The kind of the mail. */
  detail?: string | null;
  /** Whether it shows that mails to the address do not arrive. */
  isUndeliverable: boolean;
  /** The job that sent the mail; it is deleted. */
  jobId?: string | null;
}

/**
 * Writes what became of a mail into the history of the address's account: one statement, whether there is an account or
 * not, and whether a mail was sent or not (`type` is `null`). Deletes the mail's job, if it is named. @returns the user,
 * unless the event is known already
 */
export async function recordMail(email: string, event: MailEvent): Promise<string | null> {
  const { id = crypto.randomUUID(), at = new Date(), type, detail = null, isUndeliverable, jobId = null } = event;
  const values = [jobId, email, id, at, type, detail, type, "mail", most.mail, isUndeliverable];
  const [told] = await prepared<{ userId: string }>("write-mail-event", writeMailEvent, values);
  return told?.userId ?? null;
}
