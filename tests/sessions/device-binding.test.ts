import { createPrivateKey } from "node:crypto";
import { readFileSync } from "node:fs";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { identityFinders } from "#server/features/application/identity";
import { act, confirmAddress, logIn, logOut, openAccount, openLogin, registerWith } from "../support/account-calls";
import { Authenticator } from "../support/authenticator";
import { BoundBrowser, challengeIn, createKey, deviceKey, proofOf, registrationProof } from "../support/bound-browser";
import { callEndpoint } from "../support/endpoint-calls";
import { google, signInWithGoogle } from "../support/google-sign-in";
import { startLatchkey } from "../support/latchkey";
import { emailChangeLink, registrationLink } from "../support/mailed-links";
import { addPasskey, signInBy } from "../support/passkeys";
import { goodPassword, newPassword, twice } from "../support/passwords";
import type { Outcome } from "../support/route-calls";
import { sha256 } from "../support/sha256";
import { statementsOf } from "../support/statements";

const latchkey = startLatchkey({ DEVICE_BOUND_SESSIONS: "on" }, { onNewDatabase: true });

const rsa = createKey("RS256");

/** A stored key for these tests alone: to make one takes seconds of CPU. */
const longKey = (bits: 4096 | 4104) =>
  deviceKey("RS256", createPrivateKey(readFileSync(`tests/sessions/rsa-${bits}.pem`)));

const second = 1_000;
const minute = 60 * second;
const pass = (milliseconds: number) => vi.advanceTimersByTime(milliseconds);

beforeEach(async () => {
  vi.useFakeTimers({ toFake: ["Date"], now: Date.parse("2026-11-26T12:00:00Z") });
  await latchkey.createUser();
});

afterEach(() => {
  vi.useRealTimers();
});

const bindings = () => latchkey.execute<Record<string, unknown>>("select * from session_bindings");

/** Signed in, registered and refreshed, half a minute ago. */
async function bound(browser = new BoundBrowser()): Promise<BoundBrowser> {
  await browser.bind();
  pass(30 * second);
  return browser;
}

const statusOf = async (cookie: string) => (await openAccount(cookie)).status;

async function newBrowser(): Promise<BoundBrowser> {
  const browser = new BoundBrowser();
  await browser.logIn();
  return browser;
}

async function registered(): Promise<BoundBrowser> {
  const browser = await newBrowser();
  expect((await browser.register()).status).toBe(200);
  return browser;
}

describe("an offer", () => {
  test.each<[string, () => Promise<Outcome>]>([
    ["a sign-in with a password", () => logIn()],
    [
      "a sign-in by the provider",
      () => {
        latchkey.configure(google);
        return signInWithGoogle({ sub: "42", email: "grace@example.com", email_verified: true });
      },
    ],
    [
      "a sign-in with a passkey",
      async () => {
        const authenticator = new Authenticator();
        await addPasskey(authenticator, (await newBrowser()).cookie);
        return signInBy(authenticator);
      },
    ],
    ["a completed registration", async () => registerWith(await registrationLink(latchkey), goodPassword)],
    ["the end of every other session", async () => act((await newBrowser()).cookie, "end-other-sessions")],
    [
      "the confirmation of an address",
      async () => {
        const { cookie } = await newBrowser();
        return confirmAddress(await emailChangeLink(latchkey, cookie, "new@example.com"), { cookie });
      },
    ],
  ])("is made at %s", async (_what, answer) => {
    const offer = (await answer()).headers.get("Secure-Session-Registration");
    expect(offer).toMatch(/^\(ES256 RS256\);path="\/auth\/device\/register";challenge="[0-9a-f]{64}"$/);
  });

  test("has a challenge that is stored as SHA-256", async () => {
    const { headers } = await logIn();
    expect(await bindings()).toMatchObject([{ id: sha256(challengeIn(headers)), public_key: null }]);
    expect(JSON.stringify(await bindings())).not.toContain(challengeIn(headers));
  });

  test("comes again when a session without a key is renewed", async () => {
    const browser = await newBrowser();
    const first = browser.challenge;
    await browser.act("change-password", { currentPassword: goodPassword, ...twice(newPassword) });
    expect(browser.challenge).not.toBe(first);
    expect((await browser.register()).status).toBe(200);
  });

  test("does not come again once the session has a key", async () => {
    const browser = await registered();
    const { headers } = await browser.act("change-password", { currentPassword: goodPassword, ...twice(newPassword) });
    expect(headers.has("Secure-Session-Registration")).toBe(false);
  });

  test("does not come while DEVICE_BOUND_SESSIONS is off", async () => {
    latchkey.configure({ DEVICE_BOUND_SESSIONS: "off" });
    const { headers } = await logIn();
    expect(headers.has("Secure-Session-Registration")).toBe(false);
    expect(headers.getSetCookie().filter((line) => line.includes("bound"))).toEqual([]);
    expect(await bindings()).toEqual([]);
  });
});

describe("a registration", () => {
  test("answers with the instructions", async () => {
    const browser = await newBrowser();
    const { status, headers, body } = await browser.register();
    expect([status, headers.get("Content-Type"), headers.get("Cache-Control")]).toEqual([
      200,
      "application/json",
      "no-store",
    ]);
    const excluded = ["/auth/device", "/build", "/__files", "/favicon.svg"];
    expect(JSON.parse(body)).toEqual({
      session_identifier: expect.stringMatching(/^[0-9a-f]{64}$/),
      refresh_url: "/auth/device/refresh",
      scope: {
        origin: "http://localhost:3000",
        include_site: false,
        scope_specification: excluded.map((path) => ({ type: "exclude", domain: "localhost", path })),
      },
      credentials: [{ type: "cookie", name: "bound", attributes: "Path=/; HttpOnly; SameSite=Lax" }],
      allowed_refresh_initiators: ["*"],
    });
  });

  test("sets no cookie", async () => {
    const { headers } = await (await newBrowser()).register();
    expect(headers.getSetCookie()).toEqual([]);
  });

  test("does not tell the session's id", async () => {
    const { body } = await (await newBrowser()).register();
    const [row] = await latchkey.execute<{ id: string }>("select id from sessions");
    expect(body).not.toContain(row?.id);
  });

  test("finds the session by its challenge alone", async () => {
    const browser = await newBrowser();
    expect((await browser.register(undefined, "")).status).toBe(200);
  });

  describe("with SESSION_DOMAIN", () => {
    const attributes = "Path=/; HttpOnly; SameSite=Lax; Secure; Domain=corp.example.co.uk";
    let browser: BoundBrowser;
    let instructions: Record<string, unknown>;

    beforeEach(async () => {
      latchkey.configure({ APP_URL: "https://login.corp.example.co.uk:8443", SESSION_DOMAIN: "corp.example.co.uk" });
      browser = new BoundBrowser(createKey(), { facts: { origin: "https://login.corp.example.co.uk:8443" } });
      await browser.logIn();
      instructions = JSON.parse((await browser.register()).body);
    });

    test("is of the site", () => {
      const domain = "login.corp.example.co.uk";
      const excluded = ["/auth/device", "/build", "/__files", "/favicon.svg"];
      expect(instructions.scope).toEqual({
        origin: "https://example.co.uk:8443",
        include_site: true,
        scope_specification: excluded.map((path) => ({ type: "exclude", domain, path })),
      });
    });

    test("names the domain's cookie", () => {
      expect(instructions.credentials).toEqual([{ type: "cookie", name: "__Secure-bound", attributes }]);
    });

    test("leads to a cookie of the domain", async () => {
      const [cookie] = (await browser.refresh()).headers.getSetCookie();
      expect(cookie).toMatch(new RegExp(`^__Secure-bound=[0-9a-f]{64}; Max-Age=600; ${attributes}$`));
    });
  });

  test.each([
    ["ES256", createKey("ES256")],
    ["RS256", rsa],
    ["RS256 and 4096 bits", longKey(4096)],
  ])("takes a key of %s", async (_alg, key) => {
    const browser = new BoundBrowser(key);
    await browser.logIn();
    expect((await browser.register()).status).toBe(200);
    expect((await browser.refresh()).status).toBe(200);
  });

  test("takes its header with quotation marks", async () => {
    const browser = await newBrowser();
    expect((await browser.register(`"${registrationProof(browser.key, browser.challenge)}"`)).status).toBe(200);
  });

  const key = createKey();
  const another = createKey();
  const short = createKey("RS256", 1024);
  const long = longKey(4104);
  const weak = { ...short, alg: "RS256" as const };
  const hmac = { alg: "HS256", typ: "dbsc+jwt", jwk: { kty: "oct", k: "AAAA" } };
  const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url");

  test.each<[string, (challenge: string) => string]>([
    ["no proof", () => ""],
    ["no JWT", () => "a.b.c"],
    ["JSON that is none", () => "e30.e30.e30"],
    ["an unknown challenge", () => registrationProof(key, "ab".repeat(32))],
    ["a challenge that is not text", (challenge) => registrationProof(key, { challenge })],
    ["the typ JWT", (challenge) => registrationProof(key, challenge, { typ: "JWT" })],
    ["no typ", (challenge) => registrationProof(key, challenge, { typ: undefined })],
    [
      "the algorithm none",
      (challenge) => `${encode({ alg: "none", typ: "dbsc+jwt", jwk: key.jwk })}.${encode({ jti: challenge })}.`,
    ],
    ["the algorithm HS256", (challenge) => `${encode(hmac)}.${encode({ jti: challenge })}.AAAA`],
    ["the algorithm ES384 in the header", (challenge) => registrationProof(key, challenge, { alg: "ES384" })],
    ["a signature by another key", (challenge) => proofOf(another, challenge, { jwk: key.jwk })],
    ["no key", (challenge) => proofOf(key, challenge)],
    [
      "a private key",
      (challenge) => registrationProof(key, challenge, { jwk: key.privateKey.export({ format: "jwk" }) }),
    ],
    ["an RSA key of 4104 bits", (challenge) => registrationProof(long, challenge)],
    ["an RSA key of 1024 bits", (challenge) => registrationProof(weak, challenge)],
    ["more than 8 KiB", (challenge) => registrationProof(key, challenge, { x5c: ["a".repeat(8_192)] })],
    ["an unknown critical header", (challenge) => registrationProof(key, challenge, { crit: ["new"], new: 1 })],
  ])("with %s is 400", async (_what, proof) => {
    const browser = await newBrowser();
    const text = proof(browser.challenge);
    await latchkey.unchanged(async () => {
      expect((await browser.register(text)).status).toBe(400);
    });
    expect((await browser.open()).status).toBe(200);
  });

  test("uses the key of the header's jwk alone", async () => {
    const browser = await newBrowser();
    const named = { kid: "1", jku: "https://evil.example/keys", x5c: ["AAAA"], x5u: "https://evil.example" };
    expect((await browser.register(registrationProof(browser.key, browser.challenge, named))).status).toBe(200);
  });

  test("stores nothing of the header but the public key", async () => {
    const browser = await newBrowser();
    const jwk = { ...browser.key.jwk, kid: "\0", key_ops: ["verify"] };
    expect((await browser.register(registrationProof(browser.key, browser.challenge, { jwk }))).status).toBe(200);
    const [binding] = await bindings();
    expect(binding?.public_key).toEqual({ ...browser.key.jwk, alg: "ES256" });
    expect((await browser.refresh()).status).toBe(200);
  });

  test("counts once", async () => {
    const browser = await newBrowser();
    const proof = registrationProof(browser.key, browser.challenge);
    const answers = await Promise.all([browser.register(proof), browser.register(proof)]);
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 400]);
  });

  test.each([
    ["is taken within five minutes", 5 * minute - second, 200],
    ["is refused after five minutes", 5 * minute, 400],
  ])("%s", async (_what, age, status) => {
    const browser = await newBrowser();
    pass(age);
    expect((await browser.register()).status).toBe(status);
  });

  test("of a session that has ended is 400", async () => {
    const browser = await newBrowser();
    await logOut(browser.cookie);
    expect((await browser.register()).status).toBe(400);
  });

  test("is 400 while DEVICE_BOUND_SESSIONS is off", async () => {
    const browser = await newBrowser();
    latchkey.configure({ DEVICE_BOUND_SESSIONS: "off" });
    await latchkey.unchanged(async () => {
      expect((await browser.register()).status).toBe(400);
    });
  });
});

describe("a refresh", () => {
  test("sets the bound cookie for ten minutes", async () => {
    const browser = await registered();
    const { status, headers, cookies, body } = await browser.refresh();
    expect([status, body]).toEqual([200, ""]);
    expect(cookies.bound).toMatch(/^[0-9a-f]{64}$/);
    expect(headers.getSetCookie()).toEqual([`bound=${cookies.bound}; Max-Age=600; Path=/; HttpOnly; SameSite=Lax`]);
  });

  test("stores the cookie as its SHA-256", async () => {
    const { cookies } = await (await registered()).refresh();
    expect(await bindings()).toMatchObject([{ cookies: [{ hash: sha256(cookies.bound ?? "") }] }]);
  });

  test("on https sets a host cookie", async () => {
    const browser = new BoundBrowser(createKey(), { facts: { origin: "https://latchkey.example" } });
    await browser.logIn();
    await browser.register();
    const [cookie] = (await browser.refresh()).headers.getSetCookie();
    expect(cookie).toMatch(/^__Host-bound=[0-9a-f]{64}; Max-Age=600; Path=\/; HttpOnly; SameSite=Lax; Secure$/);
  });

  test("without a proof is 403 with a challenge of the binding", async () => {
    const browser = await registered();
    const { status, headers, cookies } = await browser.refresh(null);
    expect([status, cookies]).toEqual([403, {}]);
    expect(headers.get("Secure-Session-Challenge")).toBe(`"${browser.challenge}";id="${browser.id}"`);
    expect((await browser.refresh()).status).toBe(200);
  });

  test.each(["%s;v=1", '"%s";v=1'])("takes the identifier as %s", async (form) => {
    const browser = await registered();
    browser.id = form.replace("%s", browser.id);
    expect((await browser.refresh()).status).toBe(200);
  });

  test("takes the identifier with quotation marks", async () => {
    const browser = await registered();
    browser.id = `"${browser.id}"`;
    expect((await browser.refresh()).status).toBe(200);
  });

  test("works without the session's cookie", async () => {
    const browser = await registered();
    expect((await browser.refresh(undefined, "")).status).toBe(200);
  });

  const another = createKey();

  test.each<[string, (browser: BoundBrowser) => string]>([
    ["a proof by another key", ({ challenge }) => proofOf(another, challenge)],
    ["another key in the proof's header", ({ challenge }) => proofOf(another, challenge, { jwk: another.jwk })],
    ["an unknown challenge", ({ key }) => proofOf(key, "ab".repeat(32))],
    ["the typ JWT", ({ key, challenge }) => proofOf(key, challenge, { typ: "JWT" })],
    ["another algorithm", ({ challenge }) => proofOf(rsa, challenge)],
    ["text", () => "none"],
    ["more than 8 KiB", ({ key, challenge }) => proofOf(key, challenge, { x5c: ["a".repeat(8_192)] })],
  ])("with %s is 403 with a new challenge", async (_what, proof) => {
    const browser = await registered();
    const challenge = browser.challenge;
    const { status, cookies } = await browser.refresh(proof(browser));
    expect([status, cookies]).toEqual([403, {}]);
    expect(browser.challenge).not.toBe(challenge);
    expect((await browser.refresh()).status).toBe(200);
  });

  test("counts a challenge once", async () => {
    const browser = await registered();
    const proof = proofOf(browser.key, browser.challenge);
    const answers = await Promise.all([browser.refresh(proof), browser.refresh(proof)]);
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 403]);
  });

  test.each([
    ["takes a challenge of a 403 within five minutes", 403, 5 * minute - second, 200],
    ["refuses a challenge of a 403 after five minutes", 403, 5 * minute, 403],
    ["takes a challenge of a 200 within fifteen minutes", 200, 15 * minute - second, 200],
    ["refuses a challenge of a 200 after fifteen minutes", 200, 15 * minute, 403],
  ])("%s", async (_what, of, age, status) => {
    const browser = await registered();
    expect((await browser.refresh(of === 403 ? null : undefined)).status).toBe(of);
    pass(age);
    expect((await browser.refresh()).status).toBe(status);
  });

  test("takes one of the last eight challenges", async () => {
    const browser = await registered();
    await browser.refresh(null);
    const { challenge } = browser;
    for (let count = 0; count < 7; count++) await browser.refresh(null);
    expect((await browser.refresh(proofOf(browser.key, challenge))).status).toBe(200);
  });

  test("refuses a challenge before the last eight", async () => {
    const browser = await registered();
    await browser.refresh(null);
    const { challenge } = browser;
    for (let count = 0; count < 8; count++) await browser.refresh(null);
    expect((await browser.refresh(proofOf(browser.key, challenge))).status).toBe(403);
  });

  async function signedInElsewhere(): Promise<BoundBrowser> {
    const other = new BoundBrowser();
    await other.logIn();
    return other;
  }

  /** Each makes the browser's next refresh one of nothing. @returns the cookie that it sends */
  const endings: Record<string, (browser: BoundBrowser) => Promise<string>> = {
    "a session that has ended": async ({ cookie }) => {
      await logOut(cookie);
      return cookie;
    },
    "a session that has expired": async ({ cookie }) => {
      pass(30 * 24 * 60 * minute);
      return cookie;
    },
    "an unknown identifier": async (browser) => {
      browser.id = "ab".repeat(32);
      return browser.cookie;
    },
    "an offer without a key": async (browser) => {
      browser.id = sha256((await signedInElsewhere()).challenge);
      return browser.cookie;
    },
    "a request with another live session's cookie": async () => (await signedInElsewhere()).cookie,
  };

  test.each(Object.entries(endings))("of %s is 401", async (_what, prepare) => {
    const browser = await registered();
    const cookie = await prepare(browser);
    await latchkey.unchanged(async () => {
      const { status, headers } = await browser.refresh(undefined, cookie);
      expect([status, headers.getSetCookie(), challengeIn(headers)]).toEqual([401, [], ""]);
    });
  });

  test("with the cookie of a session that has ended is taken", async () => {
    const browser = await registered();
    expect((await browser.refresh(undefined, `session=${"ab".repeat(32)}`)).status).toBe(200);
  });

  test.each([
    ["no identifier", {}],
    ["an empty one", { "sec-secure-session-id": "" }],
    ["one of quotation marks", { "sec-secure-session-id": '""' }],
  ])("with %s is 400", async (_what, headers: Record<string, string>) => {
    expect((await new BoundBrowser().ask("/auth/device/refresh", headers)).status).toBe(400);
  });

  test("gets a challenge, as each of 400 of one client does", async () => {
    const browser = await registered();
    const hundred = () => Promise.all(Array.from({ length: 100 }, () => browser.refresh(null)));
    // All 400 at once can wait for longer than the pool allows, on a busy machine.
    const answers = [...(await hundred()), ...(await hundred()), ...(await hundred()), ...(await hundred())];
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([403]));
    for (const { headers } of answers) expect(challengeIn(headers)).toMatch(/^[0-9a-f]{64}$/);
  });

  test("is no use of the session", async () => {
    const browser = await registered();
    pass(14 * 24 * 60 * minute - second);
    await browser.refresh(null);
    expect((await browser.refresh()).status).toBe(200);
    pass(second);
    expect((await browser.open()).status).toBe(302);
  });

  test("works while DEVICE_BOUND_SESSIONS is off", async () => {
    const browser = await registered();
    latchkey.configure({ DEVICE_BOUND_SESSIONS: "off" });
    expect((await browser.refresh()).status).toBe(200);
  });
});

describe("a bound session", () => {
  test("keeps its sid through registration and refresh", async () => {
    const sidOf = async (cookie: string) =>
      JSON.parse(String((await callEndpoint("/auth/session", { cookie }))?.body)).sid;
    const browser = await newBrowser();
    const sid = await sidOf(browser.cookie);
    await browser.register();
    await browser.refresh();
    expect(await sidOf(browser.cookie)).toBe(sid);
    expect(sid).toMatch(/^[\w-]{22}$/);
  });

  test.each([
    ["not yet within thirty seconds of the first refresh", 30 * second - 1, 200],
    ["from thirty seconds after the first refresh", 30 * second, 302],
  ])("needs the bound cookie %s", async (_when, wait, withoutIt) => {
    const browser = await new BoundBrowser().bind();
    pass(wait);
    expect(await statusOf(`session=${browser.cookies.session}`)).toBe(withoutIt);
    expect(await statusOf(browser.cookie)).toBe(200);
  });

  test("is none before the first refresh", async () => {
    const browser = await registered();
    pass(60 * minute);
    expect((await browser.open()).status).toBe(200);
  });

  test("counts for ten minutes with a copied pair of cookies", async () => {
    const { cookie } = await new BoundBrowser().bind();
    pass(10 * minute - 1);
    expect(await statusOf(cookie)).toBe(200);
    pass(1);
    expect(await statusOf(cookie)).toBe(302);
  });

  test("counts with the cookie before until that one's own end", async () => {
    const browser = await bound();
    const before = browser.cookie;
    pass(8 * minute);
    await browser.refresh();
    expect(await statusOf(before)).toBe(200);
    pass(2 * minute - 30 * second);
    expect([await statusOf(before), await statusOf(browser.cookie)]).toEqual([302, 200]);
  });

  test("counts with the cookie that the browser has after a refresh whose answer was lost", async () => {
    const browser = await bound();
    const lost = await browser.ask("/auth/device/refresh", {
      "sec-secure-session-id": browser.id,
      "secure-session-response": proofOf(browser.key, browser.challenge),
    });
    expect(lost.status).toBe(200);
    expect((await browser.open()).status).toBe(200);
    expect((await browser.refresh()).status).toBe(403);
    expect((await browser.refresh()).status).toBe(200);
    expect((await browser.open()).status).toBe(200);
  });

  test("comes back by a refresh after a night", async () => {
    const browser = await bound();
    pass(10 * 60 * minute);
    expect((await browser.refresh()).status).toBe(403);
    expect((await browser.refresh()).status).toBe(200);
    expect((await browser.open()).status).toBe(200);
  });

  test("does not count with the bound cookie of another session", async () => {
    const thief = await bound();
    const { cookies } = await bound();
    expect(await statusOf(`session=${cookies.session}; bound=${thief.cookies.bound}`)).toBe(302);
  });

  test.each([
    ["/auth/verify", async (session: string) => (await identityFinders().findUser(session, () => "", null)) === null],
    [
      "/auth/session",
      async (session: string) =>
        (await callEndpoint("/auth/session", { cookie: `session=${session}` }))?.status === 401,
    ],
    ["/login", async (session: string) => (await openLogin("", { cookie: `session=${session}` })).status === 200],
  ])("counts as none at %s without its bound cookie", async (_path, isGuest) => {
    const { cookies } = await bound();
    expect(await isGuest(cookies.session ?? "")).toBe(true);
  });

  test("counts at /auth/verify with its bound cookie", async () => {
    const { cookies } = await bound();
    expect(await identityFinders().findUser(cookies.session ?? "", () => "", cookies.bound ?? null)).toMatchObject({
      email: "ada@example.com",
    });
  });

  test("costs /auth/verify one statement", async () => {
    const { cookies } = await bound();
    expect(
      await statementsOf(() => identityFinders().findUser(cookies.session ?? "", () => "", cookies.bound ?? null)),
    ).toHaveLength(1);
  });

  test("counts by its session cookie alone while DEVICE_BOUND_SESSIONS is off", async () => {
    const { cookies } = await bound();
    latchkey.configure({ DEVICE_BOUND_SESSIONS: "off" });
    expect(await statusOf(`session=${cookies.session}`)).toBe(200);
  });

  const skipped = { "Secure-Session-Skipped": "server_error" };

  describe("when the browser could not refresh", () => {
    let options: { cookie: string; headers: Record<string, string> };

    beforeEach(async () => {
      options = { cookie: `session=${(await bound()).cookies.session}`, headers: skipped };
    });

    test("leads from the account page to the 503 page", async () => {
      expect((await openAccount(options.cookie, options)).status).toBe(503);
    });

    test("leads from the login to the 503 page", async () => {
      expect((await openLogin("", options)).status).toBe(503);
    });

    test("leads from the confirmation of an address to the 503 page", async () => {
      const link = { email: "new@example.com", token: "0".repeat(64) };
      expect((await confirmAddress(link, options)).status).toBe(503);
    });

    test("leads to no 503 page after a refused login that asked for a recent sign-in", async () => {
      const afterRefusal = { ...options, facts: { method: "POST" } };
      expect((await openLogin("?max_age=600", afterRefusal)).status).toBe(200);
    });

    test("is none for a program", async () => {
      expect((await callEndpoint("/auth/session", options))?.status).toBe(401);
    });
  });

  test("that has ended leads to the login whatever the browser says", async () => {
    const { cookies, cookie } = await bound();
    await logOut(cookie);
    const ended = `session=${cookies.session}`;
    expect((await openAccount(ended, { headers: skipped })).status).toBe(302);
  });

  describe("at a logout with its session cookie alone", () => {
    let out: Awaited<ReturnType<typeof logOut>>;

    beforeEach(async () => {
      out = await logOut(`session=${(await bound()).cookies.session}`);
    });

    test("ends", async () => {
      expect(await latchkey.execute("select id from sessions")).toEqual([]);
      expect(await bindings()).toEqual([]);
    });

    test("has both cookies cleared", () => {
      expect(out.cookies).toMatchObject({ session: "", bound: "" });
      expect(out.headers.getSetCookie()).toContain("bound=; Max-Age=0; Path=/; HttpOnly; SameSite=Lax");
    });
  });

  describe("at a new sign-in with its session cookie alone", () => {
    test("ends", async () => {
      const browser = await bound();
      await logIn({ cookie: `session=${browser.cookies.session}` });
      expect((await browser.open()).status).toBe(302);
    });

    test("has the bound cookie cleared", async () => {
      const browser = await bound();
      const { cookies } = await logIn({ cookie: `session=${browser.cookies.session}` });
      expect(cookies.bound).toBe("");
    });
  });

  test("stays bound when it is renewed", async () => {
    const browser = await bound();
    await browser.act("change-password", { currentPassword: goodPassword, ...twice(newPassword) });
    expect(await statusOf(browser.cookie)).toBe(200);
    expect(await statusOf(`session=${browser.cookies.session}`)).toBe(302);
    expect((await browser.refresh()).status).toBe(200);
  });

  test("is logged when it begins", async () => {
    await bound();
    expect(latchkey.events()).toContainEqual({ event: "session.bound" });
  });

  test("is logged once a minute when it is refused", async () => {
    const { cookies } = await bound();
    const refusals = () => latchkey.events().filter(({ event }) => event === "session.refused");
    for (const wait of [0, minute - 1, 1]) {
      pass(wait);
      await openAccount(`session=${cookies.session}`);
    }
    expect(refusals()).toEqual(Array(2).fill({ event: "session.refused", reason: "not_bound" }));
  });

  test("is logged once a minute when proofs are refused", async () => {
    pass(60 * 24 * 60 * minute); // further than other tests, which may have had the line
    const browser = await newBrowser();
    const refusals = () => latchkey.events().filter(({ event }) => event === "session.proof_refused");
    const stranger = createKey();
    await browser.register(registrationProof(stranger, "ab".repeat(32)));
    await browser.register();
    await browser.refresh(proofOf(stranger, browser.challenge));
    expect(refusals()).toEqual([{ event: "session.proof_refused" }]);
    pass(minute);
    await browser.refresh(null);
    await browser.refresh(proofOf(stranger, browser.challenge));
    expect(refusals()).toHaveLength(2);
  });

  test("is refused without counting as used", async () => {
    const { cookies } = await bound();
    pass(24 * 60 * minute);
    await latchkey.unchanged(async () => {
      await openAccount("");
    });
    const seen = () => latchkey.execute("select last_seen_at from sessions");
    const before = await seen();
    await openAccount(`session=${cookies.session}`);
    expect(await seen()).toEqual(before);
  });

  test("costs seven signatures in an hour of use", async () => {
    const browser = await bound();
    const signedAt: number[] = [];
    const start = Date.now();
    for (let at = 0; at < 60; at++) {
      pass(minute);
      if (at % 8 !== 7) continue; // Chromium refreshes up to two minutes early
      signedAt.push(Date.now() - start);
      expect((await browser.refresh()).status).toBe(200);
      expect((await browser.open()).status).toBe(200);
    }
    expect(signedAt).toHaveLength(7);
    const within = signedAt.map((at) => signedAt.filter((other) => other >= at && other < at + 9 * minute).length);
    expect(Math.max(...within)).toBe(2);
  });
});
