import { readFileSync } from "node:fs";

const secretNames = [
  "DATABASE_URL",
  "SMTP_URL",
  "RESEND_API_KEY",
  "POSTMARK_SERVER_TOKEN",
  "IDP_CLIENT_SECRET",
] as const;

export type ReadFile = (path: string) => string;

export const readTextFile: ReadFile = (path) => readFileSync(path, "utf8");

/**
 * Reads the secrets that are in files: the setting of a secret's name with `_FILE` is the path. One line break at the
 * end is cut.
 *
 * @returns the secrets, and the problems, which hold the error code and never the content; both by the secret's name
 */
export function readSecrets(set: Record<string, string | undefined>, readFile: ReadFile) {
  const secrets: Record<string, string> = {};
  const problems = new Map<string, string>();
  for (const name of secretNames) {
    const path = set[`${name}_FILE`];
    if (path === undefined) continue;
    if (set[name] !== undefined) {
      problems.set(name, `${name}_FILE must not be set together with ${name}`);
      continue;
    }
    try {
      secrets[name] = readFile(path).replace(/\r?\n$/, "");
    } catch (error) {
      problems.set(name, `${name}_FILE cannot be read: ${(error as NodeJS.ErrnoException).code}`);
    }
    // An empty secret is no unset one: DATABASE_URL would have its default.
    if (secrets[name]?.trim() === "") problems.set(name, `${name}_FILE is empty`);
  }
  return { secrets, problems };
}
