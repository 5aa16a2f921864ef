import { once } from "node:events";
import { type FileHandle, open } from "node:fs/promises";
import { exportUsers, importUsers } from "../features/user-import.server";
import { type Command, CommandError, defineCommand } from "./command";
import { linesOf } from "./lines";
import { withDatabase } from "./open-database";
import { withProgress } from "./progress";

const count = (users: number) => (users === 1 ? "1 account" : `${users} accounts`);

async function* counted(stream: AsyncIterable<Buffer>, read: (bytes: number) => void): AsyncIterable<Buffer> {
  let bytes = 0;
  for await (const chunk of stream) {
    bytes += chunk.length;
    read(bytes);
    yield chunk;
  }
}

const unreadable = (path: string, { code }: NodeJS.ErrnoException) =>
  new CommandError(`${path} cannot be read: ${code}.`);

async function openFile(path: string): Promise<FileHandle> {
  try {
    return await open(path);
  } catch (error) {
    throw unreadable(path, error as NodeJS.ErrnoException);
  }
}

/** What PostgreSQL answers when others change the same accounts: a deadlock, or a key that came meanwhile. */
const changedMeanwhile = ["40P01", "23505"];

function importProblem(path: string, error: NodeJS.ErrnoException): Error {
  if (error.syscall === "read") return unreadable(path, error);
  if (!changedMeanwhile.includes(error.code ?? "")) return error;
  return new CommandError("Nothing was imported: others changed the same accounts at the same time. Run it again.");
}

async function importFile(path: string): Promise<void> {
  const file = await openFile(path);
  const stats = await file.stat();
  if (stats.isDirectory()) throw new CommandError(`${path} is a folder.`);
  const stream = file.createReadStream();
  let wrong = 0;
  const imported = await withDatabase(() =>
    withProgress("Importing", ({ show, print }) =>
      // Reading and checking take about as long as writing.
      importUsers(linesOf(counted(stream, (bytes) => show(bytes / Math.max(stats.size, bytes) / 2))), {
        wrong(line, problem) {
          wrong++;
          print(`Line ${line}: ${problem}.`);
        },
        written: (lines, all) => show(0.5 + lines / all / 2),
      }),
    ),
  ).catch((error: NodeJS.ErrnoException) => {
    throw importProblem(path, error);
  });
  if (imported === "another_import_runs") throw new CommandError("Nothing was imported: another import is running.");
  if (imported === "lines_are_wrong") {
    throw new CommandError(`Nothing was imported: ${wrong === 1 ? "1 line is" : `${wrong} lines are`} wrong.`);
  }
  const { created, skipped } = imported;
  process.stdout.write(`${count(created)} created, ${skipped} skipped because the address has an account.\n`);
}

const importCommand = defineCommand({
  name: "user import",
  operands: ["FILE"],
  options: {},
  summary: "create accounts from a file of JSON lines",
  details:
    "Each line of the file is a JSON object with `email` and, each optional, `name`, `passwordHash` (Argon2id in PHC form,\n" +
    "or bcrypt), `idpId` (the id at the identity provider) and `idpBlockedAt` (when the owner disconnected the provider).\n" +
    "The lines are checked first: when one is wrong, it is named, and nothing is changed. An address that has an account\n" +
    "is skipped. Nothing is mailed. Latchkey does not check that the addresses are their owners': the system that they\n" +
    "come from must have.",
  run: ([file]) => importFile(file),
});

const exportCommand = defineCommand({
  name: "user export",
  operands: [],
  options: {},
  summary: "print every account as `user import` takes it",
  details:
    "Prints one JSON object for each account. The output holds password hashes: keep it as you keep a backup. Pictures,\n" +
    "sessions and links are not part of it; `database copy` copies everything.",
  run: () =>
    withDatabase(async () => {
      for await (const user of exportUsers()) {
        if (!process.stdout.write(`${JSON.stringify(user)}\n`)) await once(process.stdout, "drain");
      }
    }),
});

export const userFileCommands: Command[] = [importCommand, exportCommand];
