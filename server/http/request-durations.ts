import type { IncomingMessage, ServerResponse } from "node:http";
import { requestDurations } from "../metrics";

/** The name of the route that a path leads to. It is a label, so the names must be few. */
export type RouteOf = (path: string) => string;

const methods = ["GET", "HEAD", "POST"];

/**
 * Measures a request until its answer is sent or its client has gone. Called after `setTarget`, which gives every
 * method that no route takes one name.
 */
export function measureDuration(request: IncomingMessage, response: ServerResponse, routeOf: RouteOf): void {
  const durations = requestDurations();
  if (!durations) return;
  const start = performance.now();
  const method = methods.find((known) => known === request.method) ?? "other";
  const path = request.url?.split("?", 1)[0] ?? ""; // express cuts the URL of a static file
  response.once("close", () => {
    const route = routeOf(path);
    const status = response.writableFinished ? response.statusCode : "aborted";
    durations.observe({ route, method, status }, (performance.now() - start) / 1000);
  });
}
