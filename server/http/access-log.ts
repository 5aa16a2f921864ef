import type { IncomingMessage } from "node:http";
import morgan from "morgan";
import type { Target } from "./request-target";

const logged = new WeakMap<object, { method: string; path: string }>();

/**
 * What the access line says of a path. Mail programs mangle links: they encode the `?` before a token once or twice, as
 * `%3F`, `%253F` or `=3F`, or make it an `&`. So a path ends where no path of ours goes on, and a token in it is
 * replaced.
 */
export function loggedPath(path: string): string {
  const [plain = ""] = /^[\w/.-]*/.exec(path) ?? [];
  return plain.replace(/[0-9a-f]{32,}/gi, "[hex]");
}

/** Records what the access line says of a request: its method and path. */
export function recordForAccessLog(request: IncomingMessage, target: Target | null): void {
  logged.set(request, { method: request.method ?? "", path: loggedPath(target?.path ?? request.url ?? "") });
}

/**
 * remix-serve logs with this same morgan. Its own tokens would log the query string, which may hold a token or a code, and
 * the 500 that Remix writes to a client that has hung up.
 */
export function replaceAccessLogTokens(): void {
  morgan.token("method", (request) => logged.get(request)?.method);
  morgan.token("url", (request) => logged.get(request)?.path);
  morgan.token("status", (_request, { destroyed, writableFinished, statusCode }) =>
    writableFinished && !destroyed ? String(statusCode) : undefined,
  );
}
