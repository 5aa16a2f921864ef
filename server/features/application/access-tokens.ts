import { groupsOf } from "../../accounts/groups/membership";
import { config } from "../../config";
import { isAccessToken } from "../../crypto/tokens";
import { AccessToken, type User } from "../../database/entities";
import { preparedWithin } from "../../database/prepared";
import { sharedStatement } from "../../database/shared-statement";
import { translateConnectionErrors } from "../../database/unavailable";
import { orm, query } from "../../database/unit-of-work";
import type { VerifiedUser } from "../../door/forward-authentication";
import type { ReasonOf } from "../../events/events";
import { logEvent, onceAMinute } from "../../log";
import { isAllowedOrigin } from "../../origins/return-to";

const longestUsedInterval = 3_600_000; // ms between two writes of `last_used_at`

type StoredToken = Pick<User, "id" | "email" | "name" | "groups" | "idpGroups" | "idpId" | "idpIssuer"> & {
  tokenHash: string;
  tokenId: string;
  origin: string;
  /** Times are as PostgreSQL writes them. */
  expiresAt: string;
  lastUsedAt: string | null;
};

type Program = VerifiedUser & Pick<StoredToken, "tokenId" | "origin">;

/**
 * The program that has the token, which counts as used now; `null` for every other text, and for a token that was made
 * for another origin than the program asked for.
 */
export async function resumeToken(token: string, origin: string | null): Promise<Program | null> {
  if (!isAccessToken(token)) return refuse("unknown");
  const row = await translateConnectionErrors(() => tokens.load(token));
  if (!row) return refuse("unknown");
  const now = new Date();
  if (Date.parse(row.expiresAt) <= now.getTime()) return refuse("expired", row);
  if (origin !== row.origin || !isAllowedOrigin(new URL(origin), config())) return refuse("origin", row);
  const { tokenId, id, email, name } = row;
  if (row.lastUsedAt === null || Date.parse(row.lastUsedAt) < now.getTime() - longestUsedInterval) {
    const isStored = await query((em) => em.nativeUpdate(AccessToken, { id: tokenId }, { lastUsedAt: now }));
    if (isStored === 0) return refuse("unknown"); // it was removed meanwhile
  }
  return { tokenId, origin, id, email, name: name ?? null, groups: groupsOf(row) };
}

type Refusal = ReasonOf<"token.refused">;

const mayLog: Record<Refusal, () => boolean> = {
  unknown: onceAMinute(),
  expired: onceAMinute(),
  origin: onceAMinute(),
};

function refuse(reason: Refusal, row?: StoredToken): null {
  if (mayLog[reason]()) logEvent({ event: "token.refused", reason, ...(row && { userId: row.id }) });
  return null;
}

const storedTokens = `
  select t.token_hash as "tokenHash", t.id as "tokenId", t.origin, t.expires_at as "expiresAt", t.last_used_at as "lastUsedAt",
    u.id, u.email, u.name, u.groups, u.idp_groups as "idpGroups", u.idp_id as "idpId", u.idp_issuer as "idpIssuer"
  from access_tokens t join users u on u.id = t.user_id
  where t.token_hash = any((select ?::text[])::text[]) and u.suspended_at is null`;

const tokens = sharedStatement((hashes) =>
  preparedWithin<StoredToken>(orm().em, "access-tokens", storedTokens, [hashes]),
);
