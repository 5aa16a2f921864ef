import morgan from "morgan";
import { currentRequest } from "../context";

/**
 * What the access line says of a path. Mail programs mangle links: they encode the `?` before a token once or twice, as
 * `%3F`, `%253F` or `=3F`, or make it an `&`. So a path ends where no path of ours goes on, and a token in it is
 * replaced.
 */
export function loggedPath(path: string): string {
  const [plain = ""] = /^[\w/.-]*/.exec(path) ?? [];
  return plain.replace(/[0-9a-f]{32,}/gi, "[hex]");
}

/**
 * remix-serve logs with this same morgan. Its own tokens would log the query string, which may hold a token or a code, and
 * the 500 that Remix writes to a client that has hung up.
 */
export function replaceAccessLogTokens(): void {
  morgan.token("method", () => currentRequest()?.method);
  morgan.token("url", () => currentRequest()?.path);
  morgan.token("status", (_request, { destroyed, writableFinished, statusCode }) =>
    writableFinished && !destroyed ? String(statusCode) : undefined,
  );
}
