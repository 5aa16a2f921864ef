import { existsSync, rmSync } from "node:fs";
import { type FileHandle, link, open, rm } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import type { Command } from "commander";
import { flushFolder } from "../database/flushed-files";
import { FolderInUse } from "../errors";
import { backUp, type RestoreRefusal, RestoreRefused, restore } from "../features/operator/database-backup";
import { stopSignals } from "../process/exit";
import { askService } from "./beside-service";
import { dataFolder, withDatabase } from "./open-database";
import { CommandError, print, printToStderr, writeOut } from "./program";

export function addBackupCommands(database: Command): void {
  database
    .command("backup <FILE>")
    .summary("copy the embedded database to a file, beside the running service, too")
    .description(
      "Copies the embedded database, as it is at one moment, to a new file that only its owner can read (`-`: to standard " +
        "output). It needs as much free space beside the database while it runs.",
    )
    .action(backup);
  database
    .command("restore <FILE>")
    .summary("fill an empty data folder from a backup")
    .description(
      "Fills the data folder of the settings from a file of `database backup` (`-`: from standard input). The folder must " +
        "have no database, and no service may run on it. Sessions, mailed links, invitations, and waiting mails and " +
        "webhooks of the copy end.",
    )
    .option("--as-it-was", "end no session, link, invitation, mail or webhook")
    .action(restoreFrom);
}

async function backup(path: string): Promise<void> {
  dataFolder();
  if (path === "-") return naming("The backup cannot be written", backUpTo(writeOut));
  const file = resolve(path);
  if (existsSync(file)) throw new CommandError(`${file} is there already.`);
  await naming(
    `${file} cannot be written`,
    writeWhole(file, (handle) => backUpTo((piece) => handle.appendFile(piece))),
  );
  print(`The database is backed up in ${file}.`);
}

type Take = (piece: Buffer) => Promise<void>;

/** By the service that holds the folder, or in its place. */
async function backUpTo(take: Take): Promise<void> {
  try {
    const made = await withDatabase((database) => backUp(database, take));
    if (!made) throw new CommandError("Another backup is being made.");
  } catch (error) {
    const status =
      error instanceof FolderInUse ? await askService(error.folder, ["database", "backup", "-"], take) : null;
    if (status === null) throw error;
    if (status !== 0) throw new CommandError("Nothing was backed up.");
  }
}

/** Writes a temporary file and links it when complete: FILE is never partial, never overwritten. */
async function writeWhole(file: string, write: (handle: FileHandle) => Promise<void>): Promise<void> {
  const unfinished = `${file}.${process.pid}.unfinished`;
  const leaveNothing = () => {
    rmSync(unfinished, { force: true });
    process.exit(1);
  };
  const signals = [...stopSignals, "SIGHUP"];
  for (const signal of signals) process.once(signal, leaveNothing);
  const handle = await open(unfinished, "wx", 0o600);
  try {
    await write(handle);
    await handle.sync();
    await link(unfinished, file);
    flushFolder(dirname(file));
  } finally {
    for (const signal of signals) process.off(signal, leaveNothing);
    await handle.close();
    await rm(unfinished, { force: true });
  }
}

const refusals: Record<RestoreRefusal, string> = {
  folder_is_not_empty: "the data folder has a database",
  not_a_backup: "the file is not a backup of Latchkey, is damaged or is cut short",
  other_postgres: "the backup is of another version of PostgreSQL: use the release of Latchkey that made it",
  backup_is_newer: "a newer release made the backup: use its command line",
};

async function restoreFrom(path: string, { asItWas = false }: { asItWas?: boolean }): Promise<void> {
  const folder = dataFolder();
  const openArchive = async () => (path === "-" ? process.stdin : (await open(path)).createReadStream());
  const restoring = openArchive()
    .then((archive) => restore(folder, archive, asItWas).finally(() => archive.destroy()))
    .catch((error: unknown) => {
      if (error instanceof RestoreRefused) throw new CommandError(`Nothing was restored: ${refusals[error.reason]}.`);
      throw error;
    });
  const madeAt = await naming("Nothing was restored", restoring);
  print(`Restored the copy of ${madeAt.toISOString()}. Accounts, passkeys and tokens are as they were then.`);
  if (!asItWas) printToStderr("Its sessions, mailed links, invitations, and waiting mails and webhooks have ended.");
}

/** @throws CommandError for an error of the file system */
async function naming<T>(problem: string, work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    const { code, syscall } = error as NodeJS.ErrnoException;
    if (/^E[A-Z]+$/.test(code ?? "") && syscall !== "connect") throw new CommandError(`${problem}: ${code}.`);
    throw error;
  }
}
