import { AsyncResource } from "node:async_hooks";
import DataLoader from "dataloader";
import { sha256 } from "../crypto/tokens";

/**
 * One statement for the rows of all tokens that are asked for in one turn of the event loop: its system calls were half
 * of the CPU of `/auth/verify`. It runs in the context of no request.
 * @param read gives the rows of the tokens' SHA-256 hashes, in any order
 */
export function sharedStatement<Row extends { tokenHash: string }>(read: (hashes: string[]) => Promise<Row[]>) {
  async function rowsOf(tokens: readonly string[]): Promise<(Row | null)[]> {
    const hashes = tokens.map(sha256);
    const rows = new Map((await read(hashes)).map((row) => [row.tokenHash, row]));
    return hashes.map((hash) => rows.get(hash) ?? null);
  }
  return new DataLoader(rowsOf, {
    cache: false,
    batchScheduleFn: AsyncResource.bind((run: () => void) => void setImmediate(run)),
    maxBatchSize: 100,
  });
}
