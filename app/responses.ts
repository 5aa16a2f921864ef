import { data } from "@remix-run/react";

/** A refused form: its page again, with what is wrong. */
export const unprocessable = <T>(body: T) => data(body, { status: 422 });

/** A wait in words, rounded up to minutes. */
export function minutesFrom(seconds: number): string {
  const minutes = Math.ceil(seconds / 60);
  return `${minutes} ${minutes === 1 ? "minute" : "minutes"}`;
}

/**
 * Thrown where a route does not take the method (RFC 9110, section 15.5.6). A route without an action does not need
 * it: Remix refuses for it, and the front door adds `Allow`.
 */
export function methodNotAllowed(allow: "GET" | "GET, HEAD" | "GET, HEAD, POST" | "POST"): Response {
  return new Response(null, { status: 405, statusText: "Method Not Allowed", headers: { Allow: allow } });
}

/** Thrown by a route whose answer is not a page: `app/entry.server.tsx` sends it as it is. */
export function plainText(text: string, status: number): Response {
  return new Response(text, { status, headers: { "Content-Type": "text/plain; charset=utf-8" } });
}
