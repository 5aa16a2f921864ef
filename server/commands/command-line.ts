import { CommanderError } from "commander";
import { DatabaseUnavailable, FolderInUse, StartError } from "../errors";
import { logUnexpected } from "../log";
import { askService } from "./beside-service";
import { addDatabaseCommands } from "./database";
import { addBackupCommands } from "./database-backup";
import { addDoctor } from "./doctor/doctor";
import { addKeyCommands } from "./keys";
import { addMailCommands, addWebhookCommands } from "./mail-and-webhook";
import { CommandError, createProgram, printToStderr } from "./program";
import { addUserCommands } from "./user";
import { addUserAccessCommands } from "./user-access";
import { addUserFileCommands } from "./user-files";
import { addUserInvitationCommands } from "./user-invitations";
import { addUserTokenCommands } from "./user-tokens";

/** @returns the exit status: 2 for wrong usage */
export async function runCommand(words: string[]): Promise<number> {
  try {
    await latchkeyProgram().parseAsync(words, { from: "user" });
    return 0;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
    // The lock alone knows whether a service runs: a socket may be left over from one that was killed.
    if (error instanceof FolderInUse && runsBesideService(words)) {
      const status = await askService(error.folder, words);
      if (status !== null) return status;
    }
    const expected = [CommandError, StartError, DatabaseUnavailable].some((kind) => error instanceof kind);
    if (expected) printToStderr((error as Error).message);
    else logUnexpected(error);
    if (error instanceof FolderInUse && !runsBesideService(words))
      printToStderr("Stop the service, or wait for the other command.");
    return 1;
  }
}

/** A new one for each run: commander keeps the options of a run, and the service may run two at once. */
export function latchkeyProgram() {
  const program = createProgram();
  addDoctor(program);
  const user = program.command("user");
  addUserCommands(user);
  addUserAccessCommands(user);
  addUserFileCommands(user);
  addUserInvitationCommands(user);
  addUserTokenCommands(user);
  addMailCommands(program.command("mail"));
  addWebhookCommands(program.command("webhook"));
  addKeyCommands(program.command("keys"));
  const database = program.command("database");
  addDatabaseCommands(database);
  addBackupCommands(database);
  return program;
}

/** The commands of `database` need it for themselves: they copy it, or change its tables. A backup asks the service. */
const runsBesideService = ([noun]: string[]) => noun !== "database";
