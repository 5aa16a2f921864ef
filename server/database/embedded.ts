import { accessSync, constants, existsSync, mkdirSync, renameSync } from "node:fs";
import { chmod, cp, type FileHandle, mkdtemp, readdir, rm } from "node:fs/promises";
import type net from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setFlagsFromString } from "node:v8";
import type { PGlite } from "@electric-sql/pglite";
import { StartError } from "../errors";
import { flushFolder, flushTree, openFlushed } from "./flushed-files";
import { claimFolder, databaseFolder, unfinishedFolder } from "./folder-lock";
import { initdb } from "./initdb";

export const folderOf = (databaseUrl: string): string | null =>
  databaseUrl.startsWith("pglite:") ? databaseUrl.slice("pglite:".length) : null;

/** Whether there is no database in the folder. One that this user may not read counts as a database. */
export function hasNoDatabase(folder: string): boolean {
  try {
    accessSync(join(folder, databaseFolder, "PG_VERSION"));
    return false;
  } catch (error) {
    return ["ENOENT", "ENOTDIR"].includes((error as NodeJS.ErrnoException).code ?? "");
  }
}

/** Fills the folder of a database, as a first start does. @returns whether it was free */
export async function fillFolder(folder: string, fill: (files: string) => Promise<void>): Promise<boolean> {
  const { home, lock } = await claimFolder(folder);
  try {
    if (existsSync(join(home, databaseFolder))) return false;
    await wholeOrNone(home, fill);
    return true;
  } finally {
    await lock.close();
  }
}

export async function openEmbeddedDatabase(folder: string) {
  const { home, lock } = await claimFolder(folder);
  // Node without other work would first finish all of PGlite's background compilation (measured).
  const otherWork = setInterval(() => {}, 60_000);
  try {
    const pglite = await open(home, lock);
    const database = await listenOnSocket(pglite);
    return {
      host: database.host,
      withCopy: <T>(work: (files: string) => Promise<T>) => withCopy(home, pglite, work),
      async close() {
        await database.close();
        await lock.close();
      },
    };
  } catch (error) {
    await lock.close();
    throw error;
  } finally {
    clearInterval(otherWork);
  }
}

async function open(folder: string, lock: FileHandle): Promise<PGlite> {
  // V8's optimising compiler takes hundreds of MB for PGlite. A running Node 24 no longer takes `--liftoff-only`.
  // The last flag, which is 50 elsewhere, takes 15 MB from a loaded service, for no CPU that the bench can measure.
  const flags = ["--no-wasm-tier-up", "--no-wasm-dynamic-tiering", "--heap-growing-percent=25"];
  for (const flag of flags) setFlagsFromString(flag);
  process.umask(0o077); // for the files that PGlite creates from here on
  const files = join(folder, databaseFolder);
  const opening = async () => {
    if (!existsSync(files)) await wholeOrNone(folder, (unfinished) => initdb(unfinished, lock));
    return openFlushed(files);
  };
  const database = await opening().catch((error: NodeJS.ErrnoException) => {
    const reason = error.message?.split("\n")[0] ?? `errno ${error.errno}`; // Emscripten's file errors have no message
    const causes = "it is damaged, unreadable or of another version, or the disk is full";
    throw new StartError(`The database in ${folder} cannot be opened (${reason}): ${causes}.`);
  });
  await makePrivate(files);
  return database;
}

/** Fills a folder beside the database's, and renames it once it is on the disk: a crash leaves all of it, or none. */
async function wholeOrNone(home: string, fill: (files: string) => Promise<void>): Promise<void> {
  const unfinished = join(home, unfinishedFolder);
  try {
    await fill(unfinished);
    await flushTree(unfinished);
    renameSync(unfinished, join(home, databaseFolder));
    flushFolder(home);
  } finally {
    await rm(unfinished, { recursive: true, force: true, maxRetries: 5 }); // an extraction that failed may still write
  }
}

/** PGlite gives the files of a new database mode 0666, whatever the umask is. */
async function makePrivate(folder: string): Promise<void> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  await Promise.all(files.map(({ parentPath, name }) => chmod(join(parentPath, name), 0o600)));
}

/** Lets node-postgres talk to a PGlite over a Unix socket that only this user can reach, one connection at a time. */
export async function listenOnSocket(database: PGlite) {
  const { PGLiteSocketServer } = await import("@electric-sql/pglite-socket");
  const socketFolder = await mkdtemp(join(tmpdir(), "latchkey-")).catch(async ({ code }: NodeJS.ErrnoException) => {
    await database.close(); // its timers would keep a finished command alive
    throw new StartError(`The folder ${tmpdir()} (TMPDIR) cannot be written: ${code}.`);
  });
  // Two: the server notices a lost connection only after its replacement has connected.
  const server = new PGLiteSocketServer({ db: database, path: join(socketFolder, ".s.PGSQL.5432"), maxConnections: 2 });
  await server.start();
  // A private field of PGLiteSocketServer, read in pglite-socket 0.2.17: its listener keeps a finished command alive.
  (server as unknown as { server: net.Server }).server.unref();
  return {
    host: socketFolder, // node-postgres takes the socket's folder for a host
    async close() {
      await server.stop();
      await database.close();
      await rm(socketFolder, { recursive: true, force: true });
    },
  };
}

/**
 * Lets `work` read a copy of the database's files. It is made between two statements, and holds what a crash then would
 * leave: a start takes back what is not committed. @returns `null` while another copy is in use
 */
async function withCopy<T>(home: string, database: PGlite, work: (files: string) => Promise<T>): Promise<T | null> {
  const copy = join(home, unfinishedFolder);
  if (existsSync(copy)) return null;
  mkdirSync(copy); // before another copy is asked for
  try {
    const mode = constants.COPYFILE_FICLONE; // at once, where the file system can
    await database.runExclusive(() => cp(join(home, databaseFolder), copy, { recursive: true, mode }));
    return await work(copy);
  } finally {
    await rm(copy, { recursive: true, force: true });
  }
}
