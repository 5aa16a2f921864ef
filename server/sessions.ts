import type { EntityManager } from "@mikro-orm/postgresql";
import { Session } from "./entities";
import { logEvent } from "./log";
import { hashToken, mintToken } from "./tokens";

const absoluteLifetime = 30 * 24 * 3_600_000; // ms, from the sign-in
const idleLifetime = 14 * 24 * 3_600_000; // ms, from the last use

/** The browser that signs in: what it calls itself, and the session cookie that it came with. */
export interface Browser {
  userAgent: string | null;
  sessionToken: string | null;
}

/** The raw token of a new session, for the cookie alone. */
export interface NewSession {
  token: string;
  expiresAt: Date;
  /** Whose session it replaces, if the browser came with one. */
  replacedUserId: string | null;
}

const idleSince = (now: Date) => new Date(now.getTime() - idleLifetime);

/** What a live session satisfies, in a statement whose $2 and $3 are `livingAt(now)`. */
export const isLive = "expires_at > $2 and last_seen_at > $3";
export const livingAt = (now: Date): [Date, Date] => [now, idleSince(now)];

/** What every other session satisfies. */
export function expired(now = new Date()) {
  return { $or: [{ expiresAt: { $lte: now } }, { lastSeenAt: { $lte: idleSince(now) } }] };
}

async function endReplaced(em: EntityManager, sessionToken: string): Promise<string | null> {
  const session = await em.findOne(Session, { tokenHash: hashToken(sessionToken) });
  const ended = session && (await em.nativeDelete(Session, { id: session.id }));
  return ended ? session.user.id : null;
}

/** A session that nobody has yet, and the token that only its cookie will hold. */
export function newSession(userAgent: string | null) {
  const token = mintToken();
  const now = new Date();
  const row = {
    id: crypto.randomUUID(),
    tokenHash: hashToken(token),
    userAgent: userAgent?.slice(0, 512) ?? null,
    createdAt: now,
    lastSeenAt: now,
    expiresAt: new Date(now.getTime() + absoluteLifetime),
  };
  return { token, row };
}

/** Starts a session with a token of its own and ends the one that the browser came with (session fixation). */
export async function startSession(em: EntityManager, userId: string, browser: Browser): Promise<NewSession> {
  const replacedUserId = browser.sessionToken ? await endReplaced(em, browser.sessionToken) : null;
  const { row, token } = newSession(browser.userAgent);
  await em.insert(Session, { ...row, user: userId });
  return { token, expiresAt: row.expiresAt, replacedUserId };
}

/** Logs what a sign-in ended, once that is committed. */
export function logReplaced({ replacedUserId }: NewSession): void {
  if (replacedUserId) logEvent("session.ended", { userId: replacedUserId, reason: "replaced", count: 1 });
}

/**
 * Ends every session of the user within the caller's transaction; returns how many. The caller holds the user's row,
 * as whoever starts a session does, or the two deadlock.
 */
export function endAllSessions(em: EntityManager, userId: string): Promise<number> {
  return em.nativeDelete(Session, { user: userId });
}
