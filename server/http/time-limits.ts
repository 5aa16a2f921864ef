import diagnostics from "node:diagnostics_channel";
import { Server } from "node:http";

export interface TimeLimits {
  /** ms, for a request's head. */
  headersTimeout: number;
  /** ms, for a whole request. */
  requestTimeout: number;
  /** ms, between two looks at the connections; a limit is exceeded by up to this. */
  connectionsCheckingInterval: number;
  /** ms without a byte in either direction, for clients that do not read their answer. */
  timeout: number;
}

/** A head ends within 20 seconds and a request within 30, the checking interval included. */
export const timeLimits: TimeLimits = {
  headersTimeout: 18_000,
  requestTimeout: 28_000,
  connectionsCheckingInterval: 1_000,
  timeout: 60_000,
};

/**
 * Limits the time that a slow client holds a connection, for each HTTP server of the process. remix-serve creates its
 * server itself; Node publishes each server on this channel before it listens, which is when it reads the interval.
 */
export function limitRequestTimes(limits = timeLimits): void {
  diagnostics.subscribe("tracing:net.server.listen:asyncStart", (message) => {
    const { server } = message as { server: unknown };
    if (server instanceof Server) Object.assign(server, limits);
  });
}
