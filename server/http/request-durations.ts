import type { IncomingMessage, ServerResponse } from "node:http";
import { requestDurations } from "../metrics";

/** The name of the route that a path leads to. It is a label, so the names must be few. */
export type RouteOf = (path: string) => string;

/** Measures a request until its answer is sent or its client has gone. No route takes a method that is not counted. */
export function measureDuration(request: IncomingMessage, response: ServerResponse, routeOf: RouteOf): void {
  const durations = requestDurations();
  if (!durations) return;
  const start = performance.now();
  const method = ["GET", "HEAD", "POST"].find((known) => known === request.method) ?? "other";
  const path = request.url?.split("?", 1)[0] ?? ""; // express cuts the URL of a static file
  response.once("close", () => {
    const status = response.writableFinished ? response.statusCode : "aborted";
    durations.observe({ route: routeOf(path), method, status }, (performance.now() - start) / 1000);
  });
}
