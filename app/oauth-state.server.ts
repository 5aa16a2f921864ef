import { timingSafeEqual } from "node:crypto";
import { parse } from "cookie";
import { serializeCookie } from "oslo/cookie";
import { encodeHex } from "oslo/encoding";
import { originOf } from "#server/connection.server";
import { usesPkce } from "#server/external-sign-in.server";

type CookieName = "oauth_state" | "oauth_verifier";

const lifetime = 600; // seconds

export const callbackUrl = (origin: string) => `${origin}/auth/idp/callback`;

/** What binds the answer of the provider to the browser that asked. */
export interface Attempt {
  /** RFC 6749, section 10.12. */
  state: string;
  /** RFC 7636, section 4.1; `null` without PKCE. */
  codeVerifier: string | null;
}

const random = () => encodeHex(crypto.getRandomValues(new Uint8Array(32)));

export function newAttempt(): Attempt {
  return { state: random(), codeVerifier: usesPkce() ? random() : null };
}

function cookie(request: Request, name: CookieName, value: string, maxAge: number): string {
  const secure = originOf(request).startsWith("https:");
  return serializeCookie(name, value, { path: "/auth/idp", httpOnly: true, sameSite: "lax", secure, maxAge });
}

function cookies(request: Request, { state, codeVerifier }: Attempt, maxAge: number): Headers {
  const headers = new Headers({ "Set-Cookie": cookie(request, "oauth_state", state, maxAge) });
  if (codeVerifier !== null) headers.append("Set-Cookie", cookie(request, "oauth_verifier", codeVerifier, maxAge));
  return headers;
}

export const attemptCookies = (request: Request, attempt: Attempt) => cookies(request, attempt, lifetime);

export const clearedCookies = (request: Request) =>
  cookies(request, { state: "", codeVerifier: usesPkce() ? "" : null }, 0);

/** Names and values as sent: nothing is decoded. */
function readCookie(request: Request, name: CookieName): string | undefined {
  return parse(request.headers.get("Cookie") ?? "", { decode: (value) => value })[name];
}

/** Whether the callback's `state` is the one of this browser, compared in constant time. */
export function isOwnState(request: Request, state: string | null): boolean {
  const own = readCookie(request, "oauth_state");
  if (!own || !state) return false;
  const [a, b] = [Buffer.from(own), Buffer.from(state)];
  return a.length === b.length && timingSafeEqual(a, b);
}

/** The verifier that this browser keeps; `null` for none. */
export function ownVerifier(request: Request): string | null {
  return readCookie(request, "oauth_verifier") || null;
}
