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
  livenessAt,
  lockOwner,
  mostSessions,
} from "../../accounts/sessions/sessions";
import { shownPicture } from "../../accounts/users/changes";
import { config } from "../../config";
import { Session, User } from "../../database/entities";
import { prepared, query, unitOfWork } from "../../database/unit-of-work";
import { isLanguage } from "../../languages/languages";
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
}

export interface SignedIn {
  sessionId: string;
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
const liveSession = `
  select s.id as "sessionId", s.created_at as "createdAt", s.last_seen_at as "lastSeenAt",
    s.expires_at as "expiresAt",
    u.id, u.email, u.name, u.picture_url as "pictureUrl", u.groups,
    u.idp_groups as "idpGroups", u.idp_id as "idpId", u.idp_issuer as "idpIssuer",
    u.password_hash is not null as "hasPassword",
    u.idp_id is not null and coalesce(u.idp_issuer = ?, true) as "isLinked",
    u.idp_questioned_at is not null as "isLinkQuestioned"
  from sessions s join users u on u.id = s.user_id
  where s.token_hash = ? and ${isLive}`;

/** Times are as PostgreSQL writes them. */
type LiveSession = SignedInUser &
  Pick<User, "idpGroups" | "idpId" | "idpIssuer"> &
  Record<"sessionId" | "createdAt" | "lastSeenAt" | "expiresAt", string>;

/** The live session of a cookie's token, which counts as used now; `null` for every other token. */
export async function resumeSession(token: string): Promise<SignedIn | null> {
  const now = new Date();
  const values = [configuredIssuer(), sha256(token), ...livenessAt(now)];
  const [row] = await prepared<LiveSession>("live-session", liveSession, values);
  if (!row) return null;
  const { sessionId, createdAt, lastSeenAt, expiresAt, idpGroups, idpId, idpIssuer, ...user } = row;
  let lastSeen = Date.parse(lastSeenAt);
  if (lastSeen < now.getTime() - Math.min(longestSeenInterval, idleLifetime() / 12)) {
    await query((em) => em.nativeUpdate(Session, { id: sessionId }, { lastSeenAt: now }));
    lastSeen = now.getTime();
  }
  return {
    sessionId,
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

// Without MikroORM, which was a sixth of a signed-in page's CPU for this list (profile of W5, docs/performance.md).
const liveSessions = `
  select id, user_agent as "userAgent", created_at as "createdAt", last_seen_at as "lastSeenAt"
  from sessions where user_id = ? and ${isLive}
  order by last_seen_at desc, created_at desc limit ?`;

type ListedSession = { userAgent: string | null } & Record<"id" | "createdAt" | "lastSeenAt", string>;

export async function activeSessions(userId: string) {
  const values = [userId, ...livenessAt(new Date()), mostSessions];
  const rows = await prepared<ListedSession>("live-sessions", liveSessions, values);
  return rows.map((row) => ({ ...row, createdAt: new Date(row.createdAt), lastSeenAt: new Date(row.lastSeenAt) }));
}

export async function logOut(tokens: string[]): Promise<void> {
  await query((em) => endSessionsOfTokens(em, tokens));
}

/** Ends one session of the owner. @returns how many ended; `null`, and nothing changed, if the actor's has ended */
export const endSession = (owner: Actor, sessionId: string): Promise<number | null> =>
  unitOfWork(async (em) => (await lockOwner(em, owner)) && endOneSession(em, owner.userId, sessionId));

/** Ends every session of the user but the actor's. @returns `null`, and nothing changed, when that one has ended */
export function endOtherSessions(actor: Actor): Promise<EndedOthers | null> {
  return unitOfWork(async (em) => {
    const user = await lockOwner(em, actor);
    if (!user) return null;
    if (actor.language) user.language = actor.language;
    const reason = actor.sessionId === null ? "ended_by_operator" : "ended_by_user";
    return endSessionsExcept(em, actor, reason);
  });
}

/** Ends the sessions of every account. @returns how many there were */
export const endEverySession = (): Promise<number> => unitOfWork(endSessionsOfAll);

/** The language of the owner's notices from now on. */
export async function setNoticeLanguage(userId: string, language: string): Promise<void> {
  if (isLanguage(language)) await query((em) => em.nativeUpdate(User, { id: userId }, { language }));
}
