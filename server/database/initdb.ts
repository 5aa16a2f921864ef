import { spawn } from "node:child_process";
import { once } from "node:events";
import type { FileHandle } from "node:fs/promises";
import { createRequire } from "node:module";
import type { Readable } from "node:stream";
import { text } from "node:stream/consumers";

const program = `
  const [, pglite, dataDir] = process.argv;
  const initDbStartParams = ["--set", "shared_buffers=8MB"]; // or it peaks 30 MB higher (measured)
  const made = require(pglite).PGlite.create({ dataDir, initDbStartParams });
  made.then((database) => database.close()).catch(({ message, errno }) => {
    process.stdout.write(message ?? "errno " + errno); // Emscripten's file errors have no message
    process.exitCode = 1;
  });`;

/**
 * Makes the files of a database, in a process of its own: one that ran initdb keeps 90 MB more (measured). The process
 * holds the folder's lock, too, so that no other one begins while it still writes.
 */
export async function initdb(files: string, lock: FileHandle): Promise<void> {
  const pglite = createRequire(import.meta.url).resolve("@electric-sql/pglite");
  const args = ["--liftoff-only", "--eval", program, pglite, files];
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit", lock.fd] });
  const output = child.stdout as Readable;
  const [reason, [status]] = await Promise.all([text(output), once(child, "close")]);
  if (status !== 0) throw new Error(reason);
}
