import { createHash } from "node:crypto";
import type { EntityManager } from "@mikro-orm/postgresql";
import { encodeHex } from "oslo/encoding";
import type { PasswordReset, Registration } from "./entities";

const lifetime = 3_600_000; // ms: RESET_TOKEN_TTL_MS of the contract
const spelling = /^[0-9a-f]{64}$/;

/** The two tables of the same shape: a mailbox being proven by a link that was mailed to it. */
type MailedToken = typeof PasswordReset | typeof Registration;

export interface TokenClaim {
  email: string;
  /** As submitted: anything but 64 lower-case hex characters matches nothing. */
  token: string;
}

/** 256 random bits as 64 lower-case hex characters. */
export function mintToken(): string {
  return encodeHex(crypto.getRandomValues(new Uint8Array(32)));
}

/**
 * SHA-256 of the token string, as lower-case hex: the only form of a token that is stored. Synchronous: Web Crypto
 * would queue it behind Argon2, in the same threads.
 */
export function hashToken(token: string): string {
  return createHash("sha256").update(token).digest("hex");
}

/** Stores the hash of a new token for `email`, valid for an hour; returns the raw token, which nothing else knows. */
export async function issueToken(em: EntityManager, kind: MailedToken, email: string): Promise<string> {
  const token = mintToken();
  await em.insert(kind, { tokenHash: hashToken(token), email, expiresAt: new Date(Date.now() + lifetime) });
  return token;
}

function matching({ email, token }: TokenClaim) {
  return { tokenHash: hashToken(token), email, expiresAt: { $gt: new Date() } };
}

/** Reads only: a bad token is refused before it costs an Argon2 hash. `consumeToken` decides again. */
export async function isTokenValid(em: EntityManager, kind: MailedToken, claim: TokenClaim): Promise<boolean> {
  return spelling.test(claim.token) && (await em.count(kind, matching(claim))) === 1;
}

/**
 * Until the end of the transaction, nobody else uses a token of this address that has no user yet: two of its tokens,
 * used at once, would deadlock on each other's rows.
 */
export async function lockAddress(em: EntityManager, email: string): Promise<void> {
  await em.execute("select pg_advisory_xact_lock(hashtextextended(?, 0))", [email]);
}

/**
 * Uses the token up, and every other token of the address with it. Of any number of simultaneous callers, with one
 * token or with several of one address, exactly one gets `true`; each holds the user's row, or the address.
 */
export async function consumeToken(em: EntityManager, kind: MailedToken, claim: TokenClaim): Promise<boolean> {
  if (!spelling.test(claim.token)) return false;
  if ((await em.nativeDelete(kind, matching(claim))) !== 1) return false;
  await em.nativeDelete(kind, { email: claim.email });
  return true;
}
