import { readFileSync } from "node:fs";
import { type KnownValues, type Setting, settings } from "./settings";

export type Environment = Readonly<Record<string, string | undefined>>;

/** Why a setting that is absent must not be; `null` when it may. */
function reasonToSet({ requiredWith = "" }: Setting, environment: Environment): string | null {
  const [other = "", value] = requiredWith.split("=");
  const found = environment[other] || environment[`${other}_FILE`];
  return found && (value ?? found) === found ? `${other} is ${value ?? "set"}` : null;
}

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
      return reason === null ? null : report(`${name} is missing: ${reason}`);
    }
    const { error, data } = setting.format.safeParse(text);
    return error ? report(`${name} ${error.issues[0]?.message}`) : data;
  };

  const named = Object.values(settings).flatMap((group) => Object.entries<Setting>(group));
  return { values: Object.fromEntries(named.map(([name, setting]) => [name, read(name, setting)])), problems };
}
