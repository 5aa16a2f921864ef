import { config } from "../../config";
import { query } from "../../database/unit-of-work";
import type { FindUser } from "../../door/forward-authentication";
import { log } from "../../log";
import { isAllowedOrigin } from "../../settings/return-to";
import { resumeSession, type SignedIn } from "../owner/signed-in";
import { findSigner } from "./signing-keys";

const lifetime = 60; // seconds of a token
const reuse = 30_000; // ms in which a session gets the same token: signing takes half of the CPU of /auth/verify
const mostKept = 5_000; // tokens, of 1 to 6 kB

type Signer = Awaited<ReturnType<typeof findSigner>>;

async function sign(claims: Record<string, unknown>, signer: Promise<Signer>): Promise<string> {
  const [{ SignJWT }, { kid, privateKey }] = await Promise.all([import("jose"), signer]);
  const now = Math.floor(Date.now() / 1000);
  const token = new SignJWT(claims).setIssuedAt(now).setExpirationTime(now + lifetime);
  return token.setProtectedHeader({ alg: "ES256", typ: "JWT", kid }).sign(privateKey);
}

interface Kept {
  /** By `performance.now()`: a clock that is set back would keep expired tokens. */
  until: number;
  signer: Promise<Signer>;
  /** By session and claims, so that a changed user gets a new token. */
  tokens: Map<string, Promise<string>>;
}

/** Finds the user of a live session, with a token for the audience if IDENTITY_TOKENS is on. Keeps tokens in memory. */
export function visitorFinder(): FindUser {
  let kept: Kept | undefined; // reading and decrypting the key takes 1 ms of CPU

  /** A JWT (RFC 7519) that tells the application at the origin `aud` who is signed in. */
  function tokenFor({ sessionId, signedInAt, user }: SignedIn, aud: string): Promise<string> {
    const { id: sub, email, name, groups } = user;
    const now = performance.now();
    if (!kept || kept.until <= now) kept = { until: now + reuse, signer: query(findSigner), tokens: new Map() };
    const { tokens, signer } = kept;
    const key = `${sessionId} ${aud} ${email} ${name ?? ""} ${groups}`;
    const known = tokens.get(key);
    if (known) return known;
    if (tokens.size >= mostKept) tokens.clear();
    const person = { sub, email, email_verified: true, ...(name && { name }), groups };
    const claims = { iss: config().appUrl, aud, ...person, auth_time: Math.floor(signedInAt.getTime() / 1000) };
    const token = sign(claims, signer);
    token.catch(() => {
      kept = undefined;
    });
    tokens.set(key, token);
    return token;
  }

  return async (sessionToken, audience, boundToken) => {
    const signedIn = await resumeSession(sessionToken, boundToken);
    if (!signedIn || signedIn === "not_bound") return null;
    const user = Object.assign(signedIn.user, { signedInAt: signedIn.signedInAt });
    if (!config().identityKey) return user;
    const origin = audience();
    if (isAllowedOrigin(new URL(origin), config())) {
      return Object.assign(user, { token: await tokenFor(signedIn, origin) });
    }
    log.warn({ origin }, "No Remote-Token: neither APP_URL nor RETURN_ORIGINS has this origin.");
    return user;
  };
}
