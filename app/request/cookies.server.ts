import { type CookieAttributes, serializeCookie } from "oslo/cookie";
import { cookieOf, cookieValues, originOf } from "#server/http/request-facts.server";

export const isHttps = (request: Request) => originOf(request).startsWith("https:");

/** A cookie's value as sent; `null` for none. */
export function readCookie(request: Request, name: string): string | null {
  return cookieOf(request.headers.get("Cookie") ?? "", name);
}

/** The values of every cookie of this name. */
export function readCookies(request: Request, name: string): string[] {
  return cookieValues(request.headers.get("Cookie") ?? "", name).filter(Boolean);
}

/** A `Set-Cookie` value that no script reads, for this site's own navigations, `Secure` on https. */
export function writeCookie(request: Request, name: string, value: string, attributes: CookieAttributes): string {
  return serializeCookie(name, value, { httpOnly: true, sameSite: "lax", secure: isHttps(request), ...attributes });
}
