import { statfs } from "node:fs/promises";
import type { Database } from "../../database/orm";
import { type Check, checksOf } from "./check";

const { ok, warn } = checksOf("database");

const figures = `
  select pg_size_pretty((select sum(pg_database_size(oid)) from pg_database)) as size,
    pg_size_pretty((select sum(size) from pg_ls_waldir())) as log,
    to_char(checkpoint_time at time zone 'UTC', 'YYYY-MM-DD HH24:MI "UTC"') as checkpoint,
    current_setting('fsync') = 'on' and current_setting('wal_sync_method') = 'fsync' as flushed
  from pg_control_checkpoint()`;

/** By their numbers in statfs(2): what a power cut, or the end of a container, takes away as a whole. */
const volatileFileSystems: Record<number, string> = { 16914836: "tmpfs", 2035054128: "overlay" };

const minFree = 200; // MB

export async function checkEmbedded({ orm }: Database, folder: string): Promise<Check> {
  const [row] = await orm.em
    .fork()
    .execute<{ size: string; log: string; checkpoint: string; flushed: boolean }[]>(figures);
  const { type, bavail, bsize } = await statfs(folder);
  const free = Math.floor((bavail * bsize) / 1_000_000);
  const fileSystem = volatileFileSystems[type];
  const flushed = row?.flushed && !fileSystem ? "commits are flushed" : "commits are not flushed to a disk";
  const sizes = `${row?.size}, and ${row?.log} of its log; ${free} MB are free`;
  const found = `${sizes}; last checkpoint ${row?.checkpoint}; ${flushed}${fileSystem ? ` (${fileSystem})` : ""}`;
  if (fileSystem) return warn(found, "put the folder of DATABASE_URL on a disk, e.g. on a volume of the container");
  return free < minFree ? warn(found, `make room: it needs ${minFree} MB`) : ok(found);
}
