import { groupsOf } from "../../accounts/groups/membership";
import { isLinked } from "../../accounts/provider/provider-identities";
import { idleLifetime, livenessAt, liveSql } from "../../accounts/sessions/sessions";
import { shownPicture } from "../../accounts/users/changes";
import { config } from "../../config";
import { sha256 } from "../../crypto/tokens";
import { type Issued, Session, SessionBinding, type User } from "../../database/entities";
import { preparedWithin } from "../../database/prepared";
import { sharedStatement } from "../../database/shared-statement";
import { translateConnectionErrors } from "../../database/unavailable";
import { orm, query } from "../../database/unit-of-work";
import { logEvent } from "../../log";
import type { Visitor } from "../../visitor/visitor";

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
  /** Whether the user has an id of the configured provider. */
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
export type Owner = Visitor & SignedIn;

/**
 * The live session of a cookie's token, which counts as used now; `null` for every other token. `not_bound`: the
 * session is bound to its device, and the bound cookie's token is none of its own.
 */
export async function resumeSession(token: string, boundToken: string | null): Promise<SignedIn | "not_bound" | null> {
  const now = new Date();
  const row = await translateConnectionErrors(() => sessions.load(token));
  if (!row) return null;
  const { sessionId, sessionKey } = row;
  if (isRefused(row, boundToken, now)) {
    await logRefusal(sessionId, row.id);
    return "not_bound";
  }
  let lastSeen = Date.parse(row.lastSeenAt);
  if (lastSeen < now.getTime() - Math.min(longestSeenInterval, idleLifetime() / 12)) {
    await query((em) => em.nativeUpdate(Session, { id: sessionId }, { lastSeenAt: now }));
    lastSeen = now.getTime();
  }
  const { id, email, name, isLinkQuestioned, isUndeliverable } = row;
  return {
    sessionId,
    sessionKey,
    signedInAt: new Date(row.createdAt),
    expiresAt: new Date(Math.min(Date.parse(row.expiresAt), lastSeen + idleLifetime())),
    user: {
      id,
      email,
      name,
      pictureUrl: shownPicture(row.pictureUrl),
      groups: groupsOf(row),
      hasPassword: row.hasPassword && config().passwords.on,
      isLinked: isLinked(row),
      isLinkQuestioned,
      isUndeliverable,
    },
  };
}

// `any((select …)::text[])`: PostgreSQL plans once, because its planner does not know the length of that array. It
// expects a cheaper plan for each new length of a parameter.
// As JSON: node-postgres takes longer for each column (0.92 of the rate of /auth/verify at one connection).
const sessionsOfTokens = `
  select to_json(live) as session from (
    select s.token_hash as "tokenHash", s.id as "sessionId", coalesce(s.key, s.id) as "sessionKey",
      s.created_at as "createdAt", s.last_seen_at as "lastSeenAt", s.expires_at as "expiresAt",
      u.id, u.email, u.name, u.picture_url as "pictureUrl", u.groups,
      u.idp_groups as "idpGroups", u.idp_id as "idpId", u.idp_issuer as "idpIssuer",
      u.password_hash is not null as "hasPassword",
      u.idp_questioned_at is not null as "isLinkQuestioned", u.undeliverable_at is not null as "isUndeliverable",
      b.bound_from as "boundFrom", b.cookies as "boundCookies"
    from sessions s join users u on u.id = s.user_id
    left join session_bindings b on b.session_id = s.id and ?
    where s.token_hash = any((select ?::text[])::text[]) and ${liveSql}
  ) as live`;

/** Times are as PostgreSQL writes them in JSON. */
type LiveSession = Omit<SignedInUser, "isLinked"> &
  Pick<User, "idpGroups" | "idpId" | "idpIssuer"> &
  Record<"tokenHash" | "sessionId" | "sessionKey" | "createdAt" | "lastSeenAt" | "expiresAt", string> & {
    /** `null`: bound to no device. */
    boundFrom: string | null;
    boundCookies: Issued[] | null;
  };

const sessions = sharedStatement(async (hashes) => {
  const values = [config().deviceBoundSessions, hashes, ...livenessAt(new Date())];
  const rows = await preparedWithin<{ session: LiveSession }>(
    orm().em,
    "live-sessions-of-tokens",
    sessionsOfTokens,
    values,
  );
  return rows.map(({ session }) => session);
});

function isRefused({ boundFrom, boundCookies }: LiveSession, boundToken: string | null, now: Date): boolean {
  if (boundFrom === null || Date.parse(boundFrom) > now.getTime()) return false;
  const sent = boundToken === null ? null : sha256(boundToken);
  return !boundCookies?.some(({ hash, until }) => hash === sent && until > now.getTime());
}

const refusalInterval = 60_000; // ms between two lines about a session

async function logRefusal(session: string, userId: string): Promise<void> {
  const refusedAt = new Date();
  const isDue = { $or: [{ refusedAt: null }, { refusedAt: { $lte: new Date(Date.now() - refusalInterval) } }] };
  const due = await query((em) => em.nativeUpdate(SessionBinding, { session, ...isDue }, { refusedAt }));
  if (due > 0) logEvent({ event: "session.refused", reason: "not_bound", userId });
}
