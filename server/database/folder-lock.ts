import { chmod, type FileHandle, mkdir, open, readdir, realpath, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { FolderInUse, StartError } from "../errors";
import { flushFolder } from "./flushed-files";

/** For files that are being made or copied. A process that is killed leaves it, and the next one removes it. */
export const unfinishedFolder = ".unfinished";

export async function claimFolder(folder: string): Promise<{ home: string; lock: FileHandle }> {
  const tryLock = await loadTryLock();
  try {
    const made = await mkdir(folder, { recursive: true, mode: 0o700 });
    await assertNoOtherFiles(folder);
    await chmod(folder, 0o700);
    const home = await realpath(folder);
    if (made) flushNames(home, await realpath(made));
    const lock = await lockFolder(home, tryLock);
    await rm(join(home, unfinishedFolder), { recursive: true, force: true });
    return { home, lock };
  } catch (error) {
    if (error instanceof StartError) throw error;
    throw new StartError(`The data folder ${folder} cannot be written: ${(error as NodeJS.ErrnoException).code}.`);
  }
}

/** Loads a native binary, which services on PostgreSQL do not need. */
async function loadTryLock(): Promise<(fd: number) => boolean> {
  try {
    return (await import("fs-native-extensions")).tryLock;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new StartError(`The embedded database does not work on this system (fs-native-extensions: ${code}).`);
  }
}

export const databaseFolder = "pglite";

/** If a folder such as /var/lib were given by mistake, other users would lose access to its files. */
async function assertNoOtherFiles(folder: string): Promise<void> {
  const names = await readdir(folder);
  const others = names.filter((name) => !/^(\..*|lock|lost\+found)$/s.test(name));
  if (others.length === 0 || others.includes(databaseFolder)) return;
  throw new StartError(`The folder ${folder} holds other files than a database's: name one that is new or empty.`);
}

/** Flushes the names of new folders, from the first to the last one, into the folders above them. */
function flushNames(last: string, first: string): void {
  for (let folder = last; folder.length >= first.length; folder = dirname(folder)) flushFolder(dirname(folder));
}

/** Two processes on one folder lose rows. The lock ends with its process (fcntl(2), open file description locks). */
async function lockFolder(folder: string, tryLock: (fd: number) => boolean): Promise<FileHandle> {
  const lock = await open(join(folder, "lock"), "a", 0o600);
  try {
    if (!tryLock(lock.fd)) throw new FolderInUse(folder);
    return lock;
  } catch (error) {
    await lock.close();
    throw error;
  }
}
