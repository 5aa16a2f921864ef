import { expect } from "vitest";
import { logIn } from "./account-calls";
import type { Latchkey } from "./latchkey";

export const storedHash = async ({ execute }: Latchkey) =>
  (await execute<{ hash: string }>("select password_hash as hash from users"))[0]?.hash;

/** Asserts that the only account has this hash until the first login with its password, which replaces it by Argon2id. */
export async function expectReplacedAtLogin(latchkey: Latchkey, hash: string, password: string): Promise<void> {
  const statusOf = async (typed: string) => (await logIn({ password: typed })).status;
  expect(await statusOf(`${password}!`)).toBe(422);
  expect(await storedHash(latchkey)).toBe(hash);
  expect(await statusOf(password)).toBe(302);
  const renewed = await storedHash(latchkey);
  expect(renewed).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/);
  expect(await statusOf(password)).toBe(302);
  expect(await storedHash(latchkey)).toBe(renewed);
}
