import { existsSync, readFileSync } from "node:fs";
import { parseEnv } from "node:util";
import { closest, distance } from "fastest-levenshtein";
import { type KnownValues, type Setting, settings } from "./settings";

export type Environment = Readonly<Record<string, string | undefined>>;

/** An empty variable counts as unset. A secret's file loses one line break at its end. */
export function readSettings(environment: Environment): { values: KnownValues; problems: string[] } {
  const problems: string[] = [];

  /** The value of a setting; `undefined` after a problem. */
  const read = (name: string, setting: Setting): unknown => {
    const report = (problem: string) => void problems.push(problem);
    let text = environment[name] || setting.default;
    const path = setting.secret && environment[`${name}_FILE`];
    if (path) {
      if (environment[name]) return report(`${name}_FILE must not be set together with ${name}`);
      try {
        text = readFileSync(path, "utf8").replace(/\r?\n$/, "");
      } catch (error) {
        return report(`${name}_FILE cannot be read: ${(error as NodeJS.ErrnoException).code}`);
      }
    }
    if (text === undefined) {
      const reason = reasonToSet(setting, environment);
      return reason === undefined ? null : report(`${name} is missing: ${reason}`);
    }
    const { error, data } = setting.format.safeParse(text);
    return error ? report(`${name} ${error.issues[0]?.message}`) : data;
  };

  return { values: Object.fromEntries(declared.map(([name, setting]) => [name, read(name, setting)])), problems };
}

/** Why a setting that is absent must not be; `undefined` when it may. */
function reasonToSet({ requiredWith = [] }: Setting, environment: Environment): string | undefined {
  for (const condition of requiredWith) {
    const [other = "", value] = condition.split("=");
    const found = environment[other] || environment[`${other}_FILE`];
    if (found && (value ?? found) === found) return `${other} is ${value ?? "set"}`;
  }
}

const declared = Object.values(settings).flatMap((group) => Object.entries<Setting>(group));

/**
 * A sentence without full stop for what sets nothing: each line of `.env` without `=` (its text may be a secret), each
 * unknown name in it, and each misspelt setting in the environment.
 */
export function ignoredSettings(environment: Environment): string[] {
  const file = existsSync(".env") ? readFileSync(".env", "utf8") : "";
  // Node takes a line without `=` for the beginning of the next name.
  const inFile = Object.keys(parseEnv(file)).map((name) => name.replace(/.*\n/s, ""));
  const unknown = new Set([...inFile, ...Object.keys(environment)].filter((name) => !name.includes("\n")));
  const found = [...unknown]
    .filter((name) => !names.includes(name) && !isOfOthers(name))
    .flatMap((name) => {
      const setting = closest(name.toUpperCase(), names);
      if (isAlmost(name, setting)) return [`${name} is not a setting; ${setting} is`];
      return inFile.includes(name) ? [`${name} in .env is not a setting`] : [];
    });
  return [
    ...linesWithoutEquals(file).map((line) => `Line ${line} of .env has no =: it and the setting after it are ignored`),
    ...found,
  ];
}

/** The numbers of the lines without `=`. A quoted value may have several lines. */
function linesWithoutEquals(file: string): number[] {
  const unquoted = file.replace(/=\s*(["'`]).*?\1/gs, (value) => value.replace(/[^\n]+/g, "="));
  return unquoted.split("\n").flatMap((line, index) => (/^\s*(?:#|$)|=/.test(line) ? [] : [index + 1]));
}

const names = declared.flatMap(([name, { secret }]) => (secret ? [name, `${name}_FILE`] : [name]));

/** Read by Node, Remix and node-postgres. */
const isOfOthers = (name: string) => /^(?:NODE_|PG|TZ$)/.test(name);

/** Two letters at most, and one in four: `PATH` is almost `PORT`. */
const isAlmost = (name: string, setting: string) =>
  distance(name.toUpperCase(), setting) <= Math.min(2, setting.length / 4);
