import { query } from "./database.server";
import { Session } from "./entities";
import { logEvent } from "./log";
import { unexpired } from "./sessions";
import { hashToken } from "./tokens";

export type { Browser, NewSession } from "./sessions";

const touchInterval = 3_600_000; // ms between two writes of `last_seen_at`

/** A live session and its user, read in one statement. */
export interface SignedIn {
  sessionId: string;
  signedInAt: Date;
  user: {
    id: string;
    email: string;
    name: string | null;
    pictureUrl: string | null;
    hasPassword: boolean;
    isLinked: boolean;
  };
}

/** The live session of a cookie's token, seen now; `null` for every other token. */
export function resumeSession(token: string): Promise<SignedIn | null> {
  return query(async (em) => {
    const session = await em.findOne(
      Session,
      { tokenHash: await hashToken(token), ...unexpired() },
      { populate: ["user"], strategy: "joined" },
    );
    if (!session) return null;
    if (session.lastSeenAt.getTime() < Date.now() - touchInterval) {
      await em.nativeUpdate(Session, { id: session.id }, { lastSeenAt: new Date() });
    }
    const { id, email, name, pictureUrl, idpId, passwordHash } = session.user;
    return {
      sessionId: session.id,
      signedInAt: session.createdAt,
      user: {
        id,
        email,
        name: name ?? null,
        pictureUrl: pictureUrl ?? null,
        isLinked: idpId != null,
        hasPassword: passwordHash != null,
      },
    };
  });
}

export interface ActiveSession {
  id: string;
  userAgent: string | null;
  createdAt: Date;
  lastSeenAt: Date;
}

/** The user's live sessions, the last seen first. */
export function activeSessions(userId: string): Promise<ActiveSession[]> {
  return query(async (em) => {
    const orderBy = { lastSeenAt: "desc", createdAt: "desc" } as const;
    const sessions = await em.find(Session, { user: userId, ...unexpired() }, { orderBy });
    return sessions.map(({ id, userAgent, createdAt, lastSeenAt }) => ({
      id,
      userAgent: userAgent ?? null,
      createdAt,
      lastSeenAt,
    }));
  });
}

/** Ends the session of a cookie's token, if there is one. */
export async function endSessionOfToken(token: string): Promise<void> {
  const session = await query(async (em) => em.findOne(Session, { tokenHash: await hashToken(token) }));
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
