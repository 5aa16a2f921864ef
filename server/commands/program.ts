import { once } from "node:events";
import type { Writable } from "node:stream";
import { Command } from "commander";
import { terminal } from "../process/context";
import { printable } from "../process/terminal";

export const print = (text: string) => void opened(terminal().out).write(`${printable(text)}\n`);

/** On standard error. */
export const printToStderr = (text: string) => void opened(terminal().err).write(`${printable(text)}\n`);

export const writeLine = (text: string) => writeOut(`${text}\n`);

/** Unlike `print`, writes what it gets as it is, and waits for a slow reader, such as `less`. */
export async function writeOut(text: string | Buffer): Promise<void> {
  const out = opened(terminal().out);
  if (!out.write(text)) await once(out, "drain");
}

/** @throws CommandError for a command of the service whose command line has gone */
function opened(stream: Writable): Writable {
  if (stream.destroyed) throw new CommandError("The command line has gone.");
  return stream;
}

/** A reason why a command could not do its work, in one line for the operator. Nothing was changed. */
export class CommandError extends Error {
  override name = "CommandError";
}

export const counted = (count: number, noun: string) => `${count} ${noun}${count === 1 ? "" : "s"}`;

/** The command line without its commands. They throw a `CommanderError` for wrong usage and for `--help`. */
export const createProgram = () =>
  new Command("latchkey")
    .exitOverride()
    .showHelpAfterError()
    .helpOption("-h, --help", "print this text")
    .configureOutput({
      writeOut: (text) => terminal().out.write(text),
      writeErr: (text) => terminal().err.write(text),
      outputError: (message, write) => write(printable(masked(message))),
    })
    .configureHelp({
      visibleCommands: (command) => command.commands.flatMap(leavesOf),
      subcommandTerm: synopsisOf,
      commandUsage: (command) => `latchkey ${synopsisOf(command)}`,
    })
    .addHelpText(
      "after",
      "\n`latchkey COMMAND --help` says more about one of them. `latchkey` is the script deploy/latchkey, or\n" +
        "`node server/cli.js` or `npm run --silent latchkey --` in Latchkey's folder. The settings are those of the service.",
    );

/** Masks an argument in a message after its first colon: the rest may be the password of a URL. */
const masked = (message: string) => message.replace(/('[^':]*):.*'/s, "$1:…'");

export const jsonOption = ["--json", "print JSON instead of text"] as const;

const leavesOf = (command: Command): Command[] =>
  command.commands.length > 0 ? command.commands.flatMap(leavesOf) : [command];

/** The words of a command, with brackets around what may be left out: `user delete EMAIL --yes`. */
function synopsisOf(command: Command): string {
  const bracketed = (words: string, required: boolean) => (required ? words : `[${words}]`);
  const operands = command.registeredArguments.map((operand) => bracketed(operand.name(), operand.required));
  const options = command.options.map(({ flags, mandatory }) => bracketed(flags.replace(/[<>]/g, ""), mandatory));
  const rest = [...operands, ...options];
  return [...wordsOf(command), ...(command.commands.length > 0 ? ["COMMAND"] : rest)].join(" ");
}

const wordsOf = (command: Command): string[] => (command.parent ? [...wordsOf(command.parent), command.name()] : []);
