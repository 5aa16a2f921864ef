import { Argon2id } from "oslo/password";
import { beforeEach, describe, expect, test, vi } from "vitest";
import { isOutdated } from "#server/accounts/passwords/password-hashing";
import * as login from "~/routes/login";
import { logIn, openLogin } from "../support/account-calls";
import { google } from "../support/google-sign-in";
import { startLatchkey } from "../support/latchkey";
import { goodPassword } from "../support/passwords";
import { call, post, type RequestOptions } from "../support/route-calls";

const latchkey = startLatchkey();

const wrong = "Email or password is incorrect.";

async function failTimes(count: number, email: (index: number) => string, options: RequestOptions = {}) {
  for (let index = 0; index < count; index++) {
    expect((await logIn({ email: email(index), password: "wrong", ...options })).status).toBe(422);
  }
}

test("the login page says whether external sign-in is on", async () => {
  const page = async () => (await openLogin()).data;
  const others = {
    passkeys: true,
    notice: null,
    sessionEnded: false,
    problem: null,
    returnTo: null,
    maxAge: null,
    email: null,
    tooOld: false,
    hasRegistration: true,
    registration: "open",
    lastUsed: null,
    inApp: null,
    otherAccount: false,
    providerLogout: null,
  };
  expect(await page()).toEqual({ idpEnabled: false, provider: null, ...others });
  latchkey.configure({ ...google, IDP_PROVIDER: "github" });
  expect(await page()).toEqual({ idpEnabled: true, provider: "GitHub", ...others });
});

test.each([" ada@example.com ", "ADA@Example.COM"])(
  "the right password is accepted with the address typed as %j",
  async (email) => {
    await latchkey.createUser();
    expect((await logIn({ email })).status).toBe(302);
  },
);

describe("a refused login", () => {
  test.each([
    ["an unknown address", "nobody@example.com", goodPassword],
    ["a wrong password", "ada@example.com", "wrong"],
    ["an empty password", "ada@example.com", ""],
    ["a space after the password", "ada@example.com", `${goodPassword} `],
    ["the password in capital letters", "ada@example.com", goodPassword.toUpperCase()],
    ["an account without a password", "bob@example.com", goodPassword],
    ["an empty password of an account without one", "bob@example.com", ""],
    ["the password null of an account without one", "bob@example.com", "null"],
    ["an empty address", "", goodPassword],
    ["a text that is not an address", "no address", goodPassword],
    ["the address with a Kelvin sign", "ada@examp\u212ae.com", goodPassword],
    ["the address with a NUL", "ada@example.com\0", goodPassword],
    ["very long fields", "x".repeat(5000), "y".repeat(5000)],
  ])("has one message for %s", { tags: "CVE-2024-41952" }, async (_what, email, password) => {
    await latchkey.createUser();
    await latchkey.createUser({ email: "bob@example.com", password: null, idpId: "42" });
    const attempt = () => logIn({ email, password, facts: { client: "192.0.2.1" } });
    expect(await latchkey.unchanged(attempt, "rate_limits")).toEqual({
      status: 422,
      headers: new Headers(),
      location: null,
      data: { typed: { email }, errors: {}, wrongPassword: true, message: wrong },
      cookies: {},
      formTargets: [],
    });
  });

  test.each(["email", "password"])("has an error at the field %s when it is missing or sent twice", async (field) => {
    await latchkey.createUser();
    const fields = Object.entries({ email: "ada@example.com", password: goodPassword });
    const missing = fields.filter(([name]) => name !== field);
    for (const posted of [missing, [...fields, [field, "other"] as [string, string]]]) {
      const refused = await latchkey.unchanged(() => call(login.action, post("/login", posted)));
      expect(refused.status).toBe(422);
      expect(refused.cookies).toEqual({});
      expect(refused.data.errors).toEqual({ [field]: "This field is missing, or was sent twice." });
      expect(refused.data.typed).not.toHaveProperty("password");
    }
  });
});

describe("too many failed logins", () => {
  test.each([
    ["a wrong", "wrong"],
    ["the right", goodPassword],
  ])("the eleventh for an address is 429 with %s password", { tags: ["2.3.2", "6.3.1"] }, async (_which, password) => {
    await latchkey.createUser();
    await failTimes(10, (index) => (index % 2 ? "ada@example.com" : " ADA@example.com"));
    const throttled = await logIn({ password });
    expect(throttled).toMatchObject({ status: 429, data: { typed: { email: "ada@example.com" } } });
    expect(throttled.cookies).toEqual({});
    const wait = Number(throttled.headers.get("Retry-After"));
    expect(wait).toBeGreaterThan(14 * 60);
    expect(wait).toBeLessThanOrEqual(15 * 60);
    expect(await latchkey.execute("select * from sessions")).toEqual([]);
  });

  test("the eleventh for an address without an account is 429", { tags: ["2.3.2", "6.3.1"] }, async () => {
    await failTimes(10, () => "nobody@example.com");
    expect((await logIn({ email: "nobody@example.com", password: "wrong" })).status).toBe(429);
  });

  test.each([
    [14, 429],
    [15, 302],
  ])("%i minutes after the first failure the right password is %i", async (minutes, status) => {
    await latchkey.createUser();
    await failTimes(10, () => "ada@example.com");
    await latchkey.execute(`update rate_limits set expire = expire - ${minutes} * 60000`);
    expect((await logIn()).status).toBe(status);
  });

  describe("after a hundred of a client", () => {
    beforeEach(async () => {
      await latchkey.createUser();
      await latchkey.countUp("login:client:192.0.2.1", 99);
      await failTimes(1, () => "nobody@example.com", { facts: { client: "192.0.2.1" } });
    });

    test("its next login is 429", { tags: ["2.4.1", "6.3.1"] }, async () => {
      const throttled = await logIn({ facts: { client: "192.0.2.1" } });
      expect(throttled.status).toBe(429);
      expect(throttled.headers.get("Retry-After")).toMatch(/^\d+$/);
    });

    test("another client can log in", { tags: "6.3.1" }, async () => {
      expect((await logIn({ facts: { client: "192.0.2.2" } })).status).toBe(302);
    });
  });

  test("successful logins are not counted", async () => {
    await latchkey.createUser();
    for (let count = 0; count < 12; count++) expect((await logIn()).status).toBe(302);
    await failTimes(10, () => "ada@example.com");
    expect((await logIn()).status).toBe(429);
  });

  test("a successful login to another account does not reset the count", async () => {
    await latchkey.createUser();
    await failTimes(5, () => "bob@example.com");
    expect((await logIn()).status).toBe(302);
    await failTimes(5, () => "bob@example.com");
    expect((await logIn({ email: "bob@example.com", password: "wrong" })).status).toBe(429);
  });

  test("of twenty simultaneous logins ten are evaluated", async () => {
    const answers = await Promise.all(Array.from({ length: 20 }, () => logIn({ password: "wrong" })));
    expect(answers.filter(({ status }) => status === 422)).toHaveLength(10);
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(10);
  });
});

describe("a hash with weaker parameters than those in force", () => {
  const weak = new Argon2id({ memorySize: 8192, iterations: 1, parallelism: 1 });

  const createOutdatedUser = async () => latchkey.createUser({ passwordHash: await weak.hash(goodPassword) });

  const storedHash = async () =>
    (await latchkey.execute<{ password_hash: string }>("select password_hash from users"))[0]?.password_hash;

  test.each([
    ["m=19455,t=2,p=1", true],
    ["m=19456,t=1,p=1", true],
    ["m=19456,t=2,p=1", false],
    ["m=65536,t=10,p=16", false],
  ])("has less memory or fewer passes (%s: %s)", (parameters, outdated) => {
    expect(isOutdated(`$argon2id$v=19$${parameters}$c2FsdA$aGFzaA`)).toBe(outdated);
  });

  test("is replaced by the next login", { tags: "11.2.2" }, async () => {
    await createOutdatedUser();
    expect((await logIn()).status).toBe(302);
    expect(await storedHash()).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/);
  });

  test("is replaced by one of the same password", { tags: "11.2.2" }, async () => {
    await createOutdatedUser();
    expect((await logIn()).status).toBe(302);
    const renewed = await storedHash();
    expect((await logIn()).status).toBe(302);
    expect(await storedHash()).toBe(renewed);
  });

  test.each([1, 2, 3, 4, 5])("lets simultaneous logins succeed (round %i)", async () => {
    await createOutdatedUser();
    const answers = await Promise.all(Array.from({ length: 4 }, () => logIn()));
    expect(answers.map(({ status }) => status)).toEqual([302, 302, 302, 302]);
    expect(await latchkey.execute("select * from sessions")).toHaveLength(4);
  });
});

describe("a refused login makes the same Argon2 runs for every address", () => {
  const weak = new Argon2id({ memorySize: 9_728, iterations: 2, parallelism: 1 });
  const kinds = { weak: "m=9728,t=2,p=1", inForce: "m=19456,t=2,p=1" };

  const createWeakUser = async (email: string) =>
    latchkey.createUser({ email, passwordHash: await weak.hash(goodPassword) });

  async function runsOf(email: string): Promise<string[]> {
    const verify = vi.spyOn(Argon2id.prototype, "verify");
    expect((await logIn({ email, password: "wrong" })).status).toBe(422);
    const runs = verify.mock.calls.map(([hash]) => hash.split("$")[3] ?? "");
    verify.mockRestore();
    return runs;
  }

  const everybody = ["weak", "strong", "provider", "nobody"].map((name) => `${name}@example.com`).concat("no address");

  test("while some hashes with half the memory are stored", { tags: "GHSA-6f65-4fv2-wwch" }, async () => {
    await createWeakUser("weak@example.com");
    await latchkey.createUser({ email: "strong@example.com" });
    await latchkey.createUser({ email: "provider@example.com", password: null, idpId: "42" });
    for (const email of everybody) expect((await runsOf(email)).sort(), email).toEqual([kinds.inForce, kinds.weak]);
    const first = await runsOf("weak@example.com");
    for (const email of everybody) expect(await runsOf(email), email).toEqual(first);
  });

  test("while only hashes with half the memory are stored", async () => {
    await createWeakUser("weak@example.com");
    for (const email of everybody) expect(await runsOf(email), email).toEqual([kinds.weak]);
  });

  test("after every user with a weaker hash has logged in", async () => {
    await createWeakUser("weak@example.com");
    await latchkey.createUser({ email: "strong@example.com" });
    expect((await logIn({ email: "weak@example.com" })).status).toBe(302);
    for (const email of everybody) expect(await runsOf(email), email).toEqual([kinds.inForce]);
  });

  test("while no hash is stored", async () => {
    await latchkey.createUser({ email: "provider@example.com", password: null, idpId: "42" });
    for (const email of everybody) expect(await runsOf(email), email).toEqual([kinds.inForce]);
  });
});
