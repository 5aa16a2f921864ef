import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { type Check, checksOf } from "./check";

const { ok, warn, fail } = checksOf("data folder");

const othersRights = 0o077;

/** The files that somebody else than their owner may read or write. */
async function openFiles(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const open: string[] = [];
  for (const entry of entries.filter((entry) => entry.isFile())) {
    const path = join(entry.parentPath, entry.name);
    const found = await stat(path).catch(() => null); // a running service removes files
    if (found && (found.mode & othersRights) !== 0) open.push(path);
  }
  return open;
}

/** Whether only the owner can read the embedded database. It holds addresses, password hashes and sessions. */
export async function checkFolder(folder: string): Promise<Check> {
  try {
    const { mode, uid } = await stat(folder);
    const files = await openFiles(folder);
    const rights = (mode & 0o777).toString(8).padStart(4, "0");
    if ((mode & othersRights) !== 0) {
      return fail(`${folder} has the mode ${rights}: others can open it`, `chmod -R go= ${folder}`);
    }
    if (files.length > 0) {
      return fail(`others can open files in it (${files.length}), e.g. ${files[0]}`, `chmod -R go= ${folder}`);
    }
    if (uid !== process.getuid?.()) {
      return warn(
        `${folder} belongs to the user ${uid}, not to ${process.getuid?.()}`,
        "run commands as the service's user",
      );
    }
    return ok(`${folder}: mode ${rights}, no file is readable by others`);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT") return warn(`${folder} does not exist`, "the first start of the service makes it");
    return fail(`${folder} cannot be read: ${code}`, `give it to the service's user: chown -R USER ${folder}`);
  }
}
