import { sidOf } from "../../accounts/sessions/announced-ends";
import { config } from "../../config";
import { query } from "../../database/unit-of-work";
import type { Finders, VerifiedUser } from "../../door/forward-authentication";
import { log, onceAMinute } from "../../log";
import { isAllowedOrigin } from "../../origins/return-to";
import { resumeSession } from "../owner/signed-in";
import { resumeToken } from "./access-tokens";
import { findSigner } from "./signing-keys";

const lifetime = 60; // seconds of a token
const reuse = 30_000; // ms in which a session gets the same token: signing takes half of the CPU of /auth/verify
const maxCached = 5_000; // tokens, of 1 to 6 kB

interface TokenCache {
  /** By `performance.now()`: a clock that is set back would keep expired tokens. */
  until: number;
  signer: Promise<Signer>;
  /** By session or access token, and claims, so that a changed user gets a new token. */
  tokens: Map<string, Promise<string>>;
}

/** How the user was authenticated: by a sign-in, or by an access token. */
type AuthenticationClaims = { auth_time: number; sid: string } | { token_id: string };

/** Find the user of a live session or access token, with a token for the audience if IDENTITY_TOKENS is on. */
export function identityFinders(): Finders {
  const mayWarn = onceAMinute();
  let cache: TokenCache | undefined; // reading and decrypting the key takes 1 ms of CPU

  /** A JWT (RFC 7519) that tells the application at the origin `aud` who the user is. @param id of session or token */
  function tokenFor(
    { id: sub, email, name, groups }: VerifiedUser,
    aud: string,
    id: string,
    authentication: AuthenticationClaims,
  ) {
    const now = performance.now();
    if (!cache || cache.until <= now) cache = { until: now + reuse, signer: query(findSigner), tokens: new Map() };
    const { tokens, signer } = cache;
    const key = `${id} ${aud} ${email} ${name ?? ""} ${groups}`;
    const known = tokens.get(key);
    if (known) return known;
    if (tokens.size >= maxCached) tokens.clear();
    const person = { sub, email, email_verified: true, ...(name && { name }), groups };
    const token = sign({ iss: config().appUrl, aud, ...person, ...authentication }, signer);
    token.catch(() => {
      cache = undefined;
    });
    tokens.set(key, token);
    return token;
  }

  async function findUser(sessionToken: string, audience: () => string, boundToken: string | null) {
    const signedIn = await resumeSession(sessionToken, boundToken);
    if (!signedIn || signedIn === "not_bound") return null;
    const { sessionId, signedInAt } = signedIn;
    const user = Object.assign(signedIn.user, { signedInAt });
    if (!config().identityKey) return user;
    const origin = audience();
    if (isAllowedOrigin(new URL(origin), config())) {
      const authentication = { auth_time: Math.floor(signedInAt.getTime() / 1000), sid: sidOf(sessionId) };
      return Object.assign(user, { token: await tokenFor(user, origin, sessionId, authentication) });
    }
    if (mayWarn()) log.warn({ origin }, "No Remote-Token: neither APP_URL nor RETURN_ORIGINS has this origin.");
    return user;
  }

  async function findProgram(accessToken: string, origin: string | null) {
    const program = await resumeToken(accessToken, origin);
    if (!program || !config().identityKey) return program;
    const { tokenId } = program;
    return { ...program, token: await tokenFor(program, program.origin, tokenId, { token_id: tokenId }) };
  }

  return { findUser, findProgram };
}

type Signer = Awaited<ReturnType<typeof findSigner>>;

async function sign(claims: Record<string, unknown>, signer: Promise<Signer>): Promise<string> {
  const [{ SignJWT }, { kid, privateKey }] = await Promise.all([import("jose"), signer]);
  const now = Math.floor(Date.now() / 1000);
  const token = new SignJWT(claims).setIssuedAt(now).setExpirationTime(now + lifetime);
  return token.setProtectedHeader({ alg: "ES256", typ: "JWT", kid }).sign(privateKey);
}
