import { readFileSync } from "node:fs";
import type { Setting } from "./setting";
import { type KnownValues, settings } from "./settings";

/** `process.env`, or an object like it. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** Why a setting that is absent must not be; `undefined` when it may. */
function reasonToSet({ requiredWith }: Setting, environment: Environment): string | undefined {
  const [other = "", value] = requiredWith?.split("=") ?? [];
  const found = environment[other] || environment[`${other}_FILE`];
  if (found && (value ?? found) === found) return `${other} is ${value ?? "set"}`;
}

/**
 * Reads each setting by itself: from the environment, where an empty variable counts as unset, from the file of a secret,
 * without one line break at its end, or its default.
 */
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
    const { error, data } = setting.form.safeParse(text);
    return error ? report(`${name} ${error.issues[0]?.message}`) : data;
  };

  const values = Object.entries(settings).map(([name, setting]) => [name, read(name, setting)]);
  return { values: Object.fromEntries(values), problems };
}
