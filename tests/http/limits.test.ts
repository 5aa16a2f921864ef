import { describe, expect, test } from "vitest";
import type { Answer } from "../support/http";
import { password, runLatchkey } from "../support/running-latchkey";
import { twice } from "../support/twice";
import { Visitor } from "../support/visitor";

const latchkey = runLatchkey();
const direct = runLatchkey({ TRUST_PROXY: "false" });

const wrong = "not the right password";

const logIn = (visitor: Visitor, email: string, secret = wrong) => visitor.post("/login", { email, password: secret });

const times = <T>(count: number, work: (at: number) => Promise<T>) =>
  Promise.all(Array.from({ length: count }, (_, at) => work(at)));

async function oneByOne(count: number, work: (at: number) => Promise<Answer>): Promise<number[]> {
  const statuses: number[] = [];
  for (let at = 0; at < count; at++) statuses.push((await work(at)).status);
  return statuses;
}

/** The answer without the nonce and the date, which differ between any two answers. */
function comparable({ status, headers, body }: Answer) {
  const policy = headers.get("Content-Security-Policy") ?? "";
  const nonce = /'nonce-([^']+)'/.exec(policy)?.[1] ?? "no nonce";
  const rest = [...headers].filter(([name]) => name !== "date" && name !== "content-security-policy");
  return { status, rest, policy: policy.replace(nonce, "NONCE"), body: body.replaceAll(nonce, "NONCE") };
}

const isEvent = (event: string, reason?: string) => (logged: { event: string; reason?: string }) =>
  logged.event === event && logged.reason === reason;

describe("mails to one address", () => {
  test("five are sent, and all answers are the same", async () => {
    const email = "five@example.com";
    await latchkey.register(email);
    let answers: Answer[] = [];
    const events = await latchkey.eventsOf(async () => {
      answers = await times(8, () => latchkey.visit().post("/forgot-password", { email }));
    });
    expect(new Set(answers.map((answer) => JSON.stringify(comparable(answer)))).size).toBe(1);
    await latchkey.mailTo(email, "Reset your password", 5);
    expect(events.filter(isEvent("password_reset.requested"))).toHaveLength(5);
    expect(events.filter(isEvent("password_reset.refused", "throttled"))).toHaveLength(3);
  });

  test("all spellings of an address have one limit", async () => {
    const email = "spelling@example.com";
    await latchkey.register(email);
    const spellings = [
      email,
      email.toUpperCase(),
      "Spelling@Example.com",
      ` ${email}`,
      `${email}\t\n`,
      `\u00a0${email}`,
    ];
    const events = await latchkey.eventsOf(() =>
      times(12, (at) => latchkey.visit().post("/forgot-password", { email: spellings[at % 6] ?? email })),
    );
    await latchkey.mailTo(email, "Reset your password", 5);
    expect(events.filter(isEvent("password_reset.requested"))).toHaveLength(5);
    expect(events.filter(isEvent("password_reset.refused", "throttled"))).toHaveLength(7);
  });

  test.each([
    ["an ideographic full stop", "dots@example\u3002com"],
    ["a fullwidth at sign", "dots\uff20example.com"],
    ["a Kelvin sign", "kel\u212ain@example.com"],
    ["a dotless i", "dots@example.\u0131nfo"],
    ["a soft hyphen", "do\u00adts@example.com"],
    ["a zero-width space", "dots\u200b@example.com"],
    ["a line break and a header", "dots@example.com\r\nBcc: eve@example.com"],
    ["a second address", "dots@example.com,eve@example.com"],
    ["a display name", "Dots <dots@example.com>"],
    ["a comment", "dots(comment)@example.com"],
    ["a quoted local part", '"dots"@example.com'],
    ["an address literal", "dots@[127.0.0.1]"],
  ])("%s is not an address: the same page, no job", async (_what, email) => {
    const events = await latchkey.eventsOf(async () => {
      for (const path of ["/forgot-password", "/register"]) {
        const answer = await latchkey.visit().post(path, { email });
        expect(answer.status).toBe(200);
        expect(answer.body).toContain("is on its way");
      }
    });
    expect(events.filter(({ requestId }) => requestId)).toEqual([]);
  });

  test("registration links have their own limit", async () => {
    const email = "newcomer@example.com";
    const events = await latchkey.eventsOf(() => times(7, () => latchkey.visit().post("/register", { email })));
    await latchkey.mailTo(email, "Finish creating your account", 5);
    expect(events.filter(isEvent("registration.requested"))).toHaveLength(5);
    expect(events.filter(isEvent("registration.refused", "throttled"))).toHaveLength(2);
  });

  test("a known and an unknown address have the same answer, before the limit and past it", async () => {
    const [known, unknown] = ["known@example.com", "stranger@example.net"];
    await latchkey.register(known);
    const hide = (answer: Answer, email: string) => {
      const { body, rest, ...others } = comparable(answer);
      return {
        ...others,
        rest: rest.filter(([name]) => name !== "content-length"),
        body: body.replaceAll(email, "THEM"),
      };
    };
    for (const path of ["/forgot-password", "/register"]) {
      for (let at = 0; at < 7; at++) {
        const [one, other] = [
          await latchkey.visit().post(path, { email: known }),
          await latchkey.visit().post(path, { email: unknown }),
        ];
        expect(hide(one, known)).toEqual(hide(other, unknown));
      }
    }
  });
});

describe("mails from one client", () => {
  const requested = async (running: typeof latchkey, work: () => Promise<unknown>) =>
    (await running.eventsOf(work)).filter(isEvent("password_reset.requested")).length;

  test("50 are sent, even when a direct client forges its address", async () => {
    const work = () =>
      times(55, (at) =>
        new Visitor(direct.url(), `198.51.100.${at}`).post(
          "/forgot-password",
          { email: `forged-${at}@example.com` },
          { "Latchkey-Client": `198.51.100.${at}`, Forwarded: `for=198.51.100.${at}`, "X-Real-IP": `198.51.100.${at}` },
        ),
      );
    expect(await requested(direct, work)).toBe(50);
  });

  test("50 are sent, whatever a client puts before the address that the proxy appends", async () => {
    const work = () =>
      times(55, (at) =>
        new Visitor(latchkey.url(), `198.51.100.${at}, 203.0.113.7`).post("/forgot-password", {
          email: `prefixed-${at}@example.com`,
        }),
      );
    expect(await requested(latchkey, work)).toBe(50);
  });

  test("the addresses of one IPv6 /64 are one client; the next /64 is another", async () => {
    const work = () =>
      times(55, (at) =>
        new Visitor(latchkey.url(), `2001:db8:1:2::${at.toString(16)}`).post("/forgot-password", {
          email: `six-${at}@example.com`,
        }),
      );
    expect(await requested(latchkey, work)).toBe(50);
    const next = new Visitor(latchkey.url(), "2001:db8:1:3::1");
    expect(await requested(latchkey, () => next.post("/forgot-password", { email: "next@example.com" }))).toBe(1);
  });

  test("an IPv4 address and its IPv4-mapped IPv6 address are one client", async () => {
    const spellings = ["203.0.113.99", "::ffff:203.0.113.99", "::ffff:cb00:7163"];
    const work = () =>
      times(55, (at) =>
        new Visitor(latchkey.url(), spellings[at % 3]).post("/forgot-password", { email: `mapped-${at}@example.com` }),
      );
    expect(await requested(latchkey, work)).toBe(50);
  });
});

describe("failed logins", () => {
  test("of 40 simultaneous ones from 40 clients, ten are evaluated", async () => {
    const email = "stuffed@example.com";
    await latchkey.register(email);
    let statuses: number[] = [];
    const events = await latchkey.eventsOf(async () => {
      statuses = (await times(40, () => logIn(latchkey.visit(), email))).map(({ status }) => status);
    });
    expect(statuses.filter((status) => status === 422)).toHaveLength(10);
    expect(statuses.filter((status) => status === 429)).toHaveLength(30);
    expect(events.filter(isEvent("login.failed", "wrong_credentials"))).toHaveLength(10);
    expect(events.filter(isEvent("login.throttled"))).toHaveLength(30);

    const owner = latchkey.visit();
    const throttled = await logIn(owner, email, password);
    expect(throttled.status).toBe(429);
    expect(Number(throttled.headers.get("Retry-After"))).toBeGreaterThan(0);
    expect(Number(throttled.headers.get("Retry-After"))).toBeLessThanOrEqual(900);
    expect([...owner.cookies.keys()]).toEqual([]);
  });

  test("do not lock out a known browser of the account", async () => {
    const email = "locked-out@example.com";
    const owner = await latchkey.register(email);
    await owner.post("/logout");
    expect(await oneByOne(11, () => logIn(latchkey.visit(), email))).toEqual([...Array(10).fill(422), 429]);
    expect((await logIn(latchkey.visit(), email, password)).status).toBe(429);
    expect((await logIn(owner, email, password)).location).toBe("/dashboard");
    const otherUser = await latchkey.register("own-device@example.com");
    expect((await logIn(otherUser, email, password)).status).toBe(429);
  });

  test("are reset to none by a completed password reset", async () => {
    const email = "freed@example.com";
    await latchkey.register(email);
    expect(await oneByOne(11, () => logIn(latchkey.visit(), email))).toEqual([...Array(10).fill(422), 429]);
    const link = await latchkey.resetLink(email);
    const renewed = twice("another good password");
    expect((await logIn(latchkey.visit(), email, password)).status).toBe(429);
    expect((await latchkey.visit().post("/reset-password", { ...link, ...renewed })).status).toBe(302);
    expect((await logIn(latchkey.visit(), email, renewed.password)).location).toBe("/dashboard");
  });

  test("are not reset by a refused password reset", async () => {
    const email = "still-locked@example.com";
    await latchkey.register(email);
    await times(10, () => logIn(latchkey.visit(), email));
    const guess = { email, token: "0".repeat(64), ...twice("whatever it is") };
    expect((await latchkey.visit().post("/reset-password", guess)).status).toBe(422);
    expect((await logIn(latchkey.visit(), email)).status).toBe(429);
  });

  test.each([
    ["capitals", (email: string) => email.toUpperCase()],
    ["surrounding spaces", (email: string) => `  ${email}\t`],
    ["surrounding Unicode spaces", (email: string) => `\u2003${email}\ufeff`],
  ])("an address with %s has the same limit", async (what, respell) => {
    const email = `cap-${what.length}@example.com`;
    await latchkey.register(email);
    await times(10, (at) => logIn(latchkey.visit(), at % 2 ? email : respell(email)));
    expect((await logIn(latchkey.visit(), respell(email), password)).status).toBe(429);
    expect((await logIn(latchkey.visit(), email, password)).status).toBe(429);
  });

  test("are counted without successful logins, which do not reset the count", async () => {
    const email = "regular@example.com";
    await latchkey.register(email);
    expect(await oneByOne(12, () => logIn(latchkey.visit(), email, password))).toEqual(Array(12).fill(302));
    expect(await oneByOne(9, () => logIn(latchkey.visit(), email))).toEqual(Array(9).fill(422));
    expect((await logIn(latchkey.visit(), email, password)).status).toBe(302);
    expect(await oneByOne(2, () => logIn(latchkey.visit(), email))).toEqual([422, 429]);
  });

  test("are not reset by the attacker's logins to another account", async () => {
    const [own, victim] = ["attacker@example.com", "guessed@example.com"];
    await latchkey.register(own);
    const attacker = latchkey.visit();
    for (let at = 0; at < 10; at++) {
      await logIn(attacker, victim);
      await logIn(attacker, own, password);
    }
    expect((await logIn(attacker, victim)).status).toBe(429);
  });

  test("an unknown address has the same limit as a known one", async () => {
    expect(await oneByOne(11, () => logIn(latchkey.visit(), "not-there@example.com"))).toEqual([
      ...Array(10).fill(422),
      429,
    ]);
  });

  test("one client has 100, over all addresses", async () => {
    const client = "203.0.113.200";
    const statuses: number[] = [];
    for (let round = 0; round < 15; round++) {
      const spray = (at: number) => logIn(new Visitor(latchkey.url(), client), `spray-${round}-${at}@example.com`);
      // Fewer than the hashes of one client that may wait.
      statuses.push(...(await times(7, spray)).map(({ status }) => status));
    }
    expect(statuses.filter((status) => status === 422)).toHaveLength(100);
    expect(statuses.filter((status) => status === 429)).toHaveLength(5);
  });

  test("a form without a password is not counted", async () => {
    const email = "no-attempt@example.com";
    await latchkey.register(email);
    expect(await oneByOne(12, () => latchkey.visit().post("/login", { email }))).toEqual(Array(12).fill(422));
    expect((await logIn(latchkey.visit(), email, password)).status).toBe(302);
  });
});
