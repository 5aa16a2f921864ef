import {
  type Actor,
  type EndedOthers,
  endAccessOfSession,
  endOtherAccess,
  endSessionsOfTokens,
  isLive,
  live,
  livenessAt,
  lockOwner,
  mostSessions,
} from "../../accounts/sessions/sessions";
import { record } from "../../accounts/users/history";
import { config } from "../../config";
import { Session, SessionBinding, User } from "../../database/entities";
import { prepared, query, unitOfWork } from "../../database/unit-of-work";
import { isLanguage } from "../../languages/languages";

export type { EndedOthers, NewSession, SessionToken } from "../../accounts/sessions/sessions";

// Without MikroORM, which was a sixth of a signed-in page's CPU for this list (profile of W5, docs/performance.md).
const liveSessionsWith = (isBound: string) => `
  select id, user_agent as "userAgent", created_at as "createdAt", last_seen_at as "lastSeenAt", ${isBound} as "isBound"
  from sessions where user_id = ? and ${isLive}
  order by last_seen_at desc, created_at desc limit ?`;

const liveSessions = liveSessionsWith("false");
const boundLiveSessions = liveSessionsWith(
  "exists (select from session_bindings b where b.session_id = sessions.id and b.bound_from <= ?)",
);

type ListedSession = { userAgent: string | null; isBound: boolean } & Record<"id" | "createdAt" | "lastSeenAt", string>;

export async function activeSessions(userId: string) {
  const now = new Date();
  const values = [userId, ...livenessAt(now), mostSessions];
  const rows = config().deviceBoundSessions
    ? await prepared<ListedSession>("bound-live-sessions", boundLiveSessions, [now, ...values])
    : await prepared<ListedSession>("live-sessions", liveSessions, values);
  return rows.map((row) => ({ ...row, createdAt: new Date(row.createdAt), lastSeenAt: new Date(row.lastSeenAt) }));
}

/** The live sessions, for the metrics. */
export async function countSessions(): Promise<{ bound: number; unbound: number }> {
  const [all, bound] = await query(async (em) => {
    const bindings = { boundFrom: { $lte: new Date() }, session: live() };
    return [await em.count(Session, live()), await em.count(SessionBinding, bindings)];
  });
  return { bound, unbound: all - bound };
}

export async function logOut(tokens: string[]): Promise<void> {
  await query((em) => endSessionsOfTokens(em, tokens));
}

/** Ends one session of the owner. @returns how many ended; `null`, and nothing changed, if the actor's has ended */
export const endSession = (owner: Actor, sessionId: string): Promise<number | null> =>
  unitOfWork(async (em) => {
    if (!(await lockOwner(em, owner))) return null;
    const ended = await endAccessOfSession(em, owner.user.id, sessionId);
    if (ended > 0) await record(em, [owner.user.id], owner, { type: "session.ended", detail: "ended_by_user" });
    return ended;
  });

/** Ends every session of the user but the actor's. @returns `null`, and nothing changed, when that one has ended */
export const endOtherSessions = (actor: Actor): Promise<EndedOthers | null> =>
  unitOfWork(async (em) => {
    const user = await lockOwner(em, actor);
    if (!user) return null;
    if (actor.language) user.language = actor.language;
    const reason = actor.sessionId === null ? "ended_by_operator" : "ended_by_user";
    const ended = await endOtherAccess(em, actor, reason);
    if (ended.count > 0) await record(em, [user.id], actor, { type: "session.ended", detail: reason });
    return ended;
  });

/** The language of the owner's notices from now on. */
export async function setNoticeLanguage(userId: string, language: string): Promise<void> {
  if (isLanguage(language)) await query((em) => em.nativeUpdate(User, { id: userId }, { language }));
}
