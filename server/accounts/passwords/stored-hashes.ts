import { randomBytes } from "node:crypto";
import argon2 from "@node-rs/argon2";
import bcrypt from "@node-rs/bcrypt";
import { Argon2id } from "oslo/password";

const argon2id = new Argon2id();

const argon2idKind = /^\$argon2id\$v=\d+\$m=\d+,t=\d+,p=\d+/;
const bcryptKind = /^\$2[aby](\$\d\d)\$/;

/** The algorithm and the parameters of a hash; `server/database/password-kinds.ts` says the same in SQL. */
export function kindOf(hash: string): string | undefined {
  const cost = bcryptKind.exec(hash)?.[1];
  return cost ? `$2b${cost}` : argon2idKind.exec(hash)?.[0];
}

const randomText = (bytes: number) => randomBytes(bytes).toString("base64").replaceAll("=", "");

/** A random hash, which takes as long to verify as any other of its kind. */
export function decoyOf(kind: string): string {
  if (!kind.startsWith("$2b")) return `${kind}$${randomText(16)}$${randomText(32)}`;
  const text = randomText(39).replaceAll("+", "."); // 128 and 184 bits are no multiple of 6: some letters are fixed
  return `${kind}$${text.slice(0, 21)}O${text.slice(21, 51)}O`;
}

async function matchesTyped(hash: string, typed: string): Promise<boolean> {
  if (!hash.startsWith("$2")) return argon2.verify(hash, typed);
  // bcrypt reads 72 bytes, here as in the system that made the hash. Some implementations end at a NUL: their hash
  // would match every password with the same beginning.
  return (await bcrypt.verify(typed, hash)) && !typed.includes("\0");
}

/** NFKC sorts combining marks in quadratic time: 16 KB took 0.2 s. Latchkey's passwords have at most 512 code units. */
export const isSlowToNormalize = (text: string) => text.length > 512;

/** Latchkey hashes the NFKC form. Most imported hashes are of the typed text. The work depends on the password. */
export async function matchesHash(hash: string, password: string): Promise<boolean> {
  if (isSlowToNormalize(password)) return matchesTyped(hash, password);
  const normalized = password.normalize("NFKC");
  const isBcrypt = hash.startsWith("$2");
  if (await (isBcrypt ? matchesTyped(hash, normalized) : argon2id.verify(hash, password))) return true;
  return password !== normalized && matchesTyped(hash, password);
}
