import type { HeadersFunction } from "@remix-run/node";
import { data } from "@remix-run/react";
import { DatabaseUnavailable, HashingOverloaded } from "#server/errors";
import { outageRetryAfter } from "#server/rules";

export const unprocessable = <T>(body: T) => data(body, { status: 422 });

/** The headers of a page: its action's, and its loader's where the action says nothing else. */
export const pageHeaders: HeadersFunction = ({ loaderHeaders, actionHeaders }) => {
  const headers = new Headers(actionHeaders);
  for (const [name, value] of loaderHeaders) if (!actionHeaders.has(name)) headers.append(name, value);
  return headers;
};

/** @param wait seconds until the next attempt is allowed */
export const tooManyRequests = (wait: number) => ({ status: 429, headers: { "Retry-After": String(wait) } });

export const minutesIn = (seconds: number) => Math.ceil(seconds / 60);

/** RFC 9110, section 15.5.6. Remix refuses for a route without an action, and the front door adds `Allow`. */
export function methodNotAllowed(allow: "GET" | "GET, HEAD" | "GET, HEAD, POST" | "POST"): Response {
  return new Response(null, { status: 405, statusText: "Method Not Allowed", headers: { Allow: allow } });
}

/** Thrown by a route whose answer is not a page: `app/entry.server.tsx` sends it as it is. */
export function plainText(text: string, status: number): Response {
  return new Response(text, { status, headers: { "Content-Type": "text/plain; charset=utf-8" } });
}

const overloadEnds = "2"; // seconds; 64 waiting hashes take less

/** Runs a loader or an action; throws 503 when the database is unavailable, or too many passwords wait to be hashed. */
export async function respond<T>(work: () => T | Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const overloaded = error instanceof HashingOverloaded;
    if (!overloaded && !(error instanceof DatabaseUnavailable)) throw error;
    const headers = { "Retry-After": overloaded ? overloadEnds : outageRetryAfter };
    throw new Response(null, { status: 503, statusText: "Service Unavailable", headers });
  }
}
