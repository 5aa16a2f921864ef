import { setMaxListeners } from "node:events";
import { availableParallelism } from "node:os";
import { hash } from "@node-rs/argon2";
import { Argon2id } from "oslo/password";
import { beforeEach, describe, expect, test, vi } from "vitest";
import { hashesWaiting, hashPassword } from "#server/accounts/passwords/password-hashing";
import { HashingOverloaded } from "#server/errors";
import { logIn as startLogin } from "#server/features/visitor/login";
import { act, logIn } from "../support/account-calls";
import { unknownVisitor } from "../support/accounts";
import { startLatchkey } from "../support/latchkey";
import { goodPassword, newPassword, twice } from "../support/passwords";
import type { Outcome } from "../support/route-calls";

const latchkey = startLatchkey();

const hashFrom = (network: string, password: string, gone = new AbortController().signal) =>
  hashPassword({ network, gone: () => gone }, password);

let running: { password: string; finish: () => void }[] = [];

let ada: string;

beforeEach(async () => {
  ada = await latchkey.createUser();
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

function fillPlaces() {
  const hashes = [hashFrom("198.51.101.1", "0"), hashFrom("198.51.101.1", "1"), hashFrom("198.51.101.1", "2")];
  return { hashes, places: running.length };
}

function fillQueue(signal?: AbortSignal): { hashes: Promise<string>[]; places: number } {
  const { hashes, places } = fillPlaces();
  for (let at = 3; at < places + 64; at++) hashes.push(hashFrom(`198.51.100.${at}`, `${at}`, signal));
  return { hashes, places };
}

const passwords = { currentPassword: goodPassword, ...twice(newPassword) };

const from = (client: string) => ({ facts: { client } });

describe("with a full queue", () => {
  let hashes: Promise<string>[];
  let places: number;

  beforeEach(() => {
    ({ hashes, places } = fillQueue());
    return () => finishAll(hashes);
  });

  test("two or three hashes run at a time", { tags: "15.2.2" }, () => {
    expect(places).toBe(availableParallelism() > 2 ? 3 : 2);
    expect(running.map(({ password }) => password)).toEqual(["0", "1", "2"].slice(0, places));
  });

  test("the next hash is refused", { tags: "15.2.2" }, async () => {
    await expect(hashFrom("198.51.101.1", "one more")).rejects.toBeInstanceOf(HashingOverloaded);
  });

  test("64 hashes wait for their turn", { tags: "15.2.2" }, async () => {
    expect(hashesWaiting()).toBe(64);
    await finishAll(hashes);
    expect(await Promise.all(hashes)).toEqual(Array(places + 64).fill("hash"));
  });

  test("the next hash runs when the others have finished", { tags: "15.2.2" }, async () => {
    await finishAll(hashes);
    const next = hashFrom("198.51.101.1", "next");
    expect(running.map(({ password }) => password)).toEqual(["next"]);
    await finishAll([next]);
  });
});

describe("when the client of all waiting hashes has closed the connection", () => {
  let client: AbortController;
  let hashes: Promise<string>[];
  let settling: Promise<PromiseSettledResult<string>[]>;
  let places: number;

  beforeEach(() => {
    client = new AbortController();
    setMaxListeners(0, client.signal); // one request waits for one hash, and this signal is of 64
    ({ hashes, places } = fillQueue(client.signal));
    settling = Promise.allSettled(hashes.slice(3));
    client.abort();
    return () => finishAll(hashes);
  });

  test("none of them runs", async () => {
    await finishAll(hashes);
    expect((await settling).filter(({ status }) => status === "rejected")).toHaveLength(places + 64 - 3);
    expect(running).toEqual([]);
  });

  test("the queue has places for others", async () => {
    const stays = hashFrom("198.51.101.1", "stays");
    for (const { finish } of running.splice(0)) finish();
    await new Promise(setImmediate);
    expect(running.map(({ password }) => password)).toContain("stays");
    await finishAll([stays]);
  });

  test("a new hash of the client is refused", async () => {
    const late = hashFrom("198.51.101.1", "late", client.signal);
    await expect(late).rejects.toMatchObject({ name: "AbortError" });
  });
});

describe.each<[string, (cookie: string) => Promise<Outcome>]>([
  ["a login", () => logIn()],
  ["a change of the password", (cookie) => act(cookie, "change-password", passwords)],
])("%s while the queue is full", (_what, send) => {
  let refused: Outcome[];

  beforeEach(async () => {
    const cookie = await latchkey.signedIn(ada);
    const { hashes } = fillQueue();
    refused = [];
    for (let at = 0; at < 12; at++) refused.push(await send(cookie));
    await finishAll(hashes);
  });

  test("is answered 503 with the time to wait", () => {
    for (const { status, headers, cookies } of refused) {
      expect([status, cookies]).toEqual([503, {}]);
      expect(headers.get("Retry-After")).toMatch(/^[1-9]\d*$/);
    }
  });

  test("is not counted as a failure", async () => {
    expect(await latchkey.execute("select * from rate_limits where points > 0")).toEqual([]);
  });
});

test("a login whose client hangs up in the queue is not counted as a failure", async () => {
  const { hashes } = fillPlaces();
  for (let at = 0; at < 12; at++) {
    const client = new AbortController();
    const visitor = { ...unknownVisitor, gone: () => client.signal };
    const login = startLogin(visitor, { email: "ada@example.com", password: "x" });
    await expect.poll(hashesWaiting).toBe(1);
    client.abort();
    await expect(login).rejects.toMatchObject({ name: "AbortError" });
  }
  await finishAll(hashes);
  expect(await latchkey.execute("select * from rate_limits where points > 0")).toEqual([]);
});

describe("a login that finds no place to renew its hash", () => {
  let weak: string;
  let done: Outcome;

  beforeEach(async () => {
    weak = await hash(goodPassword, { memoryCost: 8_192, timeCost: 1, parallelism: 1 });
    await latchkey.execute("update users set password_hash = ?", [weak]);
    const hashes: Promise<string>[] = [];
    const { verify } = Argon2id.prototype;
    vi.spyOn(Argon2id.prototype, "verify").mockImplementation(function (this: Argon2id, ...credentials) {
      for (let at = 0; at < 3; at++) hashes.push(hashFrom("198.51.101.1", `${at}`));
      for (let at = 0; at < 8; at++) hashes.push(hashFrom("192.0.2.1", `${at}`));
      return verify.apply(this, credentials);
    });
    done = await logIn(from("192.0.2.1"));
    return () => finishAll(hashes);
  });

  test("succeeds", () => {
    expect(done.status).toBe(302);
  });

  test("keeps the hash", async () => {
    expect(await latchkey.execute("select password_hash from users")).toEqual([{ password_hash: weak }]);
  });
});

describe("the places of one client", () => {
  const statuses = async (count: number, client: (at: number) => string) => {
    const { hashes, places } = fillPlaces();
    const outcomes = Array.from({ length: count }, (_, at) => hashFrom(client(at), `${at}`));
    const settling = Promise.allSettled(outcomes);
    await finishAll([...hashes, ...outcomes]);
    expect(places).toBeGreaterThan(0);
    return (await settling).filter(({ status }) => status === "fulfilled").length;
  };

  test.each([
    ["an IPv4 address waits with 8 hashes", 8, 20, () => "192.0.2.1"],
    ["a /64 waits with 8 hashes", 8, 20, () => "2001:db8:1:1::"],
    ["clients of different networks wait with 60 hashes", 60, 60, (at: number) => `192.0.2.${at}`],
  ])("%s at most: %i of %i", async (_what, expected, count, client) => {
    expect(await statuses(count, client)).toBe(expected);
  });

  describe("when they are taken", () => {
    let hashes: Promise<string>[];

    beforeEach(() => {
      ({ hashes } = fillPlaces());
      for (let at = 0; at < 8; at++) hashes.push(hashFrom("192.0.2.1", `${at}`));
      return () => finishAll(hashes);
    });

    test("its login is answered 503", async () => {
      const refused = await logIn(from("192.0.2.1"));
      expect(refused.status).toBe(503);
      expect(latchkey.logLines().join()).toContain(refused.data.fault);
    });

    test("another client logs in", async () => {
      const other = logIn(from("192.0.2.2"));
      await finishAll([...hashes, other]);
      expect((await other).status).toBe(302);
    });
  });
});
