import { type CookieAttributes, serializeCookie } from "oslo/cookie";
import { cookieOf, cookieValues, originOf } from "#server/door/request-facts.server";

export const isHttps = (request: Request) => originOf(request).startsWith("https:");

/** A cookie's value as sent; `null` for none. */
export const readCookie = (request: Request, name: string) => cookieOf(request.headers.get("Cookie") ?? "", name);

export const readCookies = (request: Request, name: string) =>
  cookieValues(request.headers.get("Cookie") ?? "", name).filter(Boolean);

/** Each `name=value` that matches, in the order of the header. */
export const sentPairs = (request: Request, pattern: RegExp) =>
  (request.headers.get("Cookie") ?? "").split(/; */).filter((pair) => pattern.test(pair));

export function writeCookie(request: Request, name: string, value: string, attributes: CookieAttributes): string {
  return serializeCookie(name, value, { httpOnly: true, sameSite: "lax", secure: isHttps(request), ...attributes });
}
