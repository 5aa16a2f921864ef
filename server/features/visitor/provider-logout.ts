import { UniqueConstraintViolationException } from "@mikro-orm/postgresql";
import type { JWTPayload } from "jose";
import * as z from "zod";
import { endTokens } from "../../accounts/access-tokens/access-tokens";
import { lockIdentity, lockUserOf, logoutKey, logoutMemory } from "../../accounts/provider/provider-identities";
import { endAllAccess } from "../../accounts/sessions/sessions";
import { record } from "../../accounts/users/history";
import { config } from "../../config";
import { sha256 } from "../../crypto/tokens";
import { LogoutToken } from "../../database/entities";
import { unitOfWork } from "../../database/unit-of-work";
import { CallError } from "../../errors";
import type { LogoutTokenFailure } from "../../events/events";
import { logEvent } from "../../log";
import { keyFinder } from "../../provider/key-set";
import { providerId } from "../../provider/providers";

/** Ends the sessions and access tokens of the account that the token names. @returns why it ended none, or `null` */
export async function endSessionsByProvider(token: string): Promise<LogoutTokenFailure | null> {
  const reason = await refusalOf(token);
  if (reason !== null) logEvent({ event: "idp.logout_refused", reason });
  return reason;
}

async function refusalOf(token: string): Promise<LogoutTokenFailure | null> {
  const { identityProvider } = config();
  if (identityProvider?.provider !== "oidc") return "invalid";
  const { issuer, clientId } = identityProvider;
  try {
    const claims = await verify(token, issuer, clientId);
    if (!claims) return "invalid";
    if (claims.sub === undefined) return "no_sub";
    await endSessionsOf(claims.sub, issuer, claims.jti);
    return null;
  } catch (error) {
    if (error instanceof UniqueConstraintViolationException) return "used";
    if (error instanceof CallError) return "key_set";
    throw error;
  }
}

const asymmetric = "RS256 RS384 RS512 PS256 PS384 PS512 ES256 ES384 ES512 EdDSA Ed25519".split(" ");

const clockTolerance = 5; // s
const longestUse = logoutMemory / 1000 - 2 * clockTolerance; // s after `iat`, even if `exp` is later

/** OpenID Connect Back-Channel Logout 1.0, section 2.4. `nonce`: an ID token must not pass as a logout token. */
const logoutClaims = z.object({
  jti: z.string().min(1),
  sub: providerId.optional(),
  events: z.object({ "http://schemas.openid.net/event/backchannel-logout": z.looseObject({}) }),
  nonce: z.undefined().optional(),
});

/** Section 2.6. @returns `null` for an invalid token @throws CallError without the issuer's keys */
async function verify(token: string, issuer: string, audience: string) {
  const { jwtVerify } = await import("jose");
  const requiredClaims = ["iat", "exp"] satisfies (keyof JWTPayload)[];
  const options = { issuer, audience, algorithms: asymmetric, requiredClaims, maxTokenAge: longestUse, clockTolerance };
  try {
    const { payload, protectedHeader } = await jwtVerify(token, keyFinder(issuer), options);
    const { typ = "jwt" }: { typ?: unknown } = protectedHeader; // jose 6.2 does not check that it is a string
    if (typeof typ !== "string" || !/^(?:application\/)?(?:jwt|logout\+jwt)$/i.test(typ)) return null;
    return logoutClaims.safeParse(payload).data ?? null;
  } catch (error) {
    if (error instanceof CallError) throw error;
    return null;
  }
}

/** The same token ends nothing twice: a copy of it must not end the sessions of a later sign-in. */
function endSessionsOf(sub: string, issuer: string, jti: string): Promise<void> {
  return unitOfWork(async (em) => {
    const identity = { id: sub, issuer };
    await lockIdentity(em, identity);
    const remember = (jtiHash: string) => ({ jtiHash, expiresAt: new Date(Date.now() + logoutMemory) });
    await em.insert(LogoutToken, remember(sha256(`${issuer} ${jti}`)));
    const user = await lockUserOf(em, identity);
    if (user) await endTokens(em, user.id);
    const reason = "provider_logout";
    if (user && (await endAllAccess(em, user.id, reason)) > 0) {
      await record(em, [user.id], { actor: "provider" }, { type: "session.ended", detail: reason });
    }
    // As late as possible: a sign-in that has arrived by now starts no session after this transaction.
    if (user) user.idpLogoutAt = new Date();
    else await em.upsert(LogoutToken, remember(logoutKey(identity)));
  });
}
