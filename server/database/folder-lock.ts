import { chmod, mkdir, realpath, rename, rm, stat } from "node:fs/promises";
import net from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { StartError } from "../errors";
import { sha256 } from "../sha256";

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
 * Two processes on one data folder lose committed rows silently. A listening Unix socket is a lock that ends with its
 * process. A killed process leaves its socket file behind: it is moved away only while it has the inode that refused a
 * connection, so that no process removes the lock of another one.
 */
async function lockFolder(folder: string): Promise<net.Server> {
  const inUse = new StartError(`The data folder ${folder} is in use by another process.`);
  const path = join(await socketFolder(folder), "latchkey.lock");
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
    const stale = `${path}.${process.pid}`;
    await rename(path, stale).catch(() => {});
    const moved = await stat(stale).catch(() => null);
    if (moved && moved.ino !== inode) {
      await rename(stale, path);
      throw inUse;
    }
    await rm(stale, { force: true });
  }
  throw inUse;
}

const longestSocketPath = 107; // sun_path on Linux, without its NUL; Node cuts a longer one silently

/** Where the lock's socket is: in the folder itself, unless its path is too long for a socket. */
async function socketFolder(folder: string): Promise<string> {
  if (Buffer.byteLength(join(folder, "latchkey.lock.4194304")) <= longestSocketPath) return folder;
  const socketHome = join(tmpdir(), `latchkey-${sha256(folder).slice(0, 16)}`);
  await mkdir(socketHome, { recursive: true, mode: 0o700 });
  return socketHome;
}

const isFolder = (path: string) =>
  stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  );

/**
 * Makes a folder and the missing ones above it. Node's `recursive` calls a read-only file system ENOENT, and never returns
 * for a path below /proc.
 */
async function makeFolder(folder: string): Promise<void> {
  try {
    await mkdir(folder, { mode: 0o700 });
  } catch (error) {
    if (await isFolder(folder)) return;
    const parent = dirname(folder);
    if ((error as NodeJS.ErrnoException).code !== "ENOENT" || (await isFolder(parent))) throw error;
    await makeFolder(parent);
    await makeFolder(folder);
  }
}

/**
 * Makes the folder and locks it. The lock keeps the process alive until `unref` is called.
 *
 * @throws StartError when the folder cannot be written or another process has it open
 */
export async function claimFolder(folder: string): Promise<{ home: string; lock: net.Server }> {
  try {
    await makeFolder(folder);
    await chmod(folder, 0o700);
    const home = await realpath(folder);
    return { home, lock: await lockFolder(home) };
  } catch (error) {
    if (error instanceof StartError) throw error;
    throw new StartError(`The data folder ${folder} cannot be written: ${(error as NodeJS.ErrnoException).code}.`);
  }
}
