import morgan from "morgan";
import { currentRequest } from "../process/context";

/**
 * The path as it is logged. Mail programs encode the `?` before a token as `%3F`, `%253F` or `=3F`, or replace it by
 * `&`: the path is cut at the first character that no route has, and a token in it is replaced.
 */
export function loggedPath(path: string): string {
  const [plain = ""] = /^[\w/.-]*/.exec(path) ?? [];
  return plain.replace(/latchkey_[\w-]*/gi, "[token]").replace(/[0-9a-f]{32,}/gi, "[hex]");
}

/** remix-serve's own tokens log the query, which may hold a token or a code, and a 500 for a client that hung up. */
export function replaceAccessLogTokens(): void {
  morgan.token("method", () => currentRequest()?.method);
  morgan.token("url", () => currentRequest()?.path);
  morgan.token("status", (_request, { destroyed, writableFinished, statusCode }) =>
    writableFinished && !destroyed ? String(statusCode) : undefined,
  );
}
