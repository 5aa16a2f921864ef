import { parse } from "cookie";
import { config } from "../config";
import { currentRequest, type RequestFacts } from "../context";

/** @throws Error for a request that the front door has not seen */
function factsOf(request: Request): RequestFacts {
  const facts = currentRequest();
  if (!facts) throw new Error(`Nothing is known about this ${request.method} request.`);
  return facts;
}

/** Scheme and authority that the browser used, e.g. `https://example.org`. */
export const originOf = (request: Request) => factsOf(request).origin;

/** The client's address; of an IPv6 address the /64, which one subscriber has. */
export const clientOf = (request: Request) => factsOf(request).client;

/** Whether a trusted proxy named the client's address; otherwise it is that of the connection. */
export const isClientForwarded = (request: Request) => factsOf(request).clientForwarded;

/** Whether the browser says that a page of another site sent this. */
export const isCrossSite = (request: Request) => factsOf(request).crossSite;

/** Whether the request's target could not be read. */
export const isUnreadable = (request: Request) => factsOf(request).unreadable;

/** Whether the client of this context's request has gone, or has its answer. */
export const hasGone = () => currentRequest()?.response.closed === true;

/** Made once: an exception's stack trace costs more than the rest of the signal. */
const gone = new DOMException("The client has gone, or has its answer.", "AbortError");

/** Who waits for the answer to a request. */
export interface Requester {
  client: string;
  /** Aborted when the client waits no longer. */
  signal: AbortSignal | undefined;
}

/**
 * The signal is not `request.signal`: undici holds the controllers between two Requests by weak references, so that a
 * garbage collection cuts them off.
 */
export function requesterOf(request: Request): Requester {
  const { client, response } = factsOf(request);
  const controller = new AbortController();
  if (response.closed) controller.abort(gone);
  else response.once("close", () => controller.abort(gone));
  return { client, signal: controller.signal };
}

/**
 * The values of every cookie of this name, as sent. Nothing is decoded, and only spaces and tabs around a name are cut:
 * browsers let a sibling host set cookies whose names resemble `__Host-session`, such as `%5F%5FHost-session`.
 */
export const cookieValues = (header: string, name: string): string[] =>
  header.split(";").flatMap((pair) => parse(pair, { decode: (value) => value })[name] ?? []);

/**
 * A cookie's value. A cookie that is sent twice counts as absent: a sibling host can set one for a longer path, which
 * browsers send first (RFC 6265, section 8.6).
 */
export function cookieOf(header: string, name: string): string | null {
  const [value, second] = cookieValues(header, name);
  return second === undefined ? value || null : null;
}

/** The session cookie of this host alone. */
const hostSessionCookie = "__Host-session";

/** The name of the session cookie. @param https whether the browser used it */
export function sessionCookieName(https: boolean): string {
  if (!https) return "session";
  return config().sessionDomain === null ? hostSessionCookie : "__Secure-session";
}
