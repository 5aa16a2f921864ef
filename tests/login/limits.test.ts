import { beforeEach, describe, expect, test } from "vitest";
import {
  blockedUntil,
  count,
  countAttempt,
  countersOf,
  loginLimit,
  resetLimit,
  takeBackCount,
} from "#server/accounts/limits/rate-limits";
import { askForAccount, askForReset, logIn } from "../support/account-calls";
import { startLatchkey } from "../support/latchkey";
import { mailSentOutcome } from "../support/mailed-links";
import type { Outcome } from "../support/route-calls";

const latchkey = startLatchkey();

const passMinutes = (minutes: number) =>
  latchkey.execute(`update rate_limits set expire = expire - ${minutes * 60_000}`);

const from = (client: string) => ({ facts: { client } });

const subnet = (n: number, site = "2001:db8:1") => `${site}:${n.toString(16)}::`;

const mails: [string, (email: string, client: string) => Promise<Outcome>][] = [
  ["reset", (email, client) => askForReset(email, from(client))],
  ["registration", (email, client) => askForAccount(email, from(client))],
];

describe.each(mails)("%s mails", (what, ask) => {
  const jobs = async () => (await latchkey.jobs()).length;

  async function askTimes(count: number, client: (at: number) => string, email: (at: number) => string) {
    for (let at = 0; at < count; at++) {
      expect(await ask(email(at), client(at))).toEqual(mailSentOutcome(email(at)));
    }
  }

  const oneAddress = () => "ada@example.com";
  const addresses = (at: number) => `user${at}@example.com`;

  /** Asks six times in each of six quarters of an hour. @returns the number of mails at the end of each */
  async function askForSixQuarters(): Promise<number[]> {
    const sent: number[] = [];
    for (let quarter = 0; quarter < 6; quarter++) {
      await askTimes(6, () => "192.0.2.1", oneAddress);
      await passMinutes(14);
      await askTimes(1, () => "192.0.2.1", oneAddress);
      sent.push(await jobs());
      await passMinutes(1);
    }
    return sent;
  }

  test("at most five go to one address in 15 minutes up to twenty in a day", { tags: ["2.3.2", "2.4.1"] }, async () => {
    expect(await askForSixQuarters()).toEqual([5, 10, 15, 20, 20, 20]);
    await passMinutes(24 * 60 - 6 * 15 - 1);
    await askTimes(1, () => "192.0.2.1", oneAddress);
    expect(await jobs()).toBe(20);
  });

  test("five go to one address again after a day", { tags: ["2.3.2", "2.4.1"] }, async () => {
    for (let quarter = 0; quarter < 4; quarter++) {
      await askTimes(5, () => "192.0.2.1", oneAddress);
      await passMinutes(15);
    }
    expect(await jobs()).toBe(20);
    await passMinutes(23 * 60);
    await askTimes(6, () => "192.0.2.1", oneAddress);
    expect(await jobs()).toBe(25);
  });

  test("all spellings of an address have one limit", async () => {
    for (const email of ["ada@example.com", "ADA@example.com", " ada@example.com", "Ada@Example.com"]) {
      await ask(email, "192.0.2.1");
    }
    await Promise.all(Array.from({ length: 12 }, () => ask("aDa@EXAMPLE.com", "192.0.2.1")));
    expect(await jobs()).toBe(5);
  });

  test("the other mails have another limit", async () => {
    await askTimes(6, () => "192.0.2.1", oneAddress);
    for (const [, askFor] of mails) await askFor("ada@example.com", "192.0.2.1");
    expect(await jobs()).toBe(6);
  });

  test("refused requests do not count toward the address's daily limit", async () => {
    await askTimes(60, (at) => `192.0.2.${at}`, oneAddress);
    await passMinutes(15);
    await askTimes(5, () => "192.0.2.1", oneAddress);
    expect(await jobs()).toBe(10);
  });

  test("requests of a client past its limit do not count toward an address's limit", async () => {
    await askTimes(50, () => "192.0.2.1", addresses);
    await askTimes(10, () => "192.0.2.1", oneAddress);
    expect(await jobs()).toBe(50);
    await askTimes(6, () => "192.0.2.2", oneAddress);
    expect(await jobs()).toBe(55);
  });

  test("a /48 has four times the limit of a /64", async () => {
    await latchkey.countUp(`${what}:client:2001:db8:1::/48`, 178);
    await askTimes(33, (at) => subnet(at % 11), addresses);
    expect(await jobs()).toBe(22);
    await askTimes(1, () => subnet(99), addresses);
    expect(await jobs()).toBe(22);
  });

  test("each /48 has its own limit", async () => {
    await latchkey.countUp(`${what}:client:2001:db8:1::/48`, 200);
    await askTimes(1, () => subnet(99), addresses);
    expect(await jobs()).toBe(0);
    await askTimes(1, () => subnet(99, "2001:db8:2"), addresses);
    expect(await jobs()).toBe(1);
  });

  test("a /64 past its limit does not limit the other /64s of its /48", async () => {
    await latchkey.countUp(`${what}:client:${subnet(1)}`, 45);
    await askTimes(15, () => subnet(1), addresses);
    expect(await jobs()).toBe(5);
    await askTimes(50, () => subnet(2), addresses);
    expect(await jobs()).toBe(55);
  });
});

const fail = (email: string, client: string) => logIn({ email, password: "wrong", ...from(client) });

describe("the limit of 400 failed logins of a /48", () => {
  beforeEach(async () => {
    await latchkey.countUp("login:client:2001:db8:1::/48", 399);
    expect((await fail("ada@example.com", subnet(1))).status).toBe(422);
  });

  test("is of all its /64s together", async () => {
    const throttled = await fail("bob@example.com", subnet(2));
    expect(throttled.status).toBe(429);
    expect(Number(throttled.headers.get("Retry-After"))).toBeGreaterThan(14 * 60);
  });

  test("is not that of another /48", async () => {
    expect((await fail("ada@example.com", subnet(1, "2001:db8:2"))).status).toBe(422);
  });
});

describe("the time until which an address is blocked", () => {
  const email = "ada@example.com";

  async function attempt(times: number): Promise<void> {
    for (let at = 0; at < times; at++) await countAttempt(resetLimit, email, `192.0.2.${at}`);
  }

  /** Minutes from now; `null` when the address is not blocked. */
  async function minutesLeft(limit = resetLimit): Promise<number | null> {
    const end = await blockedUntil(limit, email);
    return end && Math.round((end.getTime() - Date.now()) / 60_000);
  }

  test("is the end of the quarter of an hour in which its attempts were used up", async () => {
    for (let at = 0; at < 5; at++) await countAttempt(resetLimit, "bob@example.com", `192.0.2.${at}`);
    expect(await minutesLeft()).toBeNull();
    await attempt(4);
    expect(await minutesLeft()).toBeNull();
    await attempt(1);
    expect(await minutesLeft()).toBe(15);
    expect(await minutesLeft(loginLimit)).toBeNull();
    await passMinutes(15);
    expect(await minutesLeft()).toBeNull();
  });

  test("is the end of the day when the attempts of the day are used up", async () => {
    for (let round = 0; round < 4; round++) {
      await attempt(5);
      if (round < 3) await passMinutes(15);
    }
    expect(await minutesLeft()).toBe(24 * 60 - 45);
    await passMinutes(15);
    expect(await minutesLeft()).toBe(24 * 60 - 60);
  });
});

test("simultaneous changes of one client's counters do not deadlock", async () => {
  const counters = countersOf(loginLimit, "ada@example.com", subnet(1));
  const rounds = Array.from({ length: 40 }, async () => {
    await count(counters);
    await takeBackCount(counters);
  });
  await Promise.all(rounds);
  expect(await latchkey.execute("select distinct points from rate_limits")).toEqual([{ points: 0 }]);
});

test("of 30 right logins at once the ten that are allowed leave no block when they are taken back", async () => {
  const counters = countersOf(loginLimit, "ada@example.com", "192.0.2.1");
  const waits = await Promise.all(Array.from({ length: 30 }, () => count(counters)));
  expect(waits.filter((wait) => wait === null)).toHaveLength(10);
  for (let taken = 0; taken < 10; taken++) await takeBackCount(counters);
  expect(await count(counters)).toBeNull();
});

test("an unexpected error of the database is thrown while an attempt is taken back", async () => {
  const counters = countersOf(loginLimit, "ada@example.com", "192.0.2.1");
  await latchkey.withoutTable("rate_limits", () =>
    expect(takeBackCount(counters)).rejects.toThrow('"rate_limits" does not exist'),
  );
});
