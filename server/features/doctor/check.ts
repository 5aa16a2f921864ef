/** One finding about the installation. Nothing in it is a secret. */
export interface Check {
  status: "ok" | "warn" | "fail";
  /** What was looked at. */
  name: string;
  /** What was found. */
  found: string;
  /** What to do about it, in one line; only where the status is not `ok`. */
  mend?: string;
}

/** The constructors of one subject's checks. */
export const checksOf = (name: string) => ({
  ok: (found: string): Check => ({ status: "ok", name, found }),
  warn: (found: string, mend: string): Check => ({ status: "warn", name, found, mend }),
  fail: (found: string, mend: string): Check => ({ status: "fail", name, found, mend }),
});
