import { setMaxListeners } from "node:events";
import { Argon2id } from "oslo/password";
import { beforeEach, expect, test, vi } from "vitest";
import { hashPassword } from "#server/accounts/password-hashing";
import { HashingOverloaded } from "#server/errors";
import * as login from "~/routes/login";
import { createUser, goodPassword } from "../support/accounts";
import { startLatchkey } from "../support/latchkey";
import { call, post } from "../support/route-calls";

const latchkey = startLatchkey();

/** The running hashes. Each ends when the test calls `finish`. */
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

/** Starts as many hashes as may run and wait in the queue. */
function fillQueue(signal?: AbortSignal): { hashes: Promise<string>[]; places: number } {
  const hashes: Promise<string>[] = [hashPassword("0"), hashPassword("1"), hashPassword("2")];
  const places = running.length;
  for (let at = 3; at < places + 64; at++) hashes.push(hashPassword(`${at}`, signal));
  return { hashes, places };
}

const logIn = () => call(login.action, post("/login", { email: "ada@example.com", password: goodPassword }));

test("two or three hashes run, 64 wait, the next is refused, and when they have ended hashes are accepted again", async () => {
  const { hashes, places } = fillQueue();
  expect([2, 3]).toContain(places);
  expect(running.map(({ password }) => password)).toEqual(["0", "1", "2"].slice(0, places));
  await expect(hashPassword("one more")).rejects.toBeInstanceOf(HashingOverloaded);
  await finishAll(hashes);
  expect(await Promise.all(hashes)).toEqual(Array(places + 64).fill("hash"));
  const next = hashPassword("next");
  expect(running.map(({ password }) => password)).toEqual(["next"]);
  await finishAll([next]);
});

test("a waiting hash whose client has closed the connection leaves the queue and does not run", async () => {
  const client = new AbortController();
  setMaxListeners(0, client.signal); // one request waits for one hash, and this signal is of 64
  const { hashes, places } = fillQueue(client.signal);
  const settling = Promise.allSettled(hashes.slice(3));
  client.abort();
  const stays = hashPassword("stays");
  const late = expect(hashPassword("late", client.signal)).rejects.toMatchObject({ name: "AbortError" });
  for (const { finish } of running.splice(0)) finish();
  await new Promise(setImmediate);
  expect(running.map(({ password }) => password)).toContain("stays");
  await finishAll([...hashes, stays]);
  await late;
  expect((await settling).filter(({ status }) => status === "rejected")).toHaveLength(places + 64 - 3);
  expect(running).toEqual([]);
});

test("a login while the queue is full is answered 503 with Retry-After, and is not counted as a failure", async () => {
  const { hashes } = fillQueue();
  for (let at = 0; at < 12; at++) {
    const refused = await logIn();
    expect(refused).toMatchObject({ status: 503 });
    expect(refused.cookies).toEqual({});
    expect(refused.headers.get("Retry-After")).toMatch(/^[1-9]\d*$/);
  }
  await finishAll(hashes);
  expect((await logIn()).status).toBe(302);
});
