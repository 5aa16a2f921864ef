import { pbkdf2, randomBytes, type ScryptOptions, scrypt, timingSafeEqual } from "node:crypto";
import { promisify } from "node:util";
import argon2 from "@node-rs/argon2";
import bcrypt from "@node-rs/bcrypt";
import { Argon2id } from "../../crypto/oslo";
import { kindOf } from "../../database/password-kinds";

const argon2id = new Argon2id();

/** About how many ms of CPU a verification takes (Node.js 20, docs/moving.md). */
export function costOf(kind: string): number {
  const value = (name: string) => parameterOf(kind, name);
  if (kind.startsWith("$2b")) return 2 ** Number(kind.slice(4)) * 0.06;
  if (kind.startsWith("$scrypt")) return 2 ** value("ln") * value("r") * value("p") * 0.00043;
  if (kind.startsWith("$pbkdf2")) return value("i") * (digestOf(kind) === "sha512" ? 0.0009 : 0.00025);
  return value("m") * value("t") * 0.0004;
}

/** A decoy with the iterations that `hash` lacks in comparison to its kind's highest number of them. */
export function remainderOf(kind: string, hash: string): string[] {
  const lacking = parameterOf(kind, "i") - parameterOf(kindOf(hash) ?? "", "i");
  return lacking > 0 ? [decoyOf(`${withoutIterations(kind)}i=${String(lacking).padStart(7, "0")}`)] : [];
}

/** PBKDF2 of one digest is one kind: the work of a refused login depends on the highest number of iterations. */
export const withoutIterations = (kind: string): string => kind.split("i=", 1).join();

/** A random hash, which takes as long to verify as any other of its kind. */
export function decoyOf(kind: string): string {
  const length = digestOf(kind) === "sha512" ? 64 : 32;
  if (!kind.startsWith("$2b")) return `${kind}$${randomText(16)}$${randomText(length)}`;
  const text = randomText(39).replaceAll("+", "."); // 128 and 184 bits are not multiples of 6: some letters are fixed
  return `${kind}$${text.slice(0, 21)}O${text.slice(21, 51)}O`;
}

const randomText = (bytes: number) => randomBytes(bytes).toString("base64").replaceAll("=", "");

/**
 * Latchkey and Better Auth hash the NFKC form. Most imported hashes are of the typed text. The work depends on the
 * password.
 */
export async function matchesHash(hash: string, password: string): Promise<boolean> {
  if (isSlowToNormalize(password)) return matchesTyped(hash, password);
  const normalized = password.normalize("NFKC");
  const isArgon2 = hash.startsWith("$argon2id");
  if (await (isArgon2 ? argon2id.verify(hash, password) : matchesTyped(hash, normalized))) return true;
  return password !== normalized && matchesTyped(hash, password);
}

/** NFKC sorts combining marks in quadratic time: 16 KB took 0.2 s. Latchkey's passwords have at most 512 code units. */
export const isSlowToNormalize = (text: string) => text.length > 512;

async function matchesTyped(hash: string, typed: string): Promise<boolean> {
  const kind = kindOf(hash) ?? "";
  if (kind.startsWith("$pbkdf2")) return matchesPbkdf2(hash, kind, typed);
  if (kind.startsWith("$scrypt")) return matchesScrypt(hash, kind, typed);
  if (!kind.startsWith("$2b")) return argon2.verify(hash, typed);
  // bcrypt reads 72 bytes, here as in the system that made the hash. Some implementations end at a NUL: their hash
  // would match every password with the same beginning.
  return (await bcrypt.verify(typed, hash)) && !typed.includes("\0");
}

/** RFC 8018. Django takes the text of the salt. */
async function matchesPbkdf2(hash: string, kind: string, typed: string): Promise<boolean> {
  const iterations = parameterOf(kind, "i");
  const [salt = "", output = ""] = hash.split("$").slice(-2);
  const [expected, saltBytes] = [bytesOf(output), hash.startsWith("$") ? bytesOf(salt) : salt];
  const derived = await promisify(pbkdf2)(typed, saltBytes, iterations, expected.length, digestOf(kind));
  return timingSafeEqual(derived, expected);
}

/** RFC 7914. Shorter outputs are the beginning of this one, and take as long. Better Auth takes the salt's text. */
async function matchesScrypt(hash: string, kind: string, typed: string): Promise<boolean> {
  const [N, r, p] = [2 ** parameterOf(kind, "ln"), parameterOf(kind, "r"), parameterOf(kind, "p")];
  const [salt = "", output = ""] = hash.split(/[$:]/).slice(-2);
  const isHex = !hash.startsWith("$");
  const expected = isHex ? Buffer.from(output, "hex") : bytesOf(output);
  const run = promisify<string, string | Buffer, number, ScryptOptions, Buffer>(scrypt);
  const derived = await run(typed, isHex ? salt : bytesOf(salt), 64, { N, r, p, maxmem: 2 ** 29 });
  return timingSafeEqual(derived.subarray(0, expected.length), expected);
}

/** Of PBKDF2. */
const digestOf = (kind: string) => (kind.startsWith("$pbkdf2-sha512") ? "sha512" : "sha256");

/** A number of a kind: `m` of `m=19456,t=2,p=1`. `NaN` without it. */
export const parameterOf = (kind: string, name: string): number =>
  Number(new RegExp(`[,$]${name}=(\\d+)`).exec(kind)?.[1]);

const bytesOf = (base64: string) => Buffer.from(base64.replaceAll(".", "+"), "base64"); // passlib writes `.` for `+`
