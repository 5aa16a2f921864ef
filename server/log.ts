import { AsyncLocalStorage } from "node:async_hooks";
import { pino } from "pino";

/** Every authentication event that is logged, with the user's id or a reason, and never an address. */
export type AuthenticationEvent =
  | `login.${"succeeded" | "failed" | "throttled"}`
  | `password_reset.${"requested" | "sent" | "completed" | "refused"}`
  | `registration.${"requested" | "sent" | "completed" | "refused"}`
  | `idp.${"started" | "succeeded" | "failed" | "linked" | "unlinked"}`
  | "session.ended"
  | "account.deleted";

interface Details {
  userId?: string;
  reason?: string;
  count?: number;
}

const correlation = new AsyncLocalStorage<{ requestId: string } | { jobId: string }>();

export const log = pino({
  base: null,
  timestamp: pino.stdTimeFunctions.isoTime,
  mixin: () => ({ ...correlation.getStore() }),
});

/** What is logged from here on, in this asynchronous context, belongs to the request. */
export function enterRequest(requestId: string): void {
  correlation.enterWith({ requestId });
}

export function duringJob<T>(jobId: string, work: () => T): T {
  return correlation.run({ jobId }, work);
}

export function logEvent(event: AuthenticationEvent, details: Details = {}): void {
  log.info({ event, ...details });
}

/** What an error is, without its message: drivers quote parameters and addresses there. */
export function describe(error: unknown): { error: string; code?: unknown } {
  if (!(error instanceof Error)) return { error: typeof error };
  return { error: error.name, ...("code" in error && { code: error.code }) };
}
