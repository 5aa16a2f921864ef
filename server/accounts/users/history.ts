import type { EntityManager } from "@mikro-orm/postgresql";
import type { AccountEvent } from "../../database/entities";
import { commitWithoutFlush, prepared, preparedWithin } from "../../database/prepared";
import { type AccountEventType, type MailEventType, repeatableEvents } from "../../events/events";
import { mailQueue } from "../../queue/jobs";
import { browserNames } from "../../visitor/browsers";

export const historyKept = 180 * 86_400_000; // ms

/** How many events of each kind a user has at most: what can be repeated at will must not push out a thief's change. */
const maxOfKind = { signIn: 50, change: 100 };
const kindOfEvent = `case when way is null and type not in ('${repeatableEvents.join("', '")}') then 'change' else 'signIn' end`;

/** MikroORM's condition for events that are no longer kept. */
export const outdatedEvents = (now: Date) => ({ at: { $lte: new Date(now.getTime() - historyKept) } });

/** Who does something: an operator has no browser. */
export interface Author {
  userAgent?: string | null;
  sessionKey?: string;
  /** If neither the owner nor an operator did it. */
  actor?: "provider";
}

type Entry = { type: Exclude<AccountEventType, MailEventType> } & Partial<Pick<AccountEvent, "way" | "detail" | "at">>;

/**
 * The parts of a statement that writes an event for several users, and removes the surplus. Both see the table before
 * the insert, so the trim keeps one row fewer than the limit.
 */
export const eventWriting = {
  told: `
    insert into account_events (user_id, at, type, actor, way, browser, system, session_key, detail)
    select user_id, ?::timestamptz, ?, ?, ?, ?, ?, ?::uuid, ? from unnest(?::uuid[]) as user_id`,
  trimmed: `
    delete from account_events where id = any(array(
      select id from (
        select id, row_number() over (partition by user_id order by at desc, id) as position
        from account_events where user_id = any(?::uuid[]) and actor is not null and ${kindOfEvent} = ?) as events
      where position >= ?))`,
};

const writeEvent = `with told as (${eventWriting.told}) ${eventWriting.trimmed}`;

/** Writes an event into the history of users whose rows `em`'s transaction holds, or which it has just created. */
export async function record(em: EntityManager, userIds: string[], by: Author, event: Entry): Promise<void> {
  if (userIds.length > 0) await preparedWithin(em, "write-event", writeEvent, eventValues(userIds, by, event));
}

/** The values of `eventWriting`, in its order. */
export function eventValues(userIds: string[], by: Author, event: Entry): unknown[] {
  const { at = new Date(), type, way = null, detail = null } = event;
  const actor = by.actor ?? (by.userAgent === undefined ? "operator" : "owner");
  const { browser, system } = browserNames(by.userAgent ?? null);
  const kind = way === null && !repeatableEvents.includes(type) ? "change" : "signIn";
  const row = [at, type, actor, way, browser, system, by.sessionKey ?? null, detail];
  return [...row, userIds, userIds, kind, maxOfKind[kind]];
}

// The mail's job ends here, too: a statement of its own would be one more for each mail.
// The user's row is locked first, as in every transaction that writes events: a deletion could deadlock otherwise.
// `trim_mail_events` sees the rows of another mail that ended while this statement waited for the lock.
const writeMailEvent = `
  with ended as (delete from pgboss.job where name = '${mailQueue}' and id = ?::uuid returning ${commitWithoutFlush}),
  owner as (
    select id from users where email = ? and created_at <= coalesce(?::timestamptz, 'infinity') for no key update),
  told as (
    insert into account_events (id, user_id, at, type, detail)
    select ?::uuid, id, ?::timestamptz, ?, ? from owner where ?::text is not null
    on conflict (id) do nothing returning user_id, at, type),
  cleared as (
    update users set undeliverable_at = null, undeliverable_by = null from told
    where users.id = user_id and type = 'mail.sent' and undeliverable_by = 'mail.refused'),
  marked as (
    update users set undeliverable_at = coalesce(undeliverable_at, at), undeliverable_by = type from told
    where users.id = user_id and ? and coalesce(undeliverable_by, 'mail.refused') = 'mail.refused' and not exists (
      select from account_events as clearing where clearing.user_id = told.user_id and clearing.at > told.at
        and clearing.type in ('password_reset.completed', 'email_change.completed')))
  select user_id as "userId", trim_mail_events(user_id) from told`;

interface MailEntry {
  /** Two events with the same id count once. */
  id?: string;
  type: MailEventType | null;
  /** If the mail service tells it: an account made later, or made deliverable later, is not marked. */
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
 * not, and whether a mail was sent or not (`type` is `null`). Deletes the mail's job, if it is named. @returns the
 * user, unless the event is known already
 */
export async function recordMail(email: string, event: MailEntry): Promise<string | null> {
  const { id = crypto.randomUUID(), at = null, type, detail = null, isUndeliverable, jobId = null } = event;
  const values = [jobId, email, at, id, at ?? new Date(), type, detail, type, isUndeliverable];
  const [told] = await prepared<{ userId: string }>("write-mail-event", writeMailEvent, values);
  return told?.userId ?? null;
}
