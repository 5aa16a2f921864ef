import { parse } from "cookie";
import { type CookieAttributes, serializeCookie } from "oslo/cookie";
import { originOf } from "#server/http/request-facts.server";

export const isHttps = (request: Request) => originOf(request).startsWith("https:");

/** A cookie's value as sent. Nothing is decoded: `%5F%5FHost-session` is not `__Host-session`. */
export function readCookie(request: Request, name: string): string | null {
  return parse(request.headers.get("Cookie") ?? "", { decode: (value) => value })[name] || null;
}

/** A `Set-Cookie` value that no script reads, for this site's own navigations, `Secure` on https. */
export function writeCookie(request: Request, name: string, value: string, attributes: CookieAttributes): string {
  return serializeCookie(name, value, { httpOnly: true, sameSite: "lax", secure: isHttps(request), ...attributes });
}
