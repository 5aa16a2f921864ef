import { beforeEach, describe, expect, test } from "vitest";
import { purgeExpired } from "#server/features/operator/purge";
import { type Login, logIn, logOut, registerWith, resetWith } from "../support/account-calls";
import { startLatchkey } from "../support/latchkey";
import { registrationLink, resetLink } from "../support/mailed-links";
import { newPassword } from "../support/passwords";
import type { Outcome, RequestOptions } from "../support/route-calls";
import { sha256 } from "../support/sha256";

const latchkey = startLatchkey();

const email = "ada@example.com";
const firefox = "Mozilla/5.0 (X11; Linux x86_64; rv:142.0) Gecko/20100101 Firefox/142.0";

const from = (device: string) => ({ cookie: `device=${device}` });

async function fail(count: number, options: RequestOptions = {}): Promise<number[]> {
  const statuses: number[] = [];
  for (let at = 0; at < count; at++) statuses.push((await logIn({ password: "wrong", ...options })).status);
  return statuses;
}

const devices = () =>
  latchkey.execute<{ token_hash: string; user_id: string }>("select * from devices order by created_at");

let ada: string;

beforeEach(async () => {
  ada = await latchkey.createUser();
});

async function newDevice(login: Login = {}): Promise<string> {
  const { status, cookies } = await logIn(login);
  expect(status).toBe(302);
  return cookies.device ?? "";
}

describe("the device cookie", () => {
  const signIns: [string, (options: RequestOptions) => Promise<Outcome>][] = [
    ["a login", logIn],
    ["a registration", async (options) => registerWith(await registrationLink(latchkey), newPassword, options)],
    ["a reset", async (options) => resetWith(await resetLink(latchkey), newPassword, options)],
  ];

  test.each(signIns)("of %s is stored as its SHA-256", { tags: ["3.3.1", "3.3.4"] }, async (_what, signIn) => {
    const attributes = "HttpOnly; Max-Age=34560000; Path=/; SameSite=Lax";
    for (const [origin, name, more] of [
      ["http://localhost:3000", "device", ""],
      ["https://latchkey.example", "__Host-device", "; Secure"],
    ] as const) {
      await latchkey.execute("delete from devices");
      const done = await signIn({ facts: { origin } });
      expect(done.status).toBe(302);
      const token = done.cookies[name] ?? "";
      expect(token).toMatch(/^[0-9a-f]{64}$/);
      expect(done.headers.getSetCookie()).toContainEqual(`${name}=${token}; ${attributes}${more}`);
      expect((await devices()).map((row) => row.token_hash)).toEqual([sha256(token)]);
      expect(JSON.stringify(await latchkey.snapshot())).not.toContain(token);
      await latchkey.execute("delete from users where email = 'grace@example.com'");
    }
  });

  test("is kept by a logout", async () => {
    const device = await newDevice();
    const left = await logOut(`${await latchkey.signedIn(ada)}; device=${device}`);
    expect(Object.keys(left.cookies)).toEqual(["session"]);
  });

  test("is kept by the next login", async () => {
    const device = await newDevice();
    expect((await logIn(from(device))).cookies.device).toBe(device);
  });

  test("is renewed by the next login", async () => {
    const device = await newDevice();
    await latchkey.execute("update devices set last_seen_at = now() - interval '399 days'");
    await logIn(from(device));
    const renewed = "select token_hash from devices where last_seen_at > now() - interval '1 minute'";
    expect(await latchkey.execute(renewed)).toEqual([{ token_hash: sha256(device) }]);
  });

  test.each([
    ["of another account", async () => newDevice({ email: "bob@example.com" })],
    ["that is not stored", async () => "5".repeat(64)],
    ["that is malformed", async () => "x"],
  ])("with a planted token %s is replaced by a new one", async (_what, plant) => {
    await latchkey.createUser({ email: "bob@example.com" });
    const planted = await plant();
    const { cookies } = await logIn(from(planted));
    expect(cookies.device).toMatch(/^[0-9a-f]{64}$/);
    expect(cookies.device).not.toBe(planted);
    const own = (await devices()).filter(({ user_id }) => user_id === ada);
    expect(own.map(({ token_hash }) => token_hash)).toEqual([sha256(cookies.device ?? "")]);
  });

  test("of a twenty-first browser replaces that of the least recently used one", async () => {
    const tokens: string[] = [];
    for (let at = 0; at < 20; at++) tokens.push(await newDevice());
    await logIn(from(tokens[0]!));
    await newDevice();
    const left = (await devices()).map(({ token_hash }) => token_hash);
    expect(left).toHaveLength(20);
    expect(left).toContain(sha256(tokens[0]!));
    expect(left).not.toContain(sha256(tokens[1]!));
  });

  test("expires 400 days after the last login", async () => {
    const [old, used] = [await newDevice(), await newDevice()];
    const age = "update devices set last_seen_at = now() - ?::interval where token_hash = ?";
    await latchkey.execute(age, ["400 days 1 second", sha256(old)]);
    await latchkey.execute(age, ["399 days", sha256(used)]);
    await purgeExpired();
    expect((await devices()).map(({ token_hash }) => token_hash)).toEqual([sha256(used)]);
  });
});

describe("a known browser can log in", () => {
  test("after ten failed logins from unknown browsers", async () => {
    const device = await newDevice();
    expect(await fail(12)).toEqual([...Array(10).fill(422), 429, 429]);
    expect((await logIn()).status).toBe(429);
    expect((await logIn(from(device))).status).toBe(302);
    expect((await logIn({ password: "wrong", ...from(device) })).status).toBe(422);
  });

  test("after a hundred failed logins from its network", async () => {
    const device = await newDevice();
    const network = { facts: { client: "192.0.2.1" } };
    await latchkey.countUp("login:client:192.0.2.1", 100);
    expect((await logIn(network)).status).toBe(429);
    expect((await logIn({ ...network, ...from(device) })).status).toBe(302);
  });
});

describe("the limit of a known browser", () => {
  test("is separate from that of the others", async () => {
    const [device, other] = [await newDevice(), await newDevice()];
    await fail(12, from(device));
    expect((await logIn(from(other))).status).toBe(302);
    expect(await fail(11)).toEqual([...Array(10).fill(422), 429]);
  });

  test("is ten failed logins", async () => {
    const device = await newDevice();
    expect(await fail(12, from(device))).toEqual([...Array(10).fill(422), 429, 429]);
    expect((await logIn(from(device))).status).toBe(429);
  });

  test("does not count successful logins", async () => {
    const device = await newDevice();
    for (let at = 0; at < 12; at++) expect((await logIn(from(device))).status).toBe(302);
    expect(await fail(11, from(device))).toEqual([...Array(10).fill(422), 429]);
  });

  test("is not had with the device cookie of another account", async () => {
    await latchkey.createUser({ email: "eve@example.com" });
    const device = await newDevice({ email: "eve@example.com" });
    expect(await fail(11, from(device))).toEqual([...Array(10).fill(422), 429]);
  });
});

describe("a reset", () => {
  test("forgets every known browser of the account", async () => {
    const device = await newDevice();
    await resetWith(await resetLink(latchkey), newPassword);
    await fail(10);
    expect((await logIn({ password: newPassword, ...from(device) })).status).toBe(429);
  });

  test("makes its browser a known one", async () => {
    const { cookies } = await resetWith(await resetLink(latchkey), newPassword);
    await fail(10);
    expect((await logIn({ password: newPassword, ...from(cookies.device ?? "") })).status).toBe(302);
  });
});

describe("the mail about a login from an unknown browser", () => {
  const notices = async () => {
    await latchkey.drain();
    return latchkey.mails().filter(({ subject }) => subject === "New sign-in to your account");
  };

  test("says in which browser it was with how to secure the account", async () => {
    await newDevice({ headers: { "User-Agent": firefox } });
    const [mail, ...more] = await notices();
    expect(more).toEqual([]);
    expect(mail?.to).toBe(email);
    expect(mail?.text).toMatch(
      /^Somebody, probably you, signed in to your account with its password, in a browser that it did not know:\n\nFirefox on Linux, \d{1,2} \w+ \d{4} at \d\d:\d\d UTC\n\nIf it was not you, reset your password, which signs every browser out:\n\nhttp:\/\/localhost:3000\/forgot-password\n\nThen log in, and remove every passkey and disconnect every external sign-in that you did not add yourself:\n\nhttp:\/\/localhost:3000\/dashboard\n\nThis mail was sent by Latchkey\.$/,
    );
  });

  test("is not sent for the browser that created the account", async () => {
    const { cookies } = await registerWith(await registrationLink(latchkey), newPassword);
    await logIn({ email: "grace@example.com", password: newPassword, ...from(cookies.device!) });
    expect(await notices()).toEqual([]);
  });

  test("is not sent for the browser that reset the password", async () => {
    const { cookies } = await resetWith(await resetLink(latchkey), newPassword);
    await logIn({ password: newPassword, ...from(cookies.device!) });
    expect(await notices()).toEqual([]);
  });

  test("is not sent for a known browser", async () => {
    const device = await newDevice();
    await logIn(from(device));
    expect(await notices()).toHaveLength(1);
  });

  test("is not sent for a wrong password", async () => {
    await fail(2);
    expect(await notices()).toEqual([]);
  });

  describe("after three to one account about one network", () => {
    const own = { facts: { client: "2001:db8:1:1::" } };

    beforeEach(async () => {
      for (let at = 0; at < 3; at++) await newDevice(own);
    });

    test.each([
      ["the same /64", own],
      ["the same /48", { facts: { client: "2001:db8:1:2::" } }],
    ])("is not sent for %s", async (_where, again) => {
      await newDevice(again);
      expect(await notices()).toHaveLength(3);
    });

    test("is sent for another network", async () => {
      await newDevice({ facts: { client: "192.0.2.9" } });
      expect(await notices()).toHaveLength(4);
    });

    test("is sent to another account", async () => {
      await latchkey.createUser({ email: "bob@example.com" });
      await newDevice({ ...own, email: "bob@example.com" });
      expect((await notices()).at(-1)?.to).toBe("bob@example.com");
    });

    test("is sent again when the hour has passed", async () => {
      await latchkey.execute("update rate_limits set expire = 0");
      await newDevice(own);
      expect(await notices()).toHaveLength(4);
    });
  });

  test.each([
    ["Visit http://evil.example/1.0 (now)", "An unknown browser"],
    ["<b>x</b>/1 ", "An unknown browser"],
    ["curl/8.5.0 ", "An unknown browser"],
    ["Visit/1.0 (X11; Linux x86_64)", "An unknown browser on Linux"],
  ])("contains nothing of the unrecognised User-Agent %j but its system", async (userAgent, named) => {
    await newDevice({ headers: { "User-Agent": userAgent } });
    expect((await notices())[0]?.text).toContain(`\n\n${named}, `);
  });
});
