import { CallError } from "../../errors";

/** One finding about the installation. Nothing in it is a secret. */
export interface Check {
  status: "ok" | "warn" | "fail" | "skip";
  name: string;
  found: string;
  /** What to do about it, in one line; only with `warn` and `fail`. */
  fix?: string;
}

export const checksOf = (name: string) => ({
  ok: (found: string): Check => ({ status: "ok", name, found }),
  /** For what cannot be checked from here. */
  skip: (found: string): Check => ({ status: "skip", name, found }),
  warn: (found: string, fix: string): Check => ({ status: "warn", name, found, fix }),
  fail: (found: string, fix: string): Check => ({ status: "fail", name, found, fix }),
});

/** The answer of a call, or the cause of its failure. */
export const answerOf = <T>(call: Promise<T>): Promise<T | string> =>
  call.catch((error: unknown) => {
    if (error instanceof CallError) return causeOf(error);
    throw error;
  });

export const causeOf = ({ reason, code }: { reason: string; code?: unknown }) =>
  code === undefined ? reason : `${reason}, ${code}`;

export type Finding = readonly [found: string, fix: string];

/** What the words of a failure mean. `{name}` stands for a value; the last row matches all words. */
export type Findings = readonly (readonly [words: RegExp, ...Finding])[];

export function findingOf(findings: Findings, words: string, values: Record<string, string>): Finding {
  const [, found = words, fix = ""] = findings.find(([pattern]) => pattern.test(words)) ?? [];
  const filled = (text: string) => text.replace(/\{(\w+)\}/g, (_, name: string) => values[name] ?? "");
  return [filled(found), filled(fix)];
}
