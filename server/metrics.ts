import type { Counter, Histogram } from "prom-client";
import type { AuthenticationEvent } from "./events";
import { processValue } from "./process-value";

export interface Counters {
  events: Counter<"event" | "reason">;
  mails: Counter<"outcome">;
  requests: Histogram<"route" | "method" | "status">;
}

/** What became of a mail that was handed to the mail service. A failed one is retried, a refused one is not. */
export const mailOutcomes = ["sent", "failed", "refused"] as const;

const provided = processValue<Counters>("counters");

/** Counts from now on; `undefined` ends it. */
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

/** @returns `null` where nothing is counted */
export function requestDurations(): Counters["requests"] | null {
  return provided.current?.requests ?? null;
}
