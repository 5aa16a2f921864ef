import { closeSync, fsyncSync, openSync } from "node:fs";
import { open, readdir } from "node:fs/promises";
import { join } from "node:path";
import type { PGlite } from "@electric-sql/pglite";
import { errorFields, log } from "../log";

/** Flushes the tables of a running database, whose next checkpoint then has little to wait for. */
export const flushTables = (files: string): Promise<void> =>
  flushTree(join(files, "base")).catch((error: NodeJS.ErrnoException) => {
    if (error.syscall === "fsync") endProcess(error);
    // What cannot be opened, such as a table that is removed meanwhile, is left to the checkpoint.
  });

/** Flushes every file and folder below, outside the event loop. */
export async function flushTree(folder: string): Promise<void> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const flushed = entries.filter((entry) => entry.isFile() || entry.isDirectory());
  for (const path of [folder, ...flushed.map(({ parentPath, name }) => join(parentPath, name))]) {
    const file = await open(path);
    await file.sync();
    await file.close();
  }
}

type Nodefs = {
  realPath(node: Node): string;
  stream_ops: { fsync?: (stream: { nfd: number }) => void };
  node_ops: Record<"mknod" | "rename" | "unlink" | "rmdir", (node: Node, ...rest: unknown[]) => unknown>;
};

const parameters = [
  "fsync=on",
  "wal_sync_method=fsync", // Emscripten's `fdatasync`, PostgreSQL's default, does nothing.
  "shared_buffers=8MB",
  "min_wal_size=32MB", // what a checkpoint leaves of the log; 80 MB by default
  "max_wal_size=32MB",
  "default_statistics_target=10", // An `analyze` reads 300 rows for each, while requests wait; 100 by default.
];

export const postgresMajor = "18"; // of PGlite 0.5

/** Opens a database of which each commit is on the disk before it is answered. */
export async function openFlushed(files: string): Promise<PGlite> {
  const { PGlite } = await import("@electric-sql/pglite");
  const { NodeFS } = await import("@electric-sql/pglite/nodefs");
  class FlushedFiles extends NodeFS {
    override async init(...[database, options]: Parameters<InstanceType<typeof NodeFS>["init"]>) {
      const flush = (module: unknown) => flushWrites((module as { NODEFS: Nodefs }).NODEFS);
      return super.init(database, { ...options, preRun: [...(options.preRun ?? []), flush] });
    }
  }
  const flags = PGlite.defaultStartParams.filter((flag) => flag !== "-F"); // which turns flushing off
  return PGlite.create({
    fs: new FlushedFiles(files),
    startParams: [...flags, ...parameters.flatMap((parameter) => ["-c", parameter])],
  });
}

// Emscripten's NODEFS has no `fsync`, and PostgreSQL cannot open a folder through it (both read in PGlite 0.5.17).
// So a change of a folder is flushed as it is made: they are rare, a new table or segment of the log.
type Node = { parent: Node };

function flushWrites(nodefs: Nodefs): void {
  const { node_ops: operations, realPath } = nodefs;
  nodefs.stream_ops.fsync = ({ nfd }) => endIfItFails(() => fsyncSync(nfd));
  for (const name of ["mknod", "rename", "unlink", "rmdir"] as const) {
    const change = operations[name];
    operations[name] = (node, ...rest) => {
      const result = change(node, ...rest);
      const folder = name === "rename" ? (rest[0] as Node) : node; // PostgreSQL renames within a folder.
      endIfItFails(() => flushFolder(realPath(folder)));
      return result;
    };
  }
}

function endIfItFails(flush: () => void): void {
  try {
    flush();
  } catch (error) {
    endProcess(error);
  }
}

/** A failed flush cannot be repeated: the kernel has dropped the data. PostgreSQL ends here, too; a start recovers. */
function endProcess(error: unknown): never {
  log.fatal(errorFields(error), "The embedded database cannot be flushed to the disk.");
  process.exit(1);
}

export function flushFolder(path: string): void {
  const descriptor = openSync(path, "r");
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
