import { timingSafeEqual } from "node:crypto";
import { originOf } from "#server/door/request-facts";
import { connectBinding } from "#server/features/owner/provider-link";
import type { Owner } from "#server/features/owner/sessions";
import { type Attempt, ExternalSignInError, usesPkce } from "#server/features/visitor/external-sign-in";
import { readCookie, readCookies, sessionToken, writeCookie } from "./cookies";
import { getUser, recentSignIn } from "./session";
import { endAttempt, startAttempt } from "./sign-in-attempt";
import { ownerOf } from "./visitor";

const lifetime = 600; // seconds

type AttemptCookie = "oauth_state" | "oauth_verifier" | "oauth_connect";

export const redirectUri = (request: Request) => `${originOf(request)}/auth/idp/callback`;

/** Whether the cookie was sent. True also if it was sent twice, in which case its value counts as absent. */
const isSent = (request: Request, name: AttemptCookie) => readCookies(request, name).length > 0;

function attemptCookies(request: Request, values: Partial<Record<AttemptCookie, string | null>>): Headers {
  const headers = new Headers();
  for (const [name, value] of Object.entries(values) as [AttemptCookie, string | null][]) {
    if (value === null && name !== "oauth_state" && !isSent(request, name)) continue;
    const attributes = { path: "/auth/idp", maxAge: value === null ? 0 : lifetime };
    headers.append("Set-Cookie", writeCookie(request, name, value ?? "", attributes));
  }
  return headers;
}

const cleared = { oauth_state: null, oauth_verifier: null, oauth_connect: null };

export const clearedAttemptCookies = (request: Request, state: string | null): Headers =>
  endAttempt(request, attemptCookies(request, cleared), state);

/** The cookies of a sign-in that ends at `returnTo`. They end an attempt to connect. */
export function signInCookies(request: Request, { state, codeVerifier }: Attempt, returnTo: string | null): Headers {
  const cookies = { ...cleared, oauth_state: state, oauth_verifier: codeVerifier };
  return startAttempt(request, attemptCookies(request, cookies), state, returnTo);
}

export const connectCookies = (request: Request, { state, codeVerifier }: Attempt): Headers =>
  attemptCookies(request, {
    oauth_state: state,
    oauth_verifier: codeVerifier,
    oauth_connect: connectBinding(sessionToken(request) ?? "", state),
  });

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

/** True also if a sibling host has set a second cookie: as a sign-in, the attempt could create or link an account. */
export const isConnecting = (request: Request) => isSent(request, "oauth_connect");

/**
 * The owner who started the attempt to connect; `null` for a sign-in. @throws ExternalSignInError when another session
 * started it, its session has ended, the sign-in is too old, or `oauth_connect` was sent twice
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
