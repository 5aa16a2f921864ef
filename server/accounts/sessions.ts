import { type EntityManager, raw } from "@mikro-orm/postgresql";
import { Session } from "../database/entities";
import { preparedWithin } from "../database/unit-of-work";
import type { SessionEnd } from "../events";
import { logEvent } from "../log";
import { endEmailChanges } from "./email-changes";
import { keepMostRecent } from "./most-recent";
import { mintToken, sha256 } from "./tokens";

const day = 24 * 3_600_000; // ms
const absoluteLifetime = 30 * day; // from the sign-in
const idleLifetime = 14 * day; // from the last use

/** How many sessions a user may have. */
export const mostSessions = 50;

/** What a sign-in knows of the browser. */
export interface Browser {
  userAgent: string | null;
  /** The tokens of the session cookies that it came with: several where a sibling host has planted one. */
  sessionTokens: string[];
}

export interface NewSession {
  /** The raw token, which only the cookie holds. */
  token: string;
  expiresAt: Date;
  userId: string;
  /** The users of the sessions that the browser came with, one for each session. */
  replacedUserIds: string[];
  /** How many of the user's sessions ended because there were too many. */
  endedCount: number;
}

/** A sign-in that leaves a device behind. */
export interface DeviceSignIn {
  session: NewSession;
  /** The raw token of the browser's device, which only the cookie holds. */
  deviceToken: string;
}

/** The condition for a live session; its values are those of `livenessAt`. */
export const isLive = "expires_at > ? and last_seen_at > ?";

export const livenessAt = (now: Date): [Date, Date] => [now, new Date(now.getTime() - idleLifetime)];

/** MikroORM's condition for live sessions. */
export const live = (now = new Date()) => ({ [raw(isLive, livenessAt(now))]: [] });

/** MikroORM's condition for all other sessions. */
export const notLive = (now = new Date()) => ({ [raw(`not (${isLive})`, livenessAt(now))]: [] });

const ofTokens = "token_hash = any(?::text[])";
const ofUserExcept = "user_id = ? and id is distinct from ?::uuid";

// The rows are locked in one order: two transactions that end the same sessions in two orders would deadlock. By MikroORM,
// which needs two statements for that, ending a session takes 3.1 ms of CPU, and this statement 0.35 ms.
const end = (condition: string) => `
  delete from sessions where id in (select id from sessions where ${condition} order by id for update)
  returning user_id`;

/**
 * Ends the sessions of the tokens of cookies.
 *
 * @returns the user of each session that there was
 */
export async function endSessionsOfTokens(em: EntityManager, tokens: string[]): Promise<string[]> {
  if (tokens.length === 0) return [];
  const hashes = tokens.map(sha256);
  const ended = await preparedWithin<{ user_id: string }>(em, "end-sessions-of-tokens", end(ofTokens), [hashes]);
  return ended.map(({ user_id }) => user_id);
}

/**
 * Starts a session with a new token, ends those that the browser came with (session fixation), and those beyond the
 * most that a user may have. The caller holds the user's row: of two sign-ins at once neither would see the other's.
 */
export async function startSession(em: EntityManager, userId: string, browser: Browser): Promise<NewSession> {
  const replacedUserIds = await endSessionsOfTokens(em, browser.sessionTokens);
  const token = mintToken();
  const now = new Date();
  const expiresAt = new Date(now.getTime() + absoluteLifetime);
  const id = crypto.randomUUID();
  await em.insert(Session, {
    id,
    tokenHash: sha256(token),
    user: userId,
    userAgent: browser.userAgent?.slice(0, 512) ?? null,
    createdAt: now,
    lastSeenAt: now,
    expiresAt,
  });
  const endedCount = await keepMostRecent(em, "sessions", userId, id, mostSessions);
  return { token, expiresAt, userId, replacedUserIds, endedCount };
}

/** Logs how many sessions of a user ended, if any. Called after the commit. */
export function logSessionEnd(userId: string, reason: SessionEnd, count: number): void {
  if (count > 0) logEvent({ event: "session.ended", userId, reason, count });
}

/** Logs the sessions that a sign-in ended. Called after the commit. */
export function logEndedSessions({ userId, replacedUserIds, endedCount }: NewSession): void {
  for (const replacedUserId of replacedUserIds) logSessionEnd(replacedUserId, "replaced", 1);
  logSessionEnd(userId, "too_many", endedCount);
}

/**
 * Ends every session of the user but one, or every one, within the caller's transaction. The caller holds the user's row,
 * as every sign-in does; otherwise both could deadlock. Every unconfirmed change of the address ends too: one of these
 * sessions may have asked for it, and its link would still take the account. A logout and a sign-in in the same browser
 * leave it: the owner may open the link on another device.
 *
 * @returns how many sessions there were
 */
export async function endSessionsExcept(em: EntityManager, userId: string, sessionId: string | null): Promise<number> {
  await endEmailChanges(em, { user: userId });
  const ended = await preparedWithin(em, "end-sessions-of-user", end(ofUserExcept), [userId, sessionId]);
  return ended.length;
}

/** Ends every session of the user; see {@link endSessionsExcept}. */
export function endAllSessions(em: EntityManager, userId: string): Promise<number> {
  return endSessionsExcept(em, userId, null);
}

/** Ends one session of the user; see {@link endSessionsExcept}. Without such a session nothing changes. */
export async function endOneSession(em: EntityManager, userId: string, sessionId: string): Promise<number> {
  const ended = await em.nativeDelete(Session, { id: sessionId, user: userId });
  if (ended > 0) await endEmailChanges(em, { user: userId });
  return ended;
}
