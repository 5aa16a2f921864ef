import { timingSafeEqual } from "node:crypto";
import { type Attempt, ExternalSignInError, usesPkce } from "#server/features/external-sign-in.server";
import { connectBinding, type Owner } from "#server/features/provider-link.server";
import { allowedReturn } from "#server/features/return-to.server";
import { originOf } from "#server/http/request-facts.server";
import { readCookie, readCookies, writeCookie } from "./cookies.server";
import { getUser, ownerOf, recentSignIn, sessionToken } from "./session.server";

const lifetime = 600; // seconds

type AttemptCookie = "oauth_state" | "oauth_verifier" | "oauth_connect" | "oauth_return_to";

export const redirectUri = (request: Request) => `${originOf(request)}/auth/idp/callback`;

const attemptCookie = (request: Request, name: AttemptCookie, value: string) =>
  writeCookie(request, name, value, { path: "/auth/idp", maxAge: lifetime });

const clearedCookie = (request: Request, name: AttemptCookie) =>
  writeCookie(request, name, "", { path: "/auth/idp", maxAge: 0 });

/** Whether the cookie was sent, also when it was sent twice and so counts as absent. */
const isSent = (request: Request, name: AttemptCookie) => readCookies(request, name).length > 0;

export function clearedAttemptCookies(request: Request): Headers {
  const headers = new Headers({ "Set-Cookie": clearedCookie(request, "oauth_state") });
  if (usesPkce()) headers.append("Set-Cookie", clearedCookie(request, "oauth_verifier"));
  for (const name of ["oauth_connect", "oauth_return_to"] as const) {
    if (isSent(request, name)) headers.append("Set-Cookie", clearedCookie(request, name));
  }
  return headers;
}

function stateCookies(request: Request, { state, codeVerifier }: Attempt): Headers {
  const headers = new Headers({ "Set-Cookie": attemptCookie(request, "oauth_state", state) });
  if (codeVerifier !== null) headers.append("Set-Cookie", attemptCookie(request, "oauth_verifier", codeVerifier));
  return headers;
}

/** The cookies of a sign-in that ends at `returnTo`. They end an attempt to connect. */
export function signInCookies(request: Request, attempt: Attempt, returnTo: string | null): Headers {
  const headers = stateCookies(request, attempt);
  if (isConnecting(request)) headers.append("Set-Cookie", clearedCookie(request, "oauth_connect"));
  if (returnTo !== null) {
    const encoded = Buffer.from(returnTo).toString("base64url"); // it may hold `;`
    headers.append("Set-Cookie", attemptCookie(request, "oauth_return_to", encoded));
  } else if (isSent(request, "oauth_return_to")) {
    headers.append("Set-Cookie", clearedCookie(request, "oauth_return_to"));
  }
  return headers;
}

/** Where the sign-in of this attempt is to end, if it said so. A planted cookie leads to an allowed place only. */
export const attemptReturnTo = (request: Request): string | null =>
  allowedReturn(Buffer.from(readCookie(request, "oauth_return_to") ?? "", "base64url").toString());

export function connectCookies(request: Request, attempt: Attempt): Headers {
  const headers = stateCookies(request, attempt);
  const binding = connectBinding(sessionToken(request) ?? "", attempt.state);
  headers.append("Set-Cookie", attemptCookie(request, "oauth_connect", binding));
  return headers;
}

function equals(a: string, b: string): boolean {
  const [left, right] = [Buffer.from(a), Buffer.from(b)];
  return left.length === right.length && timingSafeEqual(left, right);
}

/** Whether the response's `state` is the one of this browser, compared in constant time. */
export function isOwnState(request: Request, state: string | null): state is string {
  const own = readCookie(request, "oauth_state");
  return own !== null && state !== null && equals(own, state);
}

/** The PKCE verifier of this browser; `null` for none. Without PKCE, a planted or left-over cookie is not sent on. */
export const codeVerifierOf = (request: Request) => (usesPkce() ? readCookie(request, "oauth_verifier") : null);

/**
 * Whether this browser tries to connect the provider to its account, and not to sign in. A second cookie, which a sibling
 * host can set, does not make a sign-in of it: that could create an account, or link another one.
 */
export const isConnecting = (request: Request) => isSent(request, "oauth_connect");

/**
 * The owner who started the attempt to connect; `null` for a sign-in. @throws ExternalSignInError when another session started
 * it, its session has ended, the sign-in is too old, or `oauth_connect` was sent twice
 */
export async function connectingOwner(request: Request, state: string): Promise<Owner | null> {
  if (!isConnecting(request)) return null;
  const binding = readCookie(request, "oauth_connect") ?? "";
  const signedIn = await getUser(request);
  if (!signedIn || !equals(binding, connectBinding(sessionToken(request) ?? "", state))) {
    throw new ExternalSignInError("another_session");
  }
  // A copied session cookie is enough to make both other cookies, so the age of the sign-in is checked here too.
  const oldest = Date.now() - recentSignIn - lifetime * 1000;
  if (signedIn.signedInAt.getTime() < oldest) throw new ExternalSignInError("sign_in_too_old");
  return ownerOf(request, signedIn);
}
