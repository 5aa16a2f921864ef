import { chmod, mkdir, mkdtemp, realpath, rename, rm, stat } from "node:fs/promises";
import net from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { PGlite } from "@electric-sql/pglite";
import { StartError } from "./start-error";

export interface EmbeddedDatabase {
  /** The folder of its Unix socket, as node-postgres takes it for a host; it serves one connection at a time. */
  host: string;
  close(): Promise<void>;
}

function listen(server: net.Server, path: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(path, resolve);
  });
}

function answers(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = net.connect(path);
    socket.once("connect", () => resolve(true)).once("error", () => resolve(false));
    socket.once("connect", () => socket.destroy());
  });
}

/**
 * Two processes on one data folder lose committed rows silently. A listening socket is a lock that dies with its
 * process; the file that a killed process leaves behind is moved away only by whoever saw that very inode dead.
 */
async function lockFolder(folder: string): Promise<net.Server> {
  const inUse = new StartError(`The data folder ${folder} is in use by another process.`);
  const path = join(await lockHome(folder), "latchkey.lock");
  const server = net.createServer((socket) => socket.destroy());
  for (let attempt = 0; attempt < 3; attempt++) {
    try {
      await listen(server, path);
      return server;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EADDRINUSE") throw error;
    }
    const inode = await stat(path).then(
      ({ ino }) => ino,
      () => null,
    );
    if (inode === null) continue;
    if (await answers(path)) throw inUse;
    const tomb = `${path}.${process.pid}`;
    await rename(path, tomb).catch(() => {});
    const moved = await stat(tomb).catch(() => null);
    if (moved && moved.ino !== inode) {
      await rename(tomb, path);
      throw inUse;
    }
    await rm(tomb, { force: true });
  }
  throw inUse;
}

const longestSocketPath = 107; // sun_path on Linux, without its NUL; Node cuts a longer one silently

async function lockHome(folder: string): Promise<string> {
  if (Buffer.byteLength(join(folder, "latchkey.lock.4194304")) <= longestSocketPath) return folder;
  const { createHash } = await import("node:crypto");
  const home = join(tmpdir(), `latchkey-${createHash("sha256").update(folder).digest("hex").slice(0, 16)}`);
  await mkdir(home, { recursive: true, mode: 0o700 });
  return home;
}

/** Makes the folder and locks it; the lock keeps the event loop until it is told not to. */
async function claimFolder(folder: string): Promise<{ home: string; lock: net.Server }> {
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    await chmod(folder, 0o700);
    const home = await realpath(folder);
    return { home, lock: await lockFolder(home) };
  } catch (error) {
    if (error instanceof StartError) throw error;
    throw new StartError(`The data folder ${folder} cannot be written: ${(error as NodeJS.ErrnoException).code}.`);
  }
}

/** Lets node-postgres talk to a PGlite over a Unix socket that only this user can reach. */
export async function serve(database: PGlite): Promise<EmbeddedDatabase> {
  const { PGLiteSocketServer } = await import("@electric-sql/pglite-socket");
  const home = await mkdtemp(join(tmpdir(), "latchkey-"));
  // Two, because a connection that was cut leaves a moment after the one that replaces it has come.
  const server = new PGLiteSocketServer({ db: database, path: join(home, ".s.PGSQL.5432"), maxConnections: 2 });
  await server.start();
  // The library keeps its listener to itself, and referenced: a command that is done would never end.
  (server as unknown as { server: net.Server }).server.unref();
  return {
    host: home,
    async close() {
      await server.stop();
      await database.close();
      await rm(home, { recursive: true, force: true });
    },
  };
}

async function open(folder: string): Promise<PGlite> {
  const { PGlite } = await import("@electric-sql/pglite");
  return PGlite.create(join(folder, "pglite")).catch(({ message, errno }: NodeJS.ErrnoException) => {
    const reason = message?.split("\n")[0] ?? `errno ${errno}`; // Emscripten's file errors have no message
    const causes = "it is damaged, unreadable or of another version, or the disk is full";
    throw new StartError(`The database in ${folder} cannot be opened (${reason}): ${causes}.`);
  });
}

/**
 * PostgreSQL in this process (PGlite), its data under `folder`.
 *
 * @throws StartError when the folder cannot be written, another process has it open, or what it holds cannot be read
 */
export async function openEmbeddedDatabase(folder: string): Promise<EmbeddedDatabase> {
  const { home, lock } = await claimFolder(folder);
  try {
    const database = await serve(await open(home));
    return {
      host: database.host,
      async close() {
        await database.close();
        lock.close();
      },
    };
  } finally {
    // Not before: Node with nothing else to wait for finishes all of PGlite's background compilation first.
    lock.unref();
  }
}
