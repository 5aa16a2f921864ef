import { config } from "#server/config";
import { type CookieAttributes, serializeCookie } from "#server/crypto/oslo";
import { cookieOf, cookieValues, originOf } from "#server/door/request-facts";
import { boundCookieAttributes, sessionCookieName } from "#server/door/session-cookies";
import type { SignInProblem } from "#server/events/sign-in-failures";
import type { SessionToken } from "#server/features/owner/own-sessions";
import { DEVICE_LIFETIME_MS, PASSKEY_CHALLENGE_TTL_MS, type SignInWay, signInWays } from "#server/rules";
import type { AccountNoticeKey } from "./notices";

/** Each `name=value` that matches, in the order of the header. */
export const sentPairs = (request: Request, pattern: RegExp) =>
  (request.headers.get("Cookie") ?? "").split(/; */).filter((pair) => pattern.test(pair));

interface NoticeOnce {
  notice?: AccountNoticeKey | "session_ended";
  /** Why the provider could not be connected. */
  problem?: SignInProblem;
  /** The name of the passkey that was removed. */
  passkey?: string;
}

export const writeNotice = (request: Request, told: NoticeOnce) =>
  noticeCookie.write(request, `${new URLSearchParams({ ...told })}`);

export const noticeOnce = (request: Request) => new URLSearchParams(noticeCookie.read(request) ?? "");

/** On an https origin, no sibling host can set it (RFC 6265bis, section 4.1.3.2). */
const hostCookie = (name: string, lifetime: number) =>
  cookie((request) => (isHttps(request) ? `__Host-${name}` : name), lifetime);

export const deviceCookie = hostCookie("device", DEVICE_LIFETIME_MS);
export const ceremonyCookie = hostCookie("passkey", PASSKEY_CHALLENGE_TTL_MS);
/** The sign-in after which the account page last offered a passkey in this browser. */
export const passkeyOfferedCookie = hostCookie("passkey-offered", DEVICE_LIFETIME_MS);

/** What the next page says once, as a query. */
export const noticeCookie = textCookie("notice", 60_000);

/** The address that the login page fills in: after a reset, or if the owner of a session must sign in again. */
export const loginAddressCookie = textCookie("login-address", 600_000);
/** Set if this browser has signed in with the provider since its last logout. */
export const atProvider = hostCookie("provider", DEVICE_LIFETIME_MS);
/** Binds the sign-ins at the provider to this browser, on https. */
export const oauthCookie = hostCookie("oauth", 3_600_000);
export const languageCookie = hostCookie("language", 400 * 24 * 3_600_000); // the most that browsers allow

/** A text of any characters. */
function textCookie(name: string, lifetime: number) {
  const stored = hostCookie(name, lifetime);
  const read = (request: Request) => new URLSearchParams(`text=${stored.read(request) ?? ""}`).get("text") || null;
  return { ...stored, read };
}

export const sessionToken = (request: Request) => readCookie(request, sessionCookie(request));

export const sessionTokens = (request: Request) => readCookies(request, sessionCookie(request));

export const readCookies = (request: Request, name: string) =>
  cookieValues(request.headers.get("Cookie") ?? "", name).filter(Boolean);

export const boundToken = (request: Request) => readCookie(request, boundCookie(request));

export const clearBound = (request: Request): string =>
  `${boundCookie(request)}=; Max-Age=0; ${boundCookieAttributes(isHttps(request))}`;

const boundCookie = (request: Request) => sessionCookieName(isHttps(request), "bound");

/** An expiry in the past deletes the cookie. */
export function writeSession(request: Request, { token, expiresAt: expires }: SessionToken): string {
  const domain = isHttps(request) ? config().sessionDomain : null; // applications on https hosts share the session
  return writeCookie(request, sessionCookie(request), token, {
    path: "/",
    expires,
    ...(domain !== null && { domain }),
  });
}

const sessionCookie = (request: Request) => sessionCookieName(isHttps(request));

/** How this browser signed in last; `null` without a cookie or with an unknown value. */
export function lastWay(request: Request): SignInWay | null {
  const value = lastWayCookie.read(request);
  return signInWays.find((way) => way === value) ?? null;
}

export const lastWayCookie = cookie(() => "last_sign_in", 365 * 24 * 3_600_000);

/** @param lifetime in ms */
function cookie(nameFor: (request: Request) => string, lifetime: number) {
  return {
    read: (request: Request) => readCookie(request, nameFor(request)),
    write: (request: Request, value: string) =>
      writeCookie(request, nameFor(request), value, { path: "/", maxAge: lifetime / 1000 }),
    clear: (request: Request) => writeCookie(request, nameFor(request), "", { path: "/", maxAge: 0 }),
  };
}

/** A cookie's value as sent; `null` for none. */
export const readCookie = (request: Request, name: string) => cookieOf(request.headers.get("Cookie") ?? "", name);

export function writeCookie(request: Request, name: string, value: string, attributes: CookieAttributes): string {
  return serializeCookie(name, value, { httpOnly: true, sameSite: "lax", secure: isHttps(request), ...attributes });
}

export const isHttps = (request: Request) => originOf(request).startsWith("https:");
