import { existsSync, readFileSync } from "node:fs";
import { parseEnv } from "node:util";
import { closest, distance } from "fastest-levenshtein";
import type { Environment } from "./read-settings";
import { type Setting, settings } from "./settings";

const names = Object.values(settings)
  .flatMap((group) => Object.entries<Setting>(group))
  .flatMap(([name, { secret }]) => (secret ? [name, `${name}_FILE`] : [name]));

/** Read by Node, Remix and node-postgres. */
const isOfOthers = (name: string) => /^(?:NODE_|PG|TZ$)/.test(name);

/** Two letters at most, and one in four: `PATH` is almost `PORT`. */
const isAlmost = (name: string, setting: string) =>
  distance(name.toUpperCase(), setting) <= Math.min(2, setting.length / 4);

/** A sentence without full stop for each unknown name in `.env`, and each misspelt setting in the environment. */
export function unknownNames(environment: Environment): string[] {
  const inFile = existsSync(".env") ? Object.keys(parseEnv(readFileSync(".env", "utf8"))) : [];
  const unknown = new Set([...inFile, ...Object.keys(environment)]);
  return [...unknown]
    .filter((name) => !names.includes(name) && !isOfOthers(name))
    .flatMap((name) => {
      const setting = closest(name.toUpperCase(), names);
      if (isAlmost(name, setting)) return [`${name} is no setting; ${setting} is`];
      return inFile.includes(name) ? [`${name} in .env is no setting`] : [];
    });
}
