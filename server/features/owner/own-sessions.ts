import { countTokens, endTokens } from "../../accounts/access-tokens/access-tokens";
import {
  type Actor,
  type EndedOthers,
  endAccessOfSession,
  endOtherAccess,
  endSessionsOfTokens,
  live,
  livenessAt,
  liveSql,
  lockOwner,
  lockUsersOfTokens,
} from "../../accounts/sessions/sessions";
import { noteLanguage } from "../../accounts/users/changes";
import { record } from "../../accounts/users/history";
import { config } from "../../config";
import { Session, SessionBinding, User } from "../../database/entities";
import { prepared } from "../../database/prepared";
import { query, unitOfWork } from "../../database/unit-of-work";
import { isLanguage } from "../../languages/languages";
import { maxSessions } from "../../rules";

export type { EndedOthers, NewSession, SessionToken } from "../../accounts/sessions/sessions";

const sessionsOfUser = `
  select id, user_agent as "userAgent", created_at as "createdAt", last_seen_at as "lastSeenAt",
    expires_at as "expiresAt",
    ? and exists (select from session_bindings b where b.session_id = sessions.id and b.bound_from <= ?) as "isBound"
  from sessions where user_id = ? and ${liveSql}
  order by last_seen_at desc, created_at desc limit ?`;

type ListedSession = { userAgent: string | null; isBound: boolean } & Record<
  "id" | "createdAt" | "lastSeenAt" | "expiresAt",
  string
>;

export async function activeSessions(userId: string) {
  const now = new Date();
  const values = [config().deviceBoundSessions, now, userId, ...livenessAt(now), maxSessions];
  const rows = await prepared<ListedSession>("live-sessions", sessionsOfUser, values);
  return rows.map(({ createdAt, lastSeenAt, expiresAt, ...row }) => ({
    ...row,
    createdAt: new Date(createdAt),
    lastSeenAt: new Date(lastSeenAt),
    expiresAt: new Date(expiresAt),
  }));
}

/** The live sessions, for the metrics. */
export async function countSessions(): Promise<{ bound: number; unbound: number }> {
  const [all, bound] = await query(async (em) => {
    const bindings = { boundFrom: { $lte: new Date() }, session: live() };
    return [await em.count(Session, live()), await em.count(SessionBinding, bindings)];
  });
  return { bound, unbound: all - bound };
}

/** One statement. With `WEBHOOK_SESSIONS`, the users are locked first: the webhooks of a user have an order. */
export function logOut(tokens: string[]): Promise<void> {
  if (!config().webhook?.sessions) return query((em) => endSessionsOfTokens(em, tokens));
  return unitOfWork(async (em) => {
    await lockUsersOfTokens(em, tokens);
    await endSessionsOfTokens(em, tokens);
  });
}

/** Ends one session of the owner. @returns how many ended; `null`, and nothing changed, if the actor's has ended */
export const endSession = (owner: Actor, sessionId: string): Promise<number | null> =>
  unitOfWork(async (em) => {
    const user = await lockOwner(em, owner);
    if (!user) return null;
    const ended = await endAccessOfSession(em, user.id, sessionId);
    if (ended === 0) return ended;
    noteLanguage(user, owner);
    await record(em, [user.id], owner, { type: "session.ended", detail: "ended_by_user" });
    return ended;
  });

/**
 * Ends every session of the user but the actor's; an operator ends the access tokens, too.
 * @returns with the number of access tokens that go on; `null`, and nothing changed, when the actor's session has ended
 */
export const endOtherSessions = (actor: Actor): Promise<(EndedOthers & { tokens: number }) | null> =>
  unitOfWork(async (em) => {
    const user = await lockOwner(em, actor);
    if (!user) return null;
    noteLanguage(user, actor);
    if (actor.sessionId === null) await endTokens(em, user.id);
    const reason = actor.sessionId === null ? "ended_by_operator" : "ended_by_user";
    const ended = await endOtherAccess(em, actor, reason);
    if (ended.count > 0) await record(em, [user.id], actor, { type: "session.ended", detail: reason });
    return { ...ended, tokens: await countTokens(em, user.id) };
  });

/** The language of the owner's notices from now on. */
export async function setNoticeLanguage(userId: string, language: string): Promise<void> {
  if (isLanguage(language)) await query((em) => em.nativeUpdate(User, { id: userId }, { language }));
}
