import { normalizeAddress } from "../../accounts/users/email-address";
import { config } from "../../config";
import { longestPassword } from "../../rules";
import { isBreached } from "./breached-passwords";

export type PasswordProblem =
  | "too_short"
  | "too_long"
  | "common"
  | "is_the_email"
  | "is_the_service"
  | "breached"
  | "unconfirmed";

export interface NewPassword {
  email: string;
  password: string;
  passwordConfirmation: string;
}

const refusedRanks = 10_000;

let mostCommon: Promise<Set<string>> | undefined;

async function commonPasswords(): Promise<Set<string>> {
  const { dictionary } = await import("@zxcvbn-ts/language-common");
  return new Set(dictionary.passwords.slice(0, refusedRanks));
}

const spelled = (text: string) => text.normalize("NFKC").toLowerCase();

/** Words that everybody knows who tries to guess a password of this service. */
function wordsOfService(): string[] {
  const { appUrl, brand } = config();
  const { host, hostname } = new URL(appUrl);
  return [brand.name, host, hostname].map(spelled);
}

/** NIST SP 800-63B, section 3.1.1.2: a length, a blocklist, no rules of composition. Nothing is trimmed or cut. */
export async function passwordProblem({
  email: typedEmail,
  password,
  passwordConfirmation,
}: NewPassword): Promise<PasswordProblem | null> {
  const length = [...password].length; // in Unicode code points
  if (length < config().passwords.minimumLength) return "too_short";
  if (length > longestPassword) return "too_long";
  const email = normalizeAddress(typedEmail);
  const spelling = spelled(password);
  if (spelling === email || spelling === email.slice(0, email.lastIndexOf("@"))) return "is_the_email";
  if (wordsOfService().includes(spelling)) return "is_the_service";
  mostCommon ??= commonPasswords();
  if ((await mostCommon).has(spelling)) return "common";
  if (password !== passwordConfirmation) return "unconfirmed";
  return (await isBreached(password)) ? "breached" : null;
}
