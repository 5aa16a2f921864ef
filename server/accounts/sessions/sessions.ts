import { type EntityManager, raw } from "@mikro-orm/postgresql";
import { config } from "../../config";
import { mintToken, sha256 } from "../../crypto/tokens";
import { Session, type User } from "../../database/entities";
import { preparedWithin } from "../../database/prepared";
import { ExternalSignInError } from "../../errors";
import type { SessionEnd } from "../../events/events";
import type { Language } from "../../languages/languages";
import { enqueue } from "../../queue/job-queue";
import { maxSessions, type SignInWay } from "../../rules";
import { browserName } from "../../visitor/browsers";
import type { Visitor } from "../../visitor/visitor";
import { countSignInMail } from "../limits/rate-limits";
import { endEmailChanges } from "../links/mailed-links";
import { type Identity, logoutKey, logoutMemory } from "../provider/provider-identities";
import { offerBinding } from "../session-binding/offer";
import { noticeLanguage } from "../users/changes";
import { type Author, eventValues, eventWriting } from "../users/history";
import { lockUser } from "../users/users";
import { announceEnds, type EndedSession, reportEnds } from "./announced-ends";
import { rememberDevice } from "./devices";

/** The condition for a live session; its values are those of `livenessAt`. */
export const liveSql = "expires_at > ? and last_seen_at > ?";

export const notLive = (now: Date) => ({ [raw(`not (${liveSql})`, livenessAt(now))]: [] });

export async function lockUsersOfTokens(em: EntityManager, tokens: string[]): Promise<void> {
  const sql = `
    select from users where id in (select user_id from sessions where token_hash = any(?::text[])) order by id for update`;
  await preparedWithin(em, "lock-users-of-tokens", sql, [tokens.map(sha256)]);
}

// The rows are locked in one order: two transactions that end the same sessions in two orders would deadlock.
const returned = `returning id, user_id as "userId", (${liveSql}) as "isLive"`;
const endOfTokens = `
  delete from sessions where id in (select id from sessions where token_hash = any(?::text[]) order by id for update)
  ${returned}`;
const endOthers = `
  delete from sessions where id in (select id from sessions where user_id = ? order by id for update)
  and id is distinct from ?::uuid ${returned}`;
const endOne = `delete from sessions where id = ? and user_id = ? ${returned}`;
export const endEverySql = `
  delete from sessions where id in (select id from sessions order by id for update) ${returned}`;

/** Ends the sessions whose tokens the cookies hold. */
export async function endSessionsOfTokens(em: EntityManager, tokens: string[]): Promise<void> {
  if (tokens.length === 0) return;
  const hashes = tokens.map(sha256);
  const values = [hashes, ...livenessAt(new Date())];
  const ended = await preparedWithin<EndedSession>(em, "end-sessions-of-tokens", endOfTokens, values);
  reportEnds(em, "logout", ended);
}

/** A sign-in that leaves a device behind. Only the cookie holds the device's raw token. */
export interface DeviceSignIn {
  session: NewSession;
  deviceToken: string;
}

/** A sign-in: who makes it and how; `null` without a proof, in development. */
interface SignIn {
  visitor: Visitor;
  way: SignInWay | null;
  /** Of the passkey. */
  credentialId?: string | null;
  /** At the provider, whose logout may have come since the request arrived. */
  identity?: Identity;
  /** Whether it has created the account: the history tells that in place of the sign-in. */
  isFirst?: boolean;
}

/** Starts a session and remembers the browser. Mails the owner about a new browser. The caller holds the user's row. */
export async function startKnownSession(
  em: EntityManager,
  user: User,
  signIn: SignIn & { way: "password" | "passkey" },
): Promise<DeviceSignIn> {
  const { visitor, way: by } = signIn;
  const session = await startSession(em, user.id, signIn);
  const device = await rememberDevice(em, user.id, visitor.deviceToken);
  if (!device.isKnown && (await countSignInMail(em, user.id, visitor)) === null) {
    const language = noticeLanguage(user);
    const told = { by, browser: browserName(visitor.userAgent, language), at: new Date().toISOString() };
    await enqueue(em, { task: "mail_new_sign_in", email: user.email, language, ...told });
  }
  return { session, deviceToken: device.token };
}

export interface NewSession extends SessionToken {
  userId: string;
}

// The history's row is written here, too: a second statement would cost every sign-in a round trip.
// If a surplus row is locked, another transaction uses or ends it: the next row is removed instead.
// `array(…)`: PostgreSQL may run a subquery of `in` once for each row, and each run with `limit` and `skip locked`
// finds other rows.
const startOne = `
  with replaced as (${endOfTokens}),
  others as (select id, created_at, last_seen_at from sessions where user_id = ? and token_hash <> all(?::text[])),
  surplus as (
    delete from sessions where id = any(array(
      select id from sessions where id in (select id from others) order by last_seen_at, created_at, id
      limit (select greatest(count(*) + 1 - ${maxSessions}, 0) from others) for update skip locked))
    ${returned}),
  started as (
    insert into sessions (id, token_hash, user_id, user_agent, way, credential_id, created_at, last_seen_at, expires_at)
    values (?, ?, ?, ?, ?, ?, ?, ?, ?)),
  told as (${eventWriting.told}),
  trimmed as (${eventWriting.trimmed})
  select coalesce((select json_agg(replaced) from replaced), '[]') as replaced,
    coalesce((select json_agg(surplus) from surplus), '[]') as surplus,
    exists (select from users where id = ? and idp_logout_at >= ?)
      or exists (select from logout_tokens where jti_hash = ? and expires_at - interval '${logoutMemory} ms' >= ?) as "isLoggedOut"`;

interface EndedByStart {
  /** The sessions that the browser sent. */
  replaced: EndedSession[];
  /** The user's sessions that were too many. */
  surplus: EndedSession[];
  /** Whether the provider has reported a logout of `identity` since the request arrived. */
  isLoggedOut: boolean;
}

/**
 * Starts a session, in place of those that the browser has (session fixation). The caller holds the user's row, so that
 * the count is right. @throws ExternalSignInError if the provider has reported a logout
 */
export async function startSession(em: EntityManager, userId: string, signIn: SignIn): Promise<NewSession> {
  const { visitor, way, credentialId = null, identity, isFirst } = signIn;
  const replaced = visitor.sessionTokens.map(sha256);
  const token = mintToken();
  const now = new Date();
  const expiresAt = new Date(now.getTime() + config().sessions.max);
  const { userAgent } = visitor;
  const id = crypto.randomUUID();
  const row = [id, sha256(token), userId, userAgent, way, credentialId, now, now, expiresAt];
  const logout = identity ? [visitor.arrivedAt, logoutKey(identity), visitor.arrivedAt] : [null, null, null];
  const told = isFirst ? ({ type: "registration.completed" } as const) : ({ type: "session.started", way } as const);
  const event = eventValues([userId], { userAgent, sessionKey: id }, { ...told, at: now });
  const liveness = livenessAt(now);
  const values = [replaced, ...liveness, userId, replaced, ...liveness, ...row, ...event, userId, ...logout];
  const [ended] = await preparedWithin<EndedByStart>(em, "start-session", startOne, values);
  if (!ended) throw new Error("The statement returned no row.");
  if (ended.isLoggedOut) throw new ExternalSignInError("logged_out");
  reportEnds(em, "replaced", ended.replaced);
  reportEnds(em, "too_many", ended.surplus);
  return { token, expiresAt, userId, bindingChallenge: await offerBinding(em, id) };
}

/**
 * Ends every session of the user, and every unconfirmed change of its address. Access tokens go on: `endTokens` ends
 * them.
 * @returns how many sessions
 */
export const endAllAccess = async (em: EntityManager, userId: string, reason: SessionEnd): Promise<number> =>
  (await endOtherAccess(em, { user: { id: userId }, sessionId: null }, reason)).count;

/** How many sessions of a user ended, and the one that was kept; `null` if that one ended, too. */
export interface EndedOthers {
  count: number;
  kept: SessionToken | null;
}

/** Who acts on an account: its owner, with a session and a page's language, or an operator, who has neither. */
export interface Actor extends Author {
  user: Pick<User, "id">;
  sessionId: string | null;
  language?: Language;
}

/**
 * Ends every session of the user but one, and every unconfirmed change of the address: an ended session may have asked
 * for it. The kept session gets a new id and token: a copy of its cookie ends with the others. The caller holds the
 * user's row, as every sign-in does; otherwise both could deadlock. A logout, or a sign-in in the same browser, ends no
 * change: the owner may open the link on another device.
 *
 * @param began the way to sign in that goes: a session that began by it ends, too
 */
export async function endOtherAccess(
  em: EntityManager,
  kept: Pick<Actor, "user" | "sessionId">,
  reason: SessionEnd,
  began: { way: "provider" } | { credentialId: string } | null = null,
): Promise<EndedOthers> {
  const { id: userId } = kept.user;
  const endsAll = began !== null && (await em.count(Session, { id: kept.sessionId, ...began })) > 0;
  const sessionId = endsAll ? null : kept.sessionId;
  await endEmailChanges(em, { user: userId });
  const values = [userId, sessionId, ...livenessAt(new Date())];
  const ended = await preparedWithin<EndedSession>(em, "end-sessions-of-user", endOthers, values);
  reportEnds(em, reason, ended);
  return { count: ended.length, kept: sessionId === null ? null : await renewSession(em, userId, sessionId) };
}

export interface SessionToken {
  token: string;
  expiresAt: Date;
  /** With which the browser may bind the session to its device. */
  bindingChallenge?: string | undefined;
}

async function renewSession(em: EntityManager, userId: string, id: string): Promise<SessionToken | null> {
  const session = await em.findOne(Session, { id, user: userId, ...live() }, { disableIdentityMap: true });
  if (!session) return null;
  const token = mintToken();
  const newId = crypto.randomUUID();
  const key = session.key ?? id;
  await em.nativeUpdate(Session, { id }, { id: newId, key, tokenHash: sha256(token) });
  announceEnds(em, "renewed", [{ id, userId, isLive: true }]);
  return { token, expiresAt: session.expiresAt, bindingChallenge: await offerBinding(em, newId) };
}

const batch = 1_000; // sessions; requests that use one of them wait until the batch is committed

/**
 * Sessions that began with a longer `SESSION_MAX` end as early as new ones do. Locks the rows in the order of
 * `endOthers`.
 */
export async function capSessions(em: EntityManager): Promise<void> {
  const { max } = config().sessions;
  const longest = "created_at + ? * interval '1 ms'";
  const sql = `update sessions set expires_at = ${longest} where id = any(array(
    select id from sessions where expires_at > ${longest} order by id limit ${batch} for update))`;
  const capped = () => em.execute<{ affectedRows: number }>(sql, [max, max], "run");
  while ((await capped()).affectedRows === batch);
}

/** Changes nothing if there is no such session. */
export async function endAccessOfSession(em: EntityManager, userId: string, sessionId: string): Promise<number> {
  const values = [sessionId, userId, ...livenessAt(new Date())];
  const ended = await preparedWithin<EndedSession>(em, "end-session", endOne, values);
  if (ended.length > 0) await endEmailChanges(em, { user: userId });
  reportEnds(em, "ended_by_user", ended);
  return ended.length;
}

/** Locks the actor's user. `null` if the session has ended: a thief's late request must not succeed after a reset. */
export async function lockOwner(em: EntityManager, { user: { id }, sessionId }: Actor): Promise<User | null> {
  const user = await lockUser(em, { id });
  const isOwner = sessionId === null || (await em.count(Session, { id: sessionId, user: id, ...live() })) > 0;
  return isOwner ? user : null;
}

/** MikroORM's conditions for live sessions, and for all others. */
export const live = () => ({ [raw(liveSql, livenessAt(new Date()))]: [] });

export const livenessAt = (now: Date): [Date, Date] => [now, new Date(now.getTime() - idleLifetime())];

/** From the last use, in ms. */
export const idleLifetime = () => config().sessions.idle;
