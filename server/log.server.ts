import { describe, log } from "./log";

/** Logs a surprise: what it is and where it was thrown, without its message, which may quote what a client sent. */
export function logUnexpected(error: unknown): void {
  const frames = error instanceof Error ? error.stack?.split("\n").filter((line) => /^\s+at /.test(line)) : undefined;
  log.error({ ...describe(error), stack: frames?.map((frame) => frame.trim()) }, "Unexpected error.");
}
