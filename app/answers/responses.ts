import type { HeadersFunction } from "@remix-run/node";
import { data } from "@remix-run/react";
import { config } from "#server/config";
import { factsOf, logFault, originOf, requestId } from "#server/door/request-facts";
import { DatabaseUnavailable, HashingOverloaded, SessionNotRefreshed } from "#server/errors";
import { unavailableRetryAfter } from "#server/rules";

export const unprocessable = <T>(body: T) => data(body, { status: 422 });

/** A page's headers: those of its action, and those of its loader that the action does not set. */
export const pageHeaders: HeadersFunction = ({ loaderHeaders, actionHeaders }) => {
  const headers = new Headers(actionHeaders);
  for (const [name, value] of loaderHeaders) if (!actionHeaders.has(name)) headers.append(name, value);
  return headers;
};

/** @param wait seconds until the next attempt is allowed */
export const tooManyRequests = (wait: number) => ({ status: 429, headers: { "Retry-After": String(wait) } });

export const minutesIn = (seconds: number) => Math.ceil(seconds / 60);

/** RFC 9110, section 15.5.6. Without `allow`, as for a route without an action, the front door adds `Allow`. */
export function methodNotAllowed(allow?: "GET" | "GET, HEAD, POST" | "POST"): Response {
  return new Response(null, { status: 405, statusText: "Method Not Allowed", headers: allow ? { Allow: allow } : {} });
}

const unavailable = {
  status: 503,
  statusText: "Service Unavailable",
  headers: { "Retry-After": unavailableRetryAfter },
};

/**
 * Runs a loader or an action. Throws a 503 when the database is unavailable, or when too many passwords wait to be
 * hashed. Logs every other error and throws a 500.
 */
export async function respond<T>(work: () => T | Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof Response) throw error;
    if (isUnavailable(error)) throw Response.json({ requestId: requestId() }, unavailable);
    throw Response.json({ requestId: logFault(error) }, { status: 500, statusText: "Internal Server Error" });
  }
}

/** Runs an action. After a 503, the page shows the form again with `typed`. */
export async function keepTyped<T, Typed>(typed: Typed, work: () => Promise<T>) {
  try {
    return await work();
  } catch (error) {
    if (!isUnavailable(error)) throw error;
    return data({ ...typed, fault: requestId() }, unavailable);
  }
}

const isUnavailable = (error: unknown) =>
  [DatabaseUnavailable, HashingOverloaded, SessionNotRefreshed].some((kind) => error instanceof kind);

/** Lets the forms of a page end at a sign-in's `return_to`, or else at `AFTER_SIGN_IN`. */
export const allowSignIn = (request: Request, returnTo: string | null) =>
  allowFormTarget(request, returnTo ?? config().afterSignIn);

/** Some browsers apply `form-action` to redirects after a form (https://github.com/w3c/webappsec-csp/issues/8). */
export function allowFormTarget(request: Request, url: string): void {
  const { origin } = new URL(url, originOf(request));
  if (origin !== originOf(request)) factsOf(request).formTargets.add(origin);
}
