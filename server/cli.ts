import { CommanderError } from "commander";
import { addDatabaseCommands } from "./commands/database";
import { addDoctor } from "./commands/doctor/doctor";
import { addMailCommands, addWebhookCommands } from "./commands/given-up";
import { addKeyCommands } from "./commands/keys";
import { CommandError, createProgram } from "./commands/program";
import { addUserCommands } from "./commands/user";
import { addUserAccessCommands } from "./commands/user-access";
import { addUserFileCommands } from "./commands/user-files";
import { DatabaseUnavailable, StartError } from "./errors";
import { duringCommand, logUnexpected } from "./log";
import { printable } from "./printable";

const program = createProgram();
addDoctor(program);
const user = program.command("user");
addUserCommands(user);
addUserAccessCommands(user);
addUserFileCommands(user);
addMailCommands(program.command("mail"));
addWebhookCommands(program.command("webhook"));
addKeyCommands(program.command("keys"));
addDatabaseCommands(program.command("database"));

async function main(words: string[]): Promise<0 | 1 | 2> {
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

process.stdout.on("error", ({ code }: NodeJS.ErrnoException) => {
  if (code !== "EPIPE")
    console.error(`Standard output cannot be written: ${code}. The command may have done its work.`);
  process.exit(1);
});

process.exitCode = await duringCommand(() => main(process.argv.slice(2)));
