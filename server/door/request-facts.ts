import { parse } from "cookie";
import { logUnexpected } from "../log";
import { currentRequest, type RequestFacts } from "../process/context";

/** For a 401 (RFC 9110, section 15.5.2). Browsers open no login dialog for an unknown scheme. */
export const cookieScheme = 'Cookie realm="Latchkey"';
export const notSignedIn = { "WWW-Authenticate": cookieScheme };

export const originOf = (request: Request) => factsOf(request).origin;

/** Logs an error of this context's request, unless nobody waits for the answer. @returns the request's id in the log */
export function logFault(error: unknown): string | undefined {
  if (!hasGone()) logUnexpected(error);
  return requestId();
}

/** Whether the client of this context's request has gone or has its answer. */
export const hasGone = () => currentRequest()?.response.closed === true;

export const requestId = () => currentRequest()?.requestId;

/** Made once: an exception's stack trace costs more than the rest of the signal. */
const gone = new DOMException("The client has gone, or has its answer.", "AbortError");

/** Not `request.signal`: undici holds its controllers by weak references, so a garbage collection detaches it. */
export function goneOf(request: Request): AbortSignal {
  const { response } = factsOf(request);
  const controller = new AbortController();
  if (response.closed) controller.abort(gone);
  else response.once("close", () => controller.abort(gone));
  return controller.signal;
}

/** @throws Error for a request that the front door has not seen */
export function factsOf(request: Request): RequestFacts {
  const facts = currentRequest();
  if (!facts) throw new Error(`Nothing is known about this ${request.method} request.`);
  return facts;
}

/** A cookie that is sent twice counts as absent: a sibling host can set one for a longer path (RFC 6265, 8.6). */
export function cookieOf(header: string, name: string): string | null {
  const [value, second] = cookieValues(header, name);
  return second === undefined ? value || null : null;
}

/** Not decoded: a sibling host can set cookies such as `%5F%5FHost-session`, which resembles `__Host-session`. */
export const cookieValues = (header: string, name: string): string[] =>
  header.split(";").flatMap((pair) => parse(pair, { decode: (value) => value })[name] ?? []);
