import { AsyncLocalStorage } from "node:async_hooks";
import type { ServerResponse } from "node:http";
import { parse } from "cookie";
import { config } from "../config";

/**
 * The headers in which the front door hands facts about a request to the routes. It removes what a client sends under
 * these names.
 */
export const factHeaders = {
  origin: "latchkey-origin",
  client: "latchkey-client",
  clientForwarded: "latchkey-client-forwarded",
  crossSite: "latchkey-cross-site",
  unreadable: "latchkey-unreadable",
} as const;

/** Scheme and authority that the browser used, e.g. `https://example.org`. */
export function originOf(request: Request): string {
  return request.headers.get(factHeaders.origin) ?? new URL(request.url).origin;
}

/** The client's address; of an IPv6 address the /64, which one subscriber has. */
export function clientOf(request: Request): string {
  return request.headers.get(factHeaders.client) ?? "unknown";
}

/** Whether a trusted proxy named the client's address; otherwise it is that of the connection. */
export function isClientForwarded(request: Request): boolean {
  return request.headers.has(factHeaders.clientForwarded);
}

/** Whether the browser says that a page of another site sent this. */
export function isCrossSite(request: Request): boolean {
  return request.headers.has(factHeaders.crossSite);
}

/** Whether the request's target could not be read. */
export function isUnreadable(request: Request): boolean {
  return request.headers.has(factHeaders.unreadable);
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
export const hostSessionCookie = "__Host-session";

/** The name of the session cookie. @param https whether the browser used it */
export function sessionCookieName(https: boolean): string {
  if (!https) return "session";
  return config().sessionDomain === null ? hostSessionCookie : "__Secure-session";
}

const disconnect = new AsyncLocalStorage<AbortSignal>();

/** Made once: an exception's stack trace costs more than the rest of the watch. */
const disconnected = new DOMException("The client has gone, or has its answer.", "AbortError");

/** Watches the connection of the request that this asynchronous context belongs to. */
export function watchDisconnect(response: ServerResponse): void {
  const controller = new AbortController();
  response.once("close", () => controller.abort(disconnected));
  disconnect.enterWith(controller.signal);
}

/**
 * Aborted when the client of this request closes its connection, or has its answer. Not `request.signal`: undici holds
 * the controllers between two Requests by weak references, so that a garbage collection cuts them off.
 */
export const disconnectSignal = (): AbortSignal | undefined => disconnect.getStore();

/** Who waits for the answer to a request. */
export interface Requester {
  client: string;
  /** Aborted when the client waits no longer. */
  signal: AbortSignal | undefined;
}

export const requesterOf = (request: Request): Requester => ({ client: clientOf(request), signal: disconnectSignal() });
