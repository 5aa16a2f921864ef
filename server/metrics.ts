import type { IncomingMessage, ServerResponse } from "node:http";
import type { Counter, Histogram } from "prom-client";
import type { AuthenticationEvent } from "./events";
import { processValue } from "./process-value";

export interface Counters {
  events: Counter<"event" | "reason">;
  mails: Counter<"outcome">;
  requests: Histogram<"route" | "method" | "status">;
}

/** A failed mail is retried, a refused one is not. */
export const mailOutcomes = ["sent", "failed", "refused"] as const;

const provided = processValue<Counters>("counters");

export function provideCounters(counters: Counters | undefined): void {
  provided.current = counters;
}

/** A provider chooses the status in a reason. Each reason is a series, so their number must be bounded. */
const boundedReason = (reason: string) => reason.replace(/(\d)\d\d$/, "$1xx");

export function countEvent(event: AuthenticationEvent): void {
  const reason = "reason" in event && { reason: boundedReason(event.reason) };
  provided.current?.events.inc({ event: event.event, ...reason });
}

export function countMail(outcome: (typeof mailOutcomes)[number]): void {
  provided.current?.mails.inc({ outcome });
}

/** The name of a path's route. It is a label, so the names must be few. */
export type RouteOf = (path: string) => string;

/** Measures a request until its answer is sent or its client has gone. No route takes a method that is not counted. */
export function measureDuration(request: IncomingMessage, response: ServerResponse, routeOf: RouteOf): void {
  const requests = provided.current?.requests;
  if (!requests) return;
  const start = performance.now();
  const method = ["GET", "HEAD", "POST"].find((known) => known === request.method) ?? "other";
  const path = request.url?.split("?", 1)[0] ?? ""; // express cuts the URL of a static file
  response.once("close", () => {
    const status = response.writableFinished ? response.statusCode : "aborted";
    requests.observe({ route: routeOf(path), method, status }, (performance.now() - start) / 1000);
  });
}
