import { symbols } from "pino";
import { afterEach, beforeEach, vi } from "vitest";
import { log } from "#server/log";

/** Records the log of each test: `lines` as printed, and `events` parsed. */
export function recordLog() {
  const lines: string[] = [];
  const stream = (log as unknown as Record<symbol, { write(line: string): boolean }>)[symbols.streamSym]!;

  beforeEach(() => {
    lines.length = 0;
    log.level = "trace";
    vi.spyOn(stream, "write").mockImplementation((line) => lines.push(line) > 0);
  });

  afterEach(() => {
    log.level = "silent";
  });

  return {
    lines: () => lines,
    events: () =>
      lines
        .map((line) => JSON.parse(line))
        .filter(({ event }) => event)
        .map(({ event, reason }) => ({ event, ...(reason && { reason }) })),
  };
}
