import type { IncomingMessage, ServerResponse } from "node:http";
import type { Registry } from "prom-client";
import { type LoggedEvent, loggedEvents } from "../events/events";
import { boundedReason } from "../events/sign-in-failures";
import { processValue } from "./value";

export type Prometheus = typeof import("prom-client");

const counters = processValue<ReturnType<typeof createCounters>>("counters");

export function openCounters(prometheus: Prometheus, registry: Registry): void {
  counters.current = createCounters(prometheus, registry);
}

/** A failed mail is retried, a refused one is not. */
const mailOutcomes = ["sent", "failed", "refused"] as const;

function createCounters({ Counter, Histogram }: Prometheus, registry: Registry) {
  const options = <Label extends string>(name: string, help: string, ...labelNames: Label[]) => {
    return { name: `latchkey_${name}`, help, labelNames, registers: [registry] };
  };
  const events = new Counter(options("events_total", "Authentication events.", "event", "reason"));
  const outcomes = "Mails handed to the mail service: sent, failed (and retried later), or refused for good.";
  const mails = new Counter(options("mails_total", outcomes, "outcome"));
  const duration = "Time from the head of a request to the end of its answer.";
  const requests = new Histogram(options("http_request_duration_seconds", duration, "route", "method", "status"));
  // PromQL sees no increase in a series that begins at 1, and alerts on these.
  for (const outcome of mailOutcomes) mails.inc({ outcome }, 0);
  for (const [event, reason] of loggedEvents()) events.inc({ event, ...(reason && { reason }) }, 0);
  return { events, mails, requests };
}

export function countEvent(event: LoggedEvent): void {
  const reason = "reason" in event && { reason: boundedReason(event.reason) };
  counters.current?.events.inc({ event: event.event, ...reason });
}

export function countMail(outcome: (typeof mailOutcomes)[number]): void {
  counters.current?.mails.inc({ outcome });
}

/** The name of a path's route. It is a label, so the names must be few. */
export type RouteOf = (path: string) => string;

/** Measures a request until its answer is sent or its client has gone. No route takes a method that is not counted. */
export function measureDuration(request: IncomingMessage, response: ServerResponse, routeOf: RouteOf): void {
  const requests = counters.current?.requests;
  if (!requests) return;
  const start = performance.now();
  const method = ["GET", "HEAD", "POST"].find((known) => known === request.method) ?? "other";
  const path = request.url?.split("?", 1)[0] ?? ""; // express cuts the URL of a static file
  response.once("close", () => {
    const status = response.writableFinished ? response.statusCode : "aborted";
    requests.observe({ route: routeOf(path), method, status }, (performance.now() - start) / 1000);
  });
}
