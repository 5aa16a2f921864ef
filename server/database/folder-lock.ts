import { constants } from "node:fs";
import { chmod, type FileHandle, mkdir, open, readdir, realpath, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { StartError } from "../errors";

const { O_CREAT, O_NOFOLLOW, O_NONBLOCK, O_WRONLY } = constants;

/**
 * Two processes on one data folder lose committed rows silently. The system ends the lock of a file with its process,
 * however that ends (fcntl(2), open file description locks).
 */
async function lockFolder(folder: string, tryLock: (fd: number) => boolean): Promise<FileHandle> {
  const lock = await open(join(folder, "lock"), O_WRONLY | O_CREAT | O_NOFOLLOW | O_NONBLOCK, 0o600); // no FIFO
  try {
    if (!tryLock(lock.fd)) throw new StartError(`The data folder ${folder} is in use by another process.`);
    return lock;
  } catch (error) {
    await lock.close();
    throw error;
  }
}

/** The function of a binary, which services on PostgreSQL do not need. */
async function loadTryLock(): Promise<(fd: number) => boolean> {
  try {
    return (await import("fs-native-extensions")).tryLock;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new StartError(`The embedded database does not work on this system (fs-native-extensions: ${code}).`);
  }
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

/** The folder of PostgreSQL's files in the data folder. */
export const databaseFolder = "pglite";

/** Others would lose their rights to the files of a folder that is given by mistake, such as /var/lib. */
async function assertNoOtherFiles(folder: string): Promise<void> {
  const names = await readdir(folder);
  const others = names.filter((name) => !/^(\..*|lock|lost\+found)$/s.test(name));
  if (others.length === 0 || others.includes(databaseFolder)) return;
  throw new StartError(`The folder ${folder} holds other files than a database's: name one that is new or empty.`);
}

/**
 * Makes the folder and locks it until the returned file is closed.
 *
 * @throws StartError when the folder cannot be written, holds other files or another process has it open, or the system
 * has no locks
 */
export async function claimFolder(folder: string): Promise<{ home: string; lock: FileHandle }> {
  const tryLock = await loadTryLock();
  try {
    await makeFolder(folder);
    await assertNoOtherFiles(folder);
    await chmod(folder, 0o700);
    const home = await realpath(folder);
    return { home, lock: await lockFolder(home, tryLock) };
  } catch (error) {
    if (error instanceof StartError) throw error;
    throw new StartError(`The data folder ${folder} cannot be written: ${(error as NodeJS.ErrnoException).code}.`);
  }
}
