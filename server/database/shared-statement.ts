import { AsyncResource } from "node:async_hooks";
import DataLoader from "dataloader";
import { isConnectionFailure } from "./unavailable";

/**
 * One statement for all rows that are asked for in one turn of the event loop: its system calls were half of the CPU of
 * `/auth/verify`. It runs in the context of no request.
 * @param read gives each one that is asked for its row, in the same order
 */
export function sharedStatement<Asked, Row>(read: (asked: readonly Asked[]) => Promise<(Row | null)[]>) {
  /** What one stored row does to the statement, it does to those who ask for it alone. */
  async function readEach(asked: readonly Asked[]): Promise<(Row | null | Error)[]> {
    try {
      return await read(asked);
    } catch (error) {
      if (asked.length === 1 || isConnectionFailure(error)) throw error;
      const alone = await Promise.allSettled(asked.map((one) => read([one])));
      return alone.map((one) => (one.status === "fulfilled" ? (one.value[0] ?? null) : one.reason));
    }
  }
  return new DataLoader(readEach, {
    cache: false,
    batchScheduleFn: AsyncResource.bind((run: () => void) => void setImmediate(run)),
    maxBatchSize: 100,
  });
}

/** The rows in the order of what is asked for, by their number from 1 on. */
export function inOrder<Row extends { nth: number }>(asked: readonly unknown[], rows: Row[]): (Row | null)[] {
  const found = new Map(rows.map((row) => [row.nth, row]));
  return asked.map((_, index) => found.get(index + 1) ?? null);
}
