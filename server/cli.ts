import { CommandError, overviewOf, quoted, runCommand, selectCommand, UsageError, usageOf } from "./commands/command";
import { databaseCommands } from "./commands/database";
import { doctorCommands } from "./commands/doctor";
import { mailCommands } from "./commands/mail";
import { userCommands } from "./commands/user";
import { userFileCommands } from "./commands/user-files";
import { DatabaseUnavailable, StartError } from "./errors";
import { duringCommand, logUnexpected } from "./log";
import { printable } from "./printable";

const commands = [...doctorCommands, ...userCommands, ...userFileCommands, ...mailCommands, ...databaseCommands];

const helpWords = new Set(["--help", "-h", "help"]);

/** The commands of a noun, or all of them. */
function commandsOf(noun: string | undefined) {
  const some = commands.filter(({ name }) => name.split(" ", 1)[0] === noun);
  return some.length > 0 ? some : commands;
}

function refuse(reason: string, usage: string): 2 {
  console.error(`${printable(reason)}\n\n${usage.trimEnd()}`);
  return 2;
}

/** @returns the exit status */
async function main(words: string[]): Promise<0 | 1 | 2> {
  const selected = selectCommand(commands, words);
  if (!selected) {
    const overview = overviewOf(commandsOf(words[0]));
    if (!words.some((word) => helpWords.has(word))) {
      return refuse(
        words.length > 0 ? `There is no command \`${words.map(quoted).join(" ")}\`.` : "A command is missing.",
        overview,
      );
    }
    process.stdout.write(overview);
    return 0;
  }
  const { command, rest } = selected;
  try {
    await runCommand(command, rest);
    return 0;
  } catch (error) {
    if (error instanceof UsageError) return refuse(error.message, usageOf(command));
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
