import { isUtf8 } from "node:buffer";
import { resolve } from "node:path";
import type { Command } from "commander";
import { exportUsers, importUsers } from "../features/operator/user-import";
import { optionalFields } from "../features/operator/user-lines";
import { readOperand } from "./beside-service";
import { withDatabase } from "./open-database";
import { CommandError, counted, print, printToStderr, writeLine } from "./program";

export function addUserFileCommands(user: Command): void {
  user
    .command("import <FILE>")
    .summary("create accounts from a file of JSON lines")
    .description(
      `Each line of the file is a JSON object with \`email\` and, each optional, ${optionalFields.join(", ")}. The lines ` +
        "are checked first: when one is wrong, it is named, and nothing is changed. An address that has an account is " +
        "skipped. Nothing is mailed. Latchkey does not check that the addresses are their owners': the system that they " +
        "come from must have.",
    )
    .action(importFile);
  user
    .command("export")
    .summary("print every account as `user import` takes it")
    .description(
      "Prints one JSON object for each account. The output holds password hashes: keep it as you keep a backup. " +
        "Pictures, passkeys, sessions and links are not part of it; `database copy` copies everything.",
    )
    .action(exportAll);
}

/** What PostgreSQL answers when others change the same accounts: a deadlock, or a key that came meanwhile. */
const changedMeanwhile = ["40P01", "23505"];

async function importFile(path: string): Promise<void> {
  const lines = await readLines(path);
  const written = (done: number, all: number) => printToStderr(`${done} of ${all} lines are written.`);
  const imported = await withDatabase(() => importUsers(lines, written)).catch((error: NodeJS.ErrnoException) => {
    if (!changedMeanwhile.includes(error.code ?? "")) throw error;
    throw new CommandError("Nothing was imported: others changed the same accounts at the same time. Run it again.");
  });
  if (imported === "another_import_runs") throw new CommandError("Nothing was imported: another import is running.");
  if (Array.isArray(imported)) {
    const listed = imported.map(({ line, problem }) => `Line ${line}: ${problem}.\n`).join("");
    const are = imported.length === 1 ? "is" : "are";
    throw new CommandError(`${listed}Nothing was imported: ${counted(imported.length, "line")} ${are} wrong.`);
  }
  const { created, skipped, uninvited } = imported;
  if (uninvited > 0)
    printToStderr(
      `${counted(uninvited, "invitation")} of these addresses removed. The accounts do not get their groups.`,
    );
  print(`${counted(created, "account")} created, ${skipped} skipped because the address has an account.`);
}

async function readLines(path: string): Promise<string[]> {
  const file = await readOperand(path).catch(({ code }: NodeJS.ErrnoException) => {
    throw new CommandError(`${resolve(path)} cannot be read: ${code}.`);
  });
  if (!isUtf8(file)) throw new CommandError(`${resolve(path)} is not UTF-8. Save it as UTF-8.`);
  return new TextDecoder().decode(file).split("\n");
}

const exportAll = () =>
  withDatabase(async () => {
    for await (const user of exportUsers()) await writeLine(JSON.stringify(user));
  });
