import { sha256 } from "../../accounts/links/tokens";
import { configuredIssuer, groupsOf } from "../../accounts/provider/provider-identities";
import {
  type Actor,
  type EndedOthers,
  endOneSession,
  endSessionsExcept,
  endSessionsOfAll,
  endSessionsOfTokens,
  idleLifetime,
  isLive,
  live,
  livenessAt,
  lockOwner,
  mostSessions,
} from "../../accounts/sessions/sessions";
import { shownPicture } from "../../accounts/users/changes";
import { record } from "../../accounts/users/history";
import { config } from "../../config";
import { Session, SessionBinding, User } from "../../database/entities";
import { prepared, query, unitOfWork } from "../../database/unit-of-work";
import { isLanguage } from "../../languages/languages";
import { logEvent } from "../../log";
import type { Visitor } from "../../visitor";

export { browserName } from "../../accounts/sessions/devices";
export type { EndedOthers, NewSession, SessionToken } from "../../accounts/sessions/sessions";

const longestSeenInterval = 3_600_000; // ms between two writes of `last_seen_at`, or a twelfth of the idle lifetime

interface SignedInUser {
  id: string;
  email: string;
  name: string | null;
  /** An https URL; `null` for any other. */
  pictureUrl: string | null;
  /** Sorted. */
  groups: string[];
  hasPassword: boolean;
  /** Whether the user has an id of the configured provider, or of any provider when external sign-in is off. */
  isLinked: boolean;
  /** Whether the account page asks if the provider's link is the owner's. */
  isLinkQuestioned: boolean;
  /** Whether mails to the address are known not to arrive. */
  isUndeliverable: boolean;
}

export interface SignedIn {
  sessionId: string;
  /** Stays when the session gets another id. */
  sessionKey: string;
  signedInAt: Date;
  expiresAt: Date;
  user: SignedInUser;
}

/** A signed-in visitor who acts on the account. */
export interface Owner extends Visitor, SignedIn {
  userId: string;
}

// Without MikroORM, which was 27 % of a signed-in page's CPU (profile of W5, docs/performance.md): every request of a
// signed-in browser runs this statement.
const liveSessionWith = (columns: string, join: string) => `
  select ${columns} s.id as "sessionId", coalesce(s.key, s.id) as "sessionKey", s.created_at as "createdAt", s.last_seen_at as "lastSeenAt",
    s.expires_at as "expiresAt",
    u.id, u.email, u.name, u.picture_url as "pictureUrl", u.groups,
    u.idp_groups as "idpGroups", u.idp_id as "idpId", u.idp_issuer as "idpIssuer",
    u.password_hash is not null as "hasPassword",
    u.idp_id is not null and coalesce(u.idp_issuer = ?, true) as "isLinked",
    u.idp_questioned_at is not null as "isLinkQuestioned", u.undeliverable_at is not null as "isUndeliverable"
  from sessions s join users u on u.id = s.user_id ${join}
  where s.token_hash = ? and ${isLive}`;

const liveSession = liveSessionWith("", "");

// One statement, as without binding: /auth/verify runs it, too.
const boundLiveSession = liveSessionWith(
  `b.bound_from <= ? and not exists (
    select from jsonb_array_elements(b.cookies) c where c->>'hash' = ? and (c->>'until')::bigint > ?) as "isRefused",`,
  "left join session_bindings b on b.session_id = s.id",
);

/** Times are as PostgreSQL writes them. */
type LiveSession = SignedInUser &
  Pick<User, "idpGroups" | "idpId" | "idpIssuer"> &
  Record<"sessionId" | "sessionKey" | "createdAt" | "lastSeenAt" | "expiresAt", string> & {
    isRefused?: boolean | null;
  };

/**
 * The live session of a cookie's token, which counts as used now; `null` for every other token. `not_bound`: the session
 * is bound to its device, and the bound cookie's token is none of its own.
 */
export async function resumeSession(
  token: string,
  boundToken: string | null = null,
): Promise<SignedIn | "not_bound" | null> {
  const now = new Date();
  const values = [configuredIssuer(), sha256(token), ...livenessAt(now)];
  const bound = [now, sha256(boundToken ?? ""), now.getTime()];
  const [row] = config().deviceBoundSessions
    ? await prepared<LiveSession>("bound-live-session", boundLiveSession, [...bound, ...values])
    : await prepared<LiveSession>("live-session", liveSession, values);
  if (!row) return null;
  const { sessionId, sessionKey, createdAt, lastSeenAt, expiresAt, isRefused, idpGroups, idpId, idpIssuer, ...user } =
    row;
  if (isRefused) {
    await logRefusal(sessionId, user.id);
    return "not_bound";
  }
  let lastSeen = Date.parse(lastSeenAt);
  if (lastSeen < now.getTime() - Math.min(longestSeenInterval, idleLifetime() / 12)) {
    await query((em) => em.nativeUpdate(Session, { id: sessionId }, { lastSeenAt: now }));
    lastSeen = now.getTime();
  }
  return {
    sessionId,
    sessionKey,
    signedInAt: new Date(createdAt),
    expiresAt: new Date(Math.min(Date.parse(expiresAt), lastSeen + idleLifetime())),
    user: {
      ...user,
      groups: groupsOf(row),
      hasPassword: user.hasPassword && config().passwords.on,
      pictureUrl: shownPicture(user.pictureUrl),
    },
  };
}

const refusalInterval = 60_000; // ms between two lines about a session

async function logRefusal(session: string, userId: string): Promise<void> {
  const refusedAt = new Date();
  const isDue = { $or: [{ refusedAt: null }, { refusedAt: { $lte: new Date(Date.now() - refusalInterval) } }] };
  const due = await query((em) => em.nativeUpdate(SessionBinding, { session, ...isDue }, { refusedAt }));
  if (due > 0) logEvent({ event: "session.refused", reason: "not_bound", userId });
}

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
    const ended = await endOneSession(em, owner.userId, sessionId);
    if (ended > 0) await record(em, [owner.userId], owner, { type: "session.ended", detail: "ended_by_user" });
    return ended;
  });

/** Ends every session of the user but the actor's. @returns `null`, and nothing changed, when that one has ended */
export function endOtherSessions(actor: Actor): Promise<EndedOthers | null> {
  return unitOfWork(async (em) => {
    const user = await lockOwner(em, actor);
    if (!user) return null;
    if (actor.language) user.language = actor.language;
    const reason = actor.sessionId === null ? "ended_by_operator" : "ended_by_user";
    const ended = await endSessionsExcept(em, actor, reason);
    if (ended.count > 0) await record(em, [user.id], actor, { type: "session.ended", detail: reason });
    return ended;
  });
}

/** Ends the sessions of every account. @returns how many there were */
export const endEverySession = (): Promise<number> => unitOfWork(endSessionsOfAll);

/** The language of the owner's notices from now on. */
export async function setNoticeLanguage(userId: string, language: string): Promise<void> {
  if (isLanguage(language)) await query((em) => em.nativeUpdate(User, { id: userId }, { language }));
}
