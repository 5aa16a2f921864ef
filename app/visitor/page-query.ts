import { config } from "#server/config";
import { originOf } from "#server/door/request-facts";
import { inAppBrowser } from "#server/features/visitor/in-app-browser";
import { allowedTarget } from "#server/origins/return-to";
import { parseMaxAge } from "#server/rules";
import { userAgentOf } from "./visitor";

/** The target of the page's `return_to`; `null` if the parameter is absent, repeated or not allowed. */
export function returnToOf(request: Request): string | null {
  const [text, ...more] = new URL(request.url).searchParams.getAll("return_to");
  return text === undefined || more.length > 0 ? null : allowedReturn(text);
}

/** Where a visitor may be sent after a sign-in, serialised; `null` when the text is not an allowed path or URL. */
export const allowedReturn = (text: string) => allowedTarget(text, config());

/** The page's `max_age` in seconds; `null` if the parameter is absent, repeated or not valid. */
export function maxAgeOf(request: Request): number | null {
  const [text = "", ...more] = new URL(request.url).searchParams.getAll("max_age");
  return more.length > 0 ? null : parseMaxAge(text);
}

/** The app whose browser shows the page; `null` where the provider signs in. */
export function inAppBrowserOf(request: Request) {
  const { pathname, search } = new URL(request.url);
  return inAppBrowser(userAgentOf(request), `${originOf(request)}${pathname}${search}`);
}
