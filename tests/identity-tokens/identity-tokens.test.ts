import { createLocalJWKSet, decodeJwt, decodeProtectedHeader, type JSONWebKeySet, jwtVerify } from "jose";
import pg from "pg";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { FindUser } from "#server/door/forward-authentication";
import { StartError } from "#server/errors";
import { visitorFinder } from "#server/features/application/identity";
import { prepareSigningKeys, rotateSigningKeys } from "#server/features/application/signing-keys";
import { purgeExpired } from "#server/features/operator/purge";
import { endOtherSessions } from "#server/features/owner/own-sessions";
import { owner } from "../support/accounts";
import { callEndpoint } from "../support/endpoint-calls";
import { identityTokens } from "../support/identity-key";
import { startLatchkey } from "../support/latchkey";

const settings = {
  ...identityTokens(),
  APP_URL: "https://login.example",
  RETURN_ORIGINS: "https://app.example,https://other.example,https://*.login.example",
  SESSION_DOMAIN: "login.example",
};
const latchkey = startLatchkey(settings);

const app = "https://app.example";
const second = 1_000; // ms
const minute = 60 * second;

let userId: string;
let session: string;
let findVisitor: FindUser;

const pass = (milliseconds: number) => vi.advanceTimersByTime(milliseconds);

beforeEach(async () => {
  vi.useFakeTimers({ toFake: ["Date", "performance"], now: Date.parse("2026-11-24T12:00:00Z") });
  findVisitor = visitorFinder();
  userId = await latchkey.createUser();
  session = await signIn();
  await prepareSigningKeys(latchkey.em());
});

afterEach(() => {
  vi.useRealTimers();
});

const signIn = async () => (await latchkey.signedIn(userId)).replace("session=", "");

async function tokenFor(audience = app, sessionToken = session): Promise<string> {
  const { token } = (await findVisitor(sessionToken, () => audience)) ?? {};
  return token!;
}

const kidOf = (token: string) => decodeProtectedHeader(token).kid;

async function published(): Promise<JSONWebKeySet> {
  return JSON.parse(String((await callEndpoint("/.well-known/jwks.json"))?.body));
}

const publishedKids = async () => (await published()).keys.map(({ kid }) => kid);

const verified = async (token: string) =>
  (await jwtVerify(token, createLocalJWKSet(await published()), { audience: app, currentDate: new Date() })).payload;

async function passPurge(): Promise<void> {
  pass(10 * minute + 1); // its interval
  await purgeExpired();
}

describe("a token", () => {
  test("has the user's id, address and groups, and expires after 60 seconds", async () => {
    await latchkey.execute("update users set groups = '{admins,staff}'");
    const token = await tokenFor();
    expect(decodeProtectedHeader(token)).toEqual({ alg: "ES256", typ: "JWT", kid: (await publishedKids())[0] });
    const iat = Math.floor(Date.now() / 1000);
    expect(await verified(token)).toEqual({
      iss: "https://login.example",
      sub: userId,
      aud: app,
      email: "ada@example.com",
      email_verified: true,
      groups: ["admins", "staff"],
      auth_time: iat,
      iat,
      exp: iat + 60,
    });
    pass(59 * second);
    await verified(token);
    pass(second);
    await expect(verified(token)).rejects.toMatchObject({ code: "ERR_JWT_EXPIRED" });
  });

  test("is the same one for a session and an audience for less than 30 seconds, for simultaneous requests too", async () => {
    const [first, ...others] = await Promise.all(Array.from({ length: 8 }, () => tokenFor()));
    expect(new Set(others)).toEqual(new Set([first]));
    pass(30 * second - 1);
    expect(await tokenFor()).toBe(first);
    pass(1);
    const next = await tokenFor();
    expect(decodeJwt(next).iat).toBe(decodeJwt(first!).iat! + 30);
  });

  test("is another one for another audience, and for another session of the same user", async () => {
    const token = await tokenFor();
    expect(decodeJwt(await tokenFor("https://other.example")).aud).toBe("https://other.example");
    expect(await tokenFor(app, await signIn())).not.toBe(token);
    expect(await tokenFor()).toBe(token);
  });

  test("has the time of the sign-in, which a new token of the session keeps", async () => {
    const { auth_time: signedInAt, iat } = await verified(await tokenFor());
    expect(signedInAt).toBe(iat);
    pass(20 * minute);
    expect(await verified(await tokenFor())).toMatchObject({ auth_time: signedInAt, iat: Number(iat) + 1_200 });
    const [{ id = "" } = {}] = await latchkey.execute<{ id: string }>("select id from sessions");
    const { kept } = (await endOtherSessions(owner(userId, id))) ?? {};
    expect((await verified(await tokenFor(app, kept?.token))).auth_time).toBe(signedInAt);
    expect((await verified(await tokenFor(app, await signIn()))).auth_time).toBe(Number(iat) + 1_200);
  });

  const others = [
    "https://another.example",
    "https://app.example:8444",
    "http://login.example",
    "https://x.app.example",
  ];
  const covered = ["https://login.example", "https://a.b.login.example"];
  test.each([
    ...covered.map((origin) => [true, origin] as const),
    ...[...others, "http://localhost", "https://evillogin.example", "https://a.login.example:8443"].map(
      (origin) => [false, origin] as const,
    ),
  ])(
    "is made (%s) for the origin %s, and the log names one that neither APP_URL nor RETURN_ORIGINS has",
    async (isAllowed, origin) => {
      const token = await tokenFor(origin);
      expect(token && decodeJwt(token).aud).toBe(isAllowed ? origin : undefined);
      const msg = "No Remote-Token: neither APP_URL nor RETURN_ORIGINS has this origin.";
      const lines = latchkey.logLines().map((line) => JSON.parse(line));
      expect(lines).toEqual(isAllowed ? [] : [{ level: 40, time: expect.any(String), origin, msg }]);
    },
  );

  test.each([
    ["email", "grace@example.com", { email: "grace@example.com" }],
    ["name", "Ada ☃", { name: "Ada ☃" }],
    ["groups", "{staff}", { groups: ["staff"] }],
  ])("has a change of %s at once", async (column, value, changed) => {
    const before = decodeJwt(await tokenFor());
    await latchkey.execute(`update users set ${column} = ?`, [value]);
    expect(decodeJwt(await tokenFor())).toEqual({ ...before, ...changed });
  });

  test("is not handed out for a session that has ended", async () => {
    await tokenFor();
    await latchkey.execute("delete from sessions");
    expect(await findVisitor(session, () => app)).toBeNull();
  });

  test("is made anew after a failure, which is not kept", async () => {
    await latchkey.withoutTable("signing_keys", async () => {
      await expect(tokenFor()).rejects.toThrow();
    });
    await verified(await tokenFor());
  });

  test("is kept among 5,000 of them at most", async () => {
    const audience = (index: number) => `https://app-${index}.login.example`;
    const first = await tokenFor(audience(0));
    const query = vi.spyOn(pg.Client.prototype, "query");
    await tokenFor(audience(0));
    query.mockResolvedValue((await query.mock.results[0]?.value) as never); // the live session, without the database
    for (let index = 1; index < 5_000; index++) await tokenFor(audience(index));
    expect(await tokenFor(audience(0))).toBe(first);
    await tokenFor(audience(5_000));
    expect(await tokenFor(audience(0))).not.toBe(first);
  });
});

test("the private half is stored encrypted, and is not published", {
  tags: ["11.3.1", "11.3.2", "11.3.3"],
}, async () => {
  const [row] = await latchkey.execute<{ encrypted_private_key: string }>("select * from signing_keys");
  expect(decodeProtectedHeader(row!.encrypted_private_key)).toEqual({ alg: "dir", enc: "A256GCM" });
  expect((await published()).keys.map((key) => Object.keys(key).sort())).toEqual([
    ["alg", "crv", "kid", "kty", "use", "x", "y"],
  ]);
});

test("a start makes the first key, and no later start another one", async () => {
  await latchkey.unchanged(() => prepareSigningKeys(latchkey.em()));
  expect(await publishedKids()).toHaveLength(1);
});

describe("a rotation", () => {
  test("publishes a key that signs ten minutes later, and the old one for half an hour after its last use", async () => {
    const [old] = await publishedKids();
    expect(await rotateSigningKeys()).toEqual(new Date(Date.now() + 10 * minute));
    const [, next] = await publishedKids();
    expect(await publishedKids()).toEqual([old, next]);
    pass(10 * minute - 1);
    const last = await tokenFor();
    expect(kidOf(last)).toBe(old);
    pass(30 * second);
    expect(kidOf(await tokenFor())).toBe(next);
    await verified(last);
    pass(20 * minute);
    await passPurge();
    expect(await publishedKids()).toEqual([old, next]);
    pass(minute);
    await passPurge();
    expect(await publishedKids()).toEqual([next]);
    expect(kidOf(await tokenFor())).toBe(next);
    await passPurge();
    expect(await publishedKids()).toEqual([next]);
  });

  test("and another within the ten minutes: each key signs in its time", async () => {
    await rotateSigningKeys();
    pass(5 * minute);
    await rotateSigningKeys();
    const [first, next, last] = await publishedKids();
    const seen: unknown[] = [];
    for (let minutes = 0; minutes < 12; minutes += 4) {
      seen.push(kidOf(await tokenFor()));
      pass(4 * minute);
    }
    expect([...seen, kidOf(await tokenFor())]).toEqual([first, first, next, last]);
  });
});

describe("another IDENTITY_KEY", () => {
  const replaceKey = () => latchkey.configure(identityTokens());

  test("stops the start, and changes nothing", async () => {
    replaceKey();
    await latchkey.unchanged(async () => {
      const message =
        "IDENTITY_KEY does not decrypt the signing key: set the one that encrypted it, or run `latchkey keys rotate`.";
      await expect(prepareSigningKeys(latchkey.em())).rejects.toThrow(new StartError(message));
    });
  });

  test("is taken after a rotation, whose key signs at once; a key that waited is gone", async () => {
    const [old] = await publishedKids();
    await rotateSigningKeys();
    const before = await tokenFor();
    pass(5 * minute);
    replaceKey();
    expect(await rotateSigningKeys()).toEqual(new Date());
    const [still, next, ...others] = await publishedKids();
    expect([still, ...others]).toEqual([old]);
    await prepareSigningKeys(latchkey.em());
    expect(kidOf(before)).toBe(old);
    expect(kidOf(await tokenFor())).toBe(next);
    pass(minute);
    expect(await rotateSigningKeys()).toEqual(new Date(Date.now() + 10 * minute));
  });

  test("and a process that still has the one before goes on with a key that is published", async () => {
    const [old] = await publishedKids();
    replaceKey();
    await rotateSigningKeys();
    latchkey.configure({});
    const token = await tokenFor();
    expect(kidOf(token)).toBe(old);
    await verified(token);
  });

  test("that decrypts nothing makes no token", async () => {
    replaceKey();
    await expect(tokenFor()).rejects.toThrow("IDENTITY_KEY decrypts no signing key.");
  });
});

test("with IDENTITY_TOKENS off there are no tokens and no published keys, and a start makes no key", async () => {
  latchkey.configure({ IDENTITY_TOKENS: "off" });
  expect(await findVisitor(session, () => app)).not.toHaveProperty("token");
  expect(await callEndpoint("/.well-known/jwks.json")).toBeNull();
  await latchkey.execute("delete from signing_keys");
  await latchkey.unchanged(() => prepareSigningKeys(latchkey.em()));
});
