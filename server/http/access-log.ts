import type { IncomingMessage } from "node:http";
import morgan from "morgan";
import type { Target } from "./request-target";

const logged = new WeakMap<object, { method: string; path: string }>();

/** Records what the access line says of a request: its method and path as they came, without the query string. */
export function recordForAccessLog(request: IncomingMessage, target: Target | null): void {
  const path = (target?.path ?? request.url ?? "").split(/\?|%3f/i, 1)[0] ?? ""; // some mail programs encode the `?`
  logged.set(request, { method: request.method ?? "", path });
}

/** remix-serve logs with this same morgan. Its own tokens would log the query string, which may hold a token or a code. */
export function replaceAccessLogTokens(): void {
  morgan.token("method", (request) => logged.get(request)?.method);
  morgan.token("url", (request) => logged.get(request)?.path);
}
