import { prepared, query } from "./database.server";
import { Session } from "./entities";
import { logEvent } from "./log";
import { isLive, livingAt } from "./sessions";
import { hashToken } from "./tokens";

export type { Browser, NewSession } from "./sessions";

const touchInterval = 3_600_000; // ms between two writes of `last_seen_at`

interface SignedInUser {
  id: string;
  email: string;
  name: string | null;
  pictureUrl: string | null;
  hasPassword: boolean;
  isLinked: boolean;
}

/** A live session and its user, read in one statement. */
export interface SignedIn {
  sessionId: string;
  signedInAt: Date;
  user: SignedInUser;
}

const liveSession = `
  select s.id as "sessionId", s.created_at as "createdAt", s.last_seen_at as "lastSeenAt",
    u.id, u.email, u.name, u.picture_url as "pictureUrl",
    u.password_hash is not null as "hasPassword", u.idp_id is not null as "isLinked"
  from sessions s join users u on u.id = s.user_id
  where s.token_hash = $1 and ${isLive}`;

/** The live session of a cookie's token, seen now; `null` for every other token. */
export async function resumeSession(token: string): Promise<SignedIn | null> {
  const now = new Date();
  const [row] = await prepared<SignedInUser & { sessionId: string; createdAt: string; lastSeenAt: string }>(
    "live-session",
    liveSession,
    [hashToken(token), ...livingAt(now)],
  );
  if (!row) return null;
  const { sessionId, createdAt, lastSeenAt, ...user } = row;
  if (Date.parse(lastSeenAt) < now.getTime() - touchInterval) {
    await query((em) => em.nativeUpdate(Session, { id: sessionId }, { lastSeenAt: now }));
  }
  return { sessionId, signedInAt: new Date(createdAt), user };
}

export interface ActiveSession {
  id: string;
  userAgent: string | null;
  createdAt: Date;
  lastSeenAt: Date;
}

const liveSessions = `
  select id, user_agent as "userAgent", created_at as "createdAt", last_seen_at as "lastSeenAt"
  from sessions
  where user_id = $1 and ${isLive}
  order by last_seen_at desc, created_at desc`;

/** The user's live sessions, the last seen first. */
export async function activeSessions(userId: string): Promise<ActiveSession[]> {
  const rows = await prepared<Pick<ActiveSession, "id" | "userAgent"> & { createdAt: string; lastSeenAt: string }>(
    "live-sessions",
    liveSessions,
    [userId, ...livingAt(new Date())],
  );
  return rows.map((row) => ({ ...row, createdAt: new Date(row.createdAt), lastSeenAt: new Date(row.lastSeenAt) }));
}

/** Ends the session of a cookie's token, if there is one. */
export async function endSessionOfToken(token: string): Promise<void> {
  const session = await query((em) => em.findOne(Session, { tokenHash: hashToken(token) }));
  if (session) await endSession(session.user.id, session.id, "logout");
}

/** Ends one session of the user; somebody else's stays. */
export async function endSession(userId: string, sessionId: string, reason = "ended_by_user"): Promise<boolean> {
  const ended = await query((em) => em.nativeDelete(Session, { id: sessionId, user: userId }));
  if (ended > 0) logEvent("session.ended", { userId, reason, count: ended });
  return ended > 0;
}

/** Ends every session of the user but `keptSessionId`; returns how many. */
export async function endOtherSessions(userId: string, keptSessionId: string): Promise<number> {
  const ended = await query((em) => em.nativeDelete(Session, { user: userId, id: { $ne: keptSessionId } }));
  if (ended > 0) logEvent("session.ended", { userId, reason: "ended_by_user", count: ended });
  return ended;
}
