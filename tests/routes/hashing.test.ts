import { Argon2id } from "oslo/password";
import { beforeEach, expect, test, vi } from "vitest";
import { hashPassword } from "#server/accounts/password-hashing";
import { HashingOverloaded } from "#server/errors";
import * as login from "~/routes/login";
import { createUser, goodPassword } from "../support/accounts";
import { startLatchkey } from "../support/latchkey";
import { call, post } from "../support/route-calls";

const latchkey = startLatchkey();

/** The hashes that run, each to be finished by hand. */
let running: { password: string; finish: () => void }[] = [];

beforeEach(async () => {
  await createUser(latchkey.em());
  running = [];
  vi.spyOn(Argon2id.prototype, "hash").mockImplementation(
    (password) => new Promise((resolve) => running.push({ password, finish: () => resolve("hash") })),
  );
});

async function finishAll(hashes: Promise<unknown>[]): Promise<void> {
  const settled = Promise.allSettled(hashes);
  let done = false;
  void settled.then(() => {
    done = true;
  });
  while (!done) {
    for (const { finish } of running.splice(0)) finish();
    await new Promise(setImmediate);
  }
}

/** As many hashes as run and wait at most. */
function fillLine(signal?: AbortSignal): { hashes: Promise<string>[]; places: number } {
  const hashes: Promise<string>[] = [hashPassword("0"), hashPassword("1"), hashPassword("2")];
  const places = running.length;
  for (let at = 3; at < places + 64; at++) hashes.push(hashPassword(`${at}`, signal));
  return { hashes, places };
}

const logIn = () => call(login.action, post("/login", { email: "ada@example.com", password: goodPassword }));

test("two or three run, 64 wait, the next is refused, and after that there is room again", async () => {
  const { hashes, places } = fillLine();
  expect([2, 3]).toContain(places);
  expect(running.map(({ password }) => password)).toEqual(["0", "1", "2"].slice(0, places));
  await expect(hashPassword("one more")).rejects.toBeInstanceOf(HashingOverloaded);
  await finishAll(hashes);
  expect(await Promise.all(hashes)).toEqual(Array(places + 64).fill("hash"));
  const next = hashPassword("next");
  expect(running.map(({ password }) => password)).toEqual(["next"]);
  await finishAll([next]);
});

test("whoever has hung up leaves the line and is not hashed", async () => {
  const client = new AbortController();
  const { hashes, places } = fillLine(client.signal);
  client.abort();
  const stays = hashPassword("stays");
  const late = hashPassword("late", client.signal);
  for (const { finish } of running.splice(0)) finish();
  await new Promise(setImmediate);
  expect(running.map(({ password }) => password)).toContain("stays");
  await finishAll([...hashes, stays, late]);
  const settled = await Promise.allSettled(hashes.slice(3));
  expect(settled.filter(({ status }) => status === "rejected")).toHaveLength(places + 64 - 3);
  await expect(late).rejects.toMatchObject({ name: "AbortError" });
  expect(running).toEqual([]);
});

test("a login that finds the line full gets a 503 page with Retry-After, and is not counted as a failure", async () => {
  const { hashes } = fillLine();
  for (let at = 0; at < 12; at++) {
    const refused = await logIn();
    expect(refused).toMatchObject({ status: 503, cookies: {} });
    expect(refused.headers.get("Retry-After")).toMatch(/^[1-9]\d*$/);
  }
  await finishAll(hashes);
  expect((await logIn()).status).toBe(302);
});
