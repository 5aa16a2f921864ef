/** One value for the whole process: remix-serve may evaluate the bundle, and so each module's variables, twice. */
export function processValue<T>(name: string): { current: T | undefined } {
  const holders = globalThis as Record<symbol, { current: T | undefined }>;
  const key = Symbol.for(`latchkey.${name}`);
  holders[key] ??= { current: undefined };
  return holders[key];
}
