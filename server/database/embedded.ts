import { accessSync } from "node:fs";
import { chmod, mkdtemp, readdir, rm } from "node:fs/promises";
import type net from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { PGlite } from "@electric-sql/pglite";
import { StartError } from "../errors";
import { claimFolder, databaseFolder } from "./folder-lock";

/** Lets node-postgres talk to a PGlite over a Unix socket that only this user can reach, one connection at a time. */
export async function listenOnSocket(database: PGlite) {
  const { PGLiteSocketServer } = await import("@electric-sql/pglite-socket");
  const home = await mkdtemp(join(tmpdir(), "latchkey-"));
  // Two: the server notices a lost connection only after its replacement has connected.
  const server = new PGLiteSocketServer({ db: database, path: join(home, ".s.PGSQL.5432"), maxConnections: 2 });
  await server.start();
  // A private field of PGLiteSocketServer, read in pglite-socket 0.2.17: its listener keeps a finished command alive.
  (server as unknown as { server: net.Server }).server.unref();
  return {
    host: home, // node-postgres takes the socket's folder for a host
    async close() {
      await server.stop();
      await database.close();
      await rm(home, { recursive: true, force: true });
    },
  };
}

/** PGlite gives the files of a new database mode 0666, whatever the umask is. */
async function makePrivate(folder: string): Promise<void> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  await Promise.all(files.map(({ parentPath, name }) => chmod(join(parentPath, name), 0o600)));
}

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

async function open(folder: string): Promise<PGlite> {
  const { PGlite } = await import("@electric-sql/pglite");
  process.umask(0o077); // for the files that PGlite creates from here on
  const files = join(folder, databaseFolder);
  const database = await PGlite.create(files).catch(({ message, errno }: NodeJS.ErrnoException) => {
    const reason = message?.split("\n")[0] ?? `errno ${errno}`; // Emscripten's file errors have no message
    const causes = "it is damaged, unreadable or of another version, or the disk is full";
    throw new StartError(`The database in ${folder} cannot be opened (${reason}): ${causes}.`);
  });
  await makePrivate(files);
  return database;
}

export async function openEmbeddedDatabase(folder: string) {
  const { home, lock } = await claimFolder(folder);
  // Node without other work would first finish all of PGlite's background compilation (measured).
  const otherWork = setInterval(() => {}, 60_000);
  try {
    const database = await listenOnSocket(await open(home));
    return {
      host: database.host,
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
