import { CommanderError } from "commander";
import { DatabaseUnavailable, StartError } from "../errors";
import { logUnexpected } from "../log";
import { printable } from "../printable";
import { addDatabaseCommands } from "./database";
import { addDoctor } from "./doctor/doctor";
import { addMailCommands, addWebhookCommands } from "./given-up";
import { addKeyCommands } from "./keys";
import { CommandError, createProgram } from "./program";
import { addUserCommands } from "./user";
import { addUserAccessCommands } from "./user-access";
import { addUserFileCommands } from "./user-files";

export const program = createProgram();
addDoctor(program);
const user = program.command("user");
addUserCommands(user);
addUserAccessCommands(user);
addUserFileCommands(user);
addMailCommands(program.command("mail"));
addWebhookCommands(program.command("webhook"));
addKeyCommands(program.command("keys"));
addDatabaseCommands(program.command("database"));

/** @returns the exit status: 2 for wrong usage */
export async function runCommand(words: string[]): Promise<0 | 1 | 2> {
  try {
    await program.parseAsync(words, { from: "user" });
    return 0;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
    const expected = [CommandError, StartError, DatabaseUnavailable].some((kind) => error instanceof kind);
    if (expected) console.error(printable((error as Error).message));
    else logUnexpected(error);
    return 1;
  }
}
