import { redirect, redirectDocument } from "@remix-run/node";
import { factsOf, originOf } from "#server/door/request-facts";
import { logsOutAtProvider, redirectsToProvider } from "#server/features/visitor/external-sign-in";
import { afterSignIn, allowedReturn } from "#server/features/visitor/return-to";
import { returnToName, withReturnTo } from "./return-to";

const accountPage = "/dashboard";

/** The target of the page's `return_to`; `null` if the parameter is absent, repeated or not allowed. */
export function returnToOf(request: Request): string | null {
  const [text, ...more] = new URL(request.url).searchParams.getAll(returnToName);
  return text === undefined || more.length > 0 ? null : allowedReturn(text);
}

/** The target may be another application on this host. Remix would look for a route, so the browser loads it. */
const redirectTo = (target: string, headers: Headers) =>
  target === accountPage ? redirect(target, { headers }) : redirectDocument(target, { headers });

export const redirectSignedIn = (returnTo: string | null, headers = new Headers()): Response =>
  redirectTo(returnTo ?? afterSignIn(), headers);

export function redirectFromGuestPage(request: Request, returnTo: string | null): Response {
  const target = returnTo ?? afterSignIn();
  const { origin, pathname } = new URL(target, originOf(request));
  const isThisPage = origin === originOf(request) && pathname === new URL(request.url).pathname;
  return redirectTo(isThisPage ? accountPage : target, new Headers());
}

export const redirectToProvider = (returnTo: string | null): Response =>
  redirectDocument(withReturnTo("/auth/idp", returnTo));

/** Without a notice, `/login` may redirect to the provider, which would sign the user in again at once. */
export const redirectAfterLogout = (returnTo: string | null, headers: Headers): Response =>
  returnTo === null
    ? redirect(redirectsToProvider() || logsOutAtProvider() ? "/login?notice=signed_out" : "/login", { headers })
    : redirectTo(returnTo, headers);

/** Some browsers apply `form-action` to redirects after a form (https://github.com/w3c/webappsec-csp/issues/8). */
export function allowFormTarget(request: Request, returnTo: string | null, otherwise = afterSignIn()): void {
  const { origin } = new URL(returnTo ?? otherwise, originOf(request));
  if (origin !== originOf(request)) factsOf(request).formTarget = origin;
}
