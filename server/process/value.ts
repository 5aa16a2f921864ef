/**
 * A function that sets such a value, and one that reads it. Until it is set, reading throws an Error with the text
 * `missing`.
 */
export function requiredValue<T>(name: string, missing: string) {
  const provided = processValue<T>(name);
  const provide = (value: T): void => {
    provided.current = value;
  };
  const read = (): T => {
    if (provided.current === undefined) throw new Error(missing);
    return provided.current;
  };
  return [provide, read] as const;
}

/** One value for the whole process: remix-serve may evaluate the bundle, and so each module's variables, twice. */
export function processValue<T>(name: string): { current: T | undefined } {
  const holders = globalThis as Record<symbol, { current: T | undefined }>;
  const key = Symbol.for(`latchkey.${name}`);
  holders[key] ??= { current: undefined };
  return holders[key];
}
