import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { type Check, checksOf } from "./check";

const { ok, warn, fail } = checksOf("data folder");

/** Whether only the owner can read the embedded database. It holds addresses, password hashes and sessions. */
export async function checkFolder(folder: string): Promise<Check> {
  try {
    const found = await stat(folder);
    const rights = (found.mode & 0o777).toString(8).padStart(4, "0");
    const closeIt = `chmod -R go= ${folder}`;
    if (isOpenToOthers(found)) return fail(`${folder} has the mode ${rights}: others can open it`, closeIt);
    const files = await openFiles(folder);
    if (files.length > 0) return fail(`others can open files in it (${files.length}), e.g. ${files[0]}`, closeIt);
    const user = process.getuid?.();
    if (found.uid === user) return ok(`${folder}: mode ${rights}, no file is readable by others`);
    return warn(`${folder} belongs to the user ${found.uid}, not to ${user}`, "run commands as the service's user");
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT") return warn(`${folder} does not exist`, "the first start of the service makes it");
    return fail(`${folder} cannot be read: ${code}`, `give it to the service's user: chown -R USER ${folder}`);
  }
}

async function openFiles(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const paths = entries.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name));
  const found = await Promise.all(paths.map((path) => stat(path).catch(() => null))); // a running service removes files
  return paths.filter((_path, at) => found[at] && isOpenToOthers(found[at]));
}

const isOpenToOthers = ({ mode }: { mode: number }) => (mode & 0o077) !== 0;
