import { createHash } from "node:crypto";
import { normalizeAddress } from "../../accounts/users/email-address";
import { callText } from "../../calls/json-client";
import { config } from "../../config";
import { CallError } from "../../errors";
import { logEvent } from "../../log";
import { longestPassword } from "../../rules";

let commonList: Promise<Set<string>> | undefined;

export type PasswordProblem = NonNullable<Awaited<ReturnType<typeof passwordProblem>>>;

/** NIST SP 800-63B, section 3.1.1.2: a length, a blocklist, no rules of composition. Nothing is trimmed or cut. */
export async function passwordProblem(typed: Record<"email" | "password" | "passwordConfirmation", string>) {
  const { password } = typed;
  const length = [...password].length; // in Unicode code points
  if (length < config().passwords.minimumLength) return "too_short";
  if (length > longestPassword) return "too_long";
  const email = normalizeAddress(typed.email);
  const spelling = spelled(password);
  const ownWords = [email, email.slice(0, email.lastIndexOf("@"))];
  if (ownWords.includes(normalizeAddress(spelling))) return "is_the_email";
  if (wordsOfService().includes(spelling)) return "is_the_service";
  commonList ??= commonPasswords();
  if ((await commonList).has(spelling)) return "common";
  if (password !== typed.passwordConfirmation) return "unconfirmed";
  return (await isBreached(password)) ? "breached" : null;
}

/** Words that everybody knows who tries to guess a password of this service. */
function wordsOfService(): string[] {
  const { appUrl, brand } = config();
  const { host, hostname } = new URL(appUrl);
  return [brand.name, host, hostname].map(spelled);
}

const spelled = (text: string) => text.normalize("NFKC").toLowerCase();

const refusedRanks = 10_000;

async function commonPasswords(): Promise<Set<string>> {
  const { dictionary } = await import("@zxcvbn-ts/language-common");
  return new Set(dictionary.passwords.slice(0, refusedRanks));
}

const lookUpDeadline = 2_000; // ms

/**
 * Whether Have I Been Pwned has the password, by the first five hex digits of its SHA-1. Padding hides the requested
 * range from an observer of the answer's size; its lines have the count 0. Allows a password that cannot be looked up.
 * https://haveibeenpwned.com/API/v3#PwnedPasswords
 */
export async function isBreached(password: string): Promise<boolean> {
  const { breachesUrl } = config().passwords;
  if (breachesUrl === null) return false;
  const hash = createHash("sha1").update(password).digest("hex").toUpperCase();
  const headers = { accept: "text/plain", "add-padding": "true" };
  const call = { method: "GET", headers, deadline: lookUpDeadline } as const;
  try {
    const range = await callText(`${breachesUrl}/range/${hash.slice(0, 5)}`, call);
    if (!/^[\dA-F]{35}:\d/im.test(range)) throw new CallError("unexpected"); // e.g. the page of a captive portal
    const line = range.split(/\r?\n/).find((line) => line.toUpperCase().startsWith(`${hash.slice(5)}:`));
    return line !== undefined && Number(line.split(":")[1]) > 0;
  } catch (error) {
    if (!(error instanceof CallError)) throw error;
    logEvent({ event: "password.not_looked_up", reason: error.reason });
    return false;
  }
}
