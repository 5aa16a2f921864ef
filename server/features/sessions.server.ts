import type { EntityManager } from "@mikro-orm/postgresql";
import { type Actor, lockOwner, type Owner } from "../accounts/owners";
import { configuredIssuer } from "../accounts/provider-identities";
import {
  endOneSession,
  endSessionsExcept,
  endSessionsOfTokens,
  isLive,
  livenessAt,
  logSessionEnd,
  mostSessions,
} from "../accounts/sessions";
import { sha256 } from "../accounts/tokens";
import { config } from "../config";
import { Session } from "../database/entities";
import { prepared, query, unitOfWork } from "../database/unit-of-work";

export { browserName } from "../accounts/browser-name";
export type { Browser, NewSession } from "../accounts/sessions";

/** The domain of the session cookie; `null`: it belongs to this host alone. */
export const sessionDomain = (): string | null => config().sessionDomain;

const seenInterval = 3_600_000; // ms between two writes of `last_seen_at`

interface SignedInUser {
  id: string;
  email: string;
  name: string | null;
  /** An https URL; `null` for any other: the provider chose it, and pages and applications show it. */
  pictureUrl: string | null;
  hasPassword: boolean;
  /** Whether the user has an id of the configured provider, or of any provider when external sign-in is off. */
  isLinked: boolean;
}

/** A live session and its user. */
export interface SignedIn {
  sessionId: string;
  signedInAt: Date;
  /** When it ends at the latest. */
  expiresAt: Date;
  user: SignedInUser;
}

// Without MikroORM, which was 27 % of a signed-in page's CPU (profile of W5, docs/performance.md): every request of a
// signed-in browser runs this statement.
const liveSession = `
  select s.id as "sessionId", s.created_at as "createdAt", s.last_seen_at as "lastSeenAt",
    s.expires_at as "expiresAt",
    u.id, u.email, u.name, u.picture_url as "pictureUrl",
    u.password_hash is not null as "hasPassword",
    u.idp_id is not null and coalesce(u.idp_issuer = ?, true) as "isLinked"
  from sessions s join users u on u.id = s.user_id
  where s.token_hash = ? and ${isLive}`;

interface LiveSession extends SignedInUser {
  sessionId: string;
  createdAt: string;
  lastSeenAt: string;
  expiresAt: string;
}

/** The live session of a cookie's token, which counts as used now; `null` for every other token. */
export async function resumeSession(token: string): Promise<SignedIn | null> {
  const now = new Date();
  const values = [configuredIssuer(), sha256(token), ...livenessAt(now)];
  const [row] = await prepared<LiveSession>("live-session", liveSession, values);
  if (!row) return null;
  const { sessionId, createdAt, lastSeenAt, expiresAt, ...user } = row;
  if (Date.parse(lastSeenAt) < now.getTime() - seenInterval) {
    await query((em) => em.nativeUpdate(Session, { id: sessionId }, { lastSeenAt: now }));
  }
  const pictureUrl = user.pictureUrl?.startsWith("https://") ? user.pictureUrl : null;
  return {
    sessionId,
    signedInAt: new Date(createdAt),
    expiresAt: new Date(expiresAt),
    user: { ...user, pictureUrl },
  };
}

// Without MikroORM, which was a sixth of a signed-in page's CPU for this list (profile of W5, docs/performance.md).
const liveSessions = `
  select id, user_agent as "userAgent", created_at as "createdAt", last_seen_at as "lastSeenAt"
  from sessions where user_id = ? and ${isLive}
  order by last_seen_at desc, created_at desc limit ?`;

export interface ActiveSession {
  id: string;
  userAgent: string | null;
  createdAt: Date;
  lastSeenAt: Date;
}

/** Moments as PostgreSQL writes them. */
type ActiveSessionRow = Omit<ActiveSession, "createdAt" | "lastSeenAt"> & { createdAt: string; lastSeenAt: string };

/** The user's live sessions, the last seen first. */
export async function activeSessions(userId: string): Promise<ActiveSession[]> {
  const values = [userId, ...livenessAt(new Date()), mostSessions];
  const rows = await prepared<ActiveSessionRow>("live-sessions", liveSessions, values);
  return rows.map(({ createdAt, lastSeenAt, ...session }) => ({
    ...session,
    createdAt: new Date(createdAt),
    lastSeenAt: new Date(lastSeenAt),
  }));
}

/** Ends the sessions of the tokens of a browser's cookies. */
export async function logOut(tokens: string[]): Promise<void> {
  const userIds = await query((em) => endSessionsOfTokens(em, tokens));
  for (const userId of userIds) logSessionEnd(userId, "logout", 1);
}

/**
 * Ends sessions of the actor's user.
 *
 * @returns how many there were; `null`, and nothing changed, when the actor's own has ended by now: a thief's late request
 * must not end the session that the owner started after a reset
 */
async function endSessions(actor: Actor, end: (em: EntityManager) => Promise<number>): Promise<number | null> {
  const ended = await unitOfWork(async (em) => {
    return (await lockOwner(em, actor)) ? end(em) : null;
  });
  const reason = actor.sessionId === null ? "ended_by_operator" : "ended_by_user";
  if (ended !== null) logSessionEnd(actor.userId, reason, ended);
  return ended;
}

/** Ends one session of the owner. */
export const endSession = (owner: Owner, sessionId: string) =>
  endSessions(owner, (em) => endOneSession(em, owner.userId, sessionId));

/** Ends every session of the user but the actor's. */
export const endOtherSessions = (actor: Actor) =>
  endSessions(actor, (em) => endSessionsExcept(em, actor.userId, actor.sessionId));
