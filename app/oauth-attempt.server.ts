import { timingSafeEqual } from "node:crypto";
import type { Attempt } from "#server/features/external-sign-in.server";
import { originOf } from "#server/http/request-facts.server";
import { readCookie, writeCookie } from "./cookies.server";

const lifetime = 600; // seconds

export const redirectUri = (request: Request) => `${originOf(request)}/auth/idp/callback`;

function attemptCookie(request: Request, name: "oauth_state" | "oauth_verifier", value: string): string {
  return writeCookie(request, name, value, { path: "/auth/idp", maxAge: value === "" ? 0 : lifetime });
}

/** The cookies that bind the provider's response to this browser. */
export function attemptCookies(request: Request, { state, codeVerifier }: Attempt): Headers {
  const headers = new Headers({ "Set-Cookie": attemptCookie(request, "oauth_state", state) });
  if (codeVerifier !== null) headers.append("Set-Cookie", attemptCookie(request, "oauth_verifier", codeVerifier));
  return headers;
}

/** Clears the cookies of an attempt, whatever its outcome. */
export function clearedAttemptCookies(request: Request): Headers {
  return attemptCookies(request, { state: "", codeVerifier: codeVerifierOf(request) === null ? null : "" });
}

/** Whether the response's `state` is the one of this browser, compared in constant time. */
export function isOwnState(request: Request, state: string | null): boolean {
  const own = readCookie(request, "oauth_state");
  if (!own || !state) return false;
  const [a, b] = [Buffer.from(own), Buffer.from(state)];
  return a.length === b.length && timingSafeEqual(a, b);
}

/** The PKCE verifier of this browser; `null` for none. */
export const codeVerifierOf = (request: Request) => readCookie(request, "oauth_verifier");
