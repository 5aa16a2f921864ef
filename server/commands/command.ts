import { parseArgs } from "node:util";

/** A reason why a command could not do its work, in one line for the operator. Nothing was changed. */
export class CommandError extends Error {
  override name = "CommandError";
}

/** A command line that cannot be understood. */
export class UsageError extends Error {
  override name = "UsageError";
}

/** An option takes a value when it names a placeholder for it. */
interface Option {
  value?: string;
  help: string;
}

type Options = Record<string, Option>;

/** A name in brackets may be left out: `["EMAIL"]`, `["[ID]"]`. */
type Operands<Names extends readonly string[]> = {
  [Index in keyof Names]: Names[Index] extends `[${string}` ? string | undefined : string;
};

type Values<Set extends Options> = {
  [Name in keyof Set]?: Set[Name] extends { value: string } ? string : true;
};

interface Definition<Names extends readonly string[], Set extends Options> {
  /** The words that select the command: `user show`. */
  name: string;
  operands: Names;
  options: Set;
  /** One line for the list of all commands. */
  summary: string;
  /** What else an operator asks: what it changes, who is told, when it refuses. */
  details: string;
  /**
   * @throws CommandError
   * @throws UsageError when operands and options do not go together
   */
  run(operands: Operands<Names>, options: Values<Set>): Promise<void>;
}

export type Command = Omit<Definition<readonly string[], Options>, "run"> & {
  run(operands: string[], options: Record<string, string | true>): Promise<void>;
};

/** A command whose operands and options have types. */
export function defineCommand<const Names extends readonly string[], const Set extends Options>(
  definition: Definition<Names, Set>,
): Command {
  return definition as unknown as Command;
}

/** The option of every command that lists or shows. */
export const jsonOption = { help: "print JSON instead of text" };

/** The command of the first words, and the arguments after them. */
export function selectCommand(commands: Command[], words: string[]): { command: Command; rest: string[] } | null {
  for (const command of commands) {
    const { length } = command.name.split(" ");
    if (words.slice(0, length).join(" ") === command.name) return { command, rest: words.slice(length) };
  }
  return null;
}

const optionLine = (name: string, { value }: Option) => `--${name}${value ? ` ${value}` : ""}`;

const synopsis = ({ name, operands, options }: Command) =>
  [name, ...operands, ...Object.entries(options).map(([name, option]) => `[${optionLine(name, option)}]`)].join(" ");

const columns = (rows: [string, string][]) => {
  const width = Math.max(...rows.map(([left]) => left.length));
  return rows.map(([left, right]) => `  ${left.padEnd(width)}  ${right}`).join("\n");
};

export const usageOf = (command: Command) => `Usage: latchkey ${synopsis(command)}\n`;

/** The answer to `latchkey COMMAND --help`. */
export function helpOf(command: Command): string {
  const options = { ...command.options, help: { help: "print this text" } };
  const rows = Object.entries(options).map(([name, option]): [string, string] => [
    optionLine(name, option),
    option.help,
  ]);
  return `${usageOf(command)}\n${command.details}\n\nOptions:\n${columns(rows)}\n`;
}

/** The answer to `latchkey --help`, or to that of a noun with several commands. */
export function overviewOf(commands: Command[]): string {
  const rows = commands.map((command): [string, string] => [synopsis(command), command.summary]);
  const paragraphs = [
    "Usage: latchkey COMMAND",
    `Commands:\n${columns(rows)}`,
    "`latchkey COMMAND --help` says more about one of them. `latchkey` is the script deploy/latchkey, or `node server/cli.js`\n" +
      "or `npm run --silent latchkey --` in Latchkey's folder. The settings are those of the service.",
  ];
  return `${paragraphs.join("\n\n")}\n`;
}

/** An argument as a message quotes it: what follows a colon may be the password of a URL. */
export const quoted = (argument: string) => argument.replace(/:.*/s, ":…");

/**
 * Parses the arguments of a command.
 *
 * @returns `null` when its help is asked for
 * @throws UsageError
 */
function parse({ operands, options }: Command, words: string[]) {
  const types = Object.entries(options).map(
    ([name, { value }]) => [name, { type: value ? "string" : "boolean" }] as const,
  );
  const parsed = (() => {
    try {
      const help = { type: "boolean", short: "h" } as const;
      return parseArgs({ args: words, allowPositionals: true, options: { ...Object.fromEntries(types), help } });
    } catch (error) {
      throw new UsageError((error as Error).message.split(". ", 1)[0]);
    }
  })();
  const { help, ...values } = parsed.values;
  if (help) return null;
  const { positionals } = parsed;
  const missing = operands[positionals.length];
  if (missing && !missing.startsWith("[")) throw new UsageError(`${missing} is missing.`);
  const unexpected = positionals[operands.length];
  if (unexpected !== undefined) throw new UsageError(`Unexpected: ${quoted(unexpected)}`);
  return { positionals, values: values as Record<string, string | true> };
}

/**
 * Runs a command, or prints its help.
 *
 * @throws UsageError
 * @throws CommandError
 */
export async function runCommand(command: Command, words: string[]): Promise<void> {
  const parsed = parse(command, words);
  if (parsed) await command.run(parsed.positionals, parsed.values);
  else process.stdout.write(helpOf(command));
}
