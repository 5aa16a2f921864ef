import { createLocalJWKSet, decodeJwt, decodeProtectedHeader, type JSONWebKeySet, jwtVerify, SignJWT } from "jose";
import pg from "pg";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { Finders } from "#server/door/forward-authentication";
import { StartError } from "#server/errors";
import { identityFinders } from "#server/features/application/identity";
import { prepareSigningKeys, rotateSigningKeys } from "#server/features/application/signing-keys";
import { purgeExpired } from "#server/features/operator/purge";
import { endOtherSessions } from "#server/features/owner/own-sessions";
import { owner } from "../support/accounts";
import { callEndpoint } from "../support/endpoint-calls";
import { identityTokens } from "../support/identity-key";
import { startLatchkey } from "../support/latchkey";
import { sha256 } from "../support/sha256";

const settings = {
  ...identityTokens(),
  APP_URL: "https://login.example",
  RETURN_ORIGINS: "https://app.example,https://other.example,https://*.login.example",
  SESSION_DOMAIN: "login.example",
};
const latchkey = startLatchkey(settings, { onNewDatabase: true });

const app = "https://app.example";
const second = 1_000; // ms
const minute = 60 * second;

let userId: string;
let session: string;
let findVisitor: Finders["findUser"];

const pass = (milliseconds: number) => vi.advanceTimersByTime(milliseconds);

beforeEach(async () => {
  vi.useFakeTimers({ toFake: ["Date", "performance"], now: Date.parse("2026-11-24T12:00:00Z") });
  findVisitor = identityFinders().findUser;
  userId = await latchkey.createUser();
  session = await signIn();
  await prepareSigningKeys(latchkey.em());
});

afterEach(() => {
  vi.useRealTimers();
});

const signIn = async () => (await latchkey.signedIn(userId)).replace("session=", "");

async function tokenFor(audience = app, sessionToken = session): Promise<string> {
  const { token } = (await findVisitor(sessionToken, () => audience, null)) ?? {};
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
  test("says who is signed in", async () => {
    await latchkey.execute("update users set groups = '{admins,staff}'");
    const token = await tokenFor();
    const iat = Math.floor(Date.now() / 1000);
    expect(await verified(token)).toEqual({
      iss: "https://login.example",
      sub: userId,
      aud: app,
      email: "ada@example.com",
      email_verified: true,
      groups: ["admins", "staff"],
      auth_time: iat,
      sid: expect.stringMatching(/^[\w-]{22}$/),
      iat,
      exp: iat + 60,
    });
  });

  test("names the key that signs it", async () => {
    const token = await tokenFor();
    expect(decodeProtectedHeader(token)).toEqual({ alg: "ES256", typ: "JWT", kid: (await publishedKids())[0] });
  });

  test("has the sid of /auth/session, until the session is renewed", async () => {
    const sidOfToken = async (of: string) => (await verified(await tokenFor(app, of))).sid;
    const sidOfSession = async (of: string) =>
      JSON.parse(String((await callEndpoint("/auth/session", { cookie: `session=${of}` }))?.body)).sid;
    const [{ id = "" } = {}] = await latchkey.execute<{ id: string }>("select id from sessions");
    const sid = Buffer.from(sha256(`latchkey session ${id}`).slice(0, 32), "hex").toString("base64url");
    expect([await sidOfToken(session), await sidOfSession(session)]).toEqual([sid, sid]);
    const { token = "" } = (await endOtherSessions(owner(userId, id)))?.kept ?? {};
    expect(await sidOfToken(token)).not.toBe(sid);
    expect(await sidOfSession(token)).toBe(await sidOfToken(token));
  });

  test("expires after 60 seconds", async () => {
    const token = await tokenFor();
    pass(59 * second);
    await verified(token);
    pass(second);
    await expect(verified(token)).rejects.toMatchObject({ code: "ERR_JWT_EXPIRED" });
  });

  test("is the same one for simultaneous requests", async () => {
    const [first, ...others] = await Promise.all(Array.from({ length: 8 }, () => tokenFor()));
    expect(new Set(others)).toEqual(new Set([first]));
  });

  test("is the same one for less than 30 seconds", async () => {
    const first = await tokenFor();
    pass(30 * second - 1);
    expect(await tokenFor()).toBe(first);
  });

  test("is a new one after 30 seconds", async () => {
    const first = await tokenFor();
    pass(30 * second);
    expect(decodeJwt(await tokenFor()).iat).toBe(decodeJwt(first).iat! + 30);
  });

  test("is another one for another audience", async () => {
    await tokenFor();
    expect(decodeJwt(await tokenFor("https://other.example")).aud).toBe("https://other.example");
  });

  test("is another one for another session of the same user", async () => {
    const token = await tokenFor();
    expect(await tokenFor(app, await signIn())).not.toBe(token);
  });

  test("is still the same one after those of others", async () => {
    const token = await tokenFor();
    await tokenFor("https://other.example");
    await tokenFor(app, await signIn());
    expect(await tokenFor()).toBe(token);
  });

  describe("20 minutes after the sign-in", () => {
    let signedInAt: number;

    beforeEach(async () => {
      const { auth_time, iat } = await verified(await tokenFor());
      expect(auth_time).toBe(iat);
      signedInAt = Number(iat);
      pass(20 * minute);
    });

    test("has the time of the sign-in", async () => {
      expect(await verified(await tokenFor())).toMatchObject({ auth_time: signedInAt, iat: signedInAt + 1_200 });
    });

    test("has the time of the sign-in for a renewed session", async () => {
      const [{ id = "" } = {}] = await latchkey.execute<{ id: string }>("select id from sessions");
      const { kept } = (await endOtherSessions(owner(userId, id))) ?? {};
      expect((await verified(await tokenFor(app, kept?.token))).auth_time).toBe(signedInAt);
    });

    test("has the time of the new sign-in for a new session", async () => {
      expect((await verified(await tokenFor(app, await signIn()))).auth_time).toBe(signedInAt + 1_200);
    });
  });

  const others = [
    "https://another.example",
    "https://app.example:8444",
    "http://login.example",
    "https://x.app.example",
  ];
  const covered = ["https://login.example", "https://a.b.login.example"];
  const logged = () => latchkey.logLines().map((line) => JSON.parse(line));

  describe.each(covered)("for the origin %s", (origin) => {
    test("is made", async () => {
      expect(decodeJwt(await tokenFor(origin)).aud).toBe(origin);
    });

    test("logs nothing", async () => {
      await tokenFor(origin);
      expect(logged()).toEqual([]);
    });
  });

  describe.each([...others, "http://localhost", "https://evillogin.example", "https://a.login.example:8443"])(
    "for the origin %s, which no setting has",
    (origin) => {
      test("is not made", async () => {
        expect(await tokenFor(origin)).toBeUndefined();
      });

      test("logs the origin, once a minute", async () => {
        for (let times = 0; times < 2; times++) await tokenFor(origin);
        const msg = "No Remote-Token: neither APP_URL nor RETURN_ORIGINS has this origin.";
        expect(logged()).toEqual([{ level: 40, time: expect.any(String), origin, msg }]);
      });
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
    expect(await findVisitor(session, () => app, null)).toBeNull();
  });

  test("is made anew after a failure", async () => {
    await latchkey.withoutTable("signing_keys", async () => {
      await expect(tokenFor()).rejects.toThrow();
    });
    await verified(await tokenFor());
  });

  test("is kept among at most 5000 of them", async () => {
    const audience = (index: number) => `https://app-${index}.login.example`;
    const first = await tokenFor(audience(0));
    const query = vi.spyOn(pg.Client.prototype, "query");
    await tokenFor(audience(0));
    query.mockResolvedValue((await query.mock.results[0]?.value) as never); // the live session, without the database
    vi.spyOn(SignJWT.prototype, "sign").mockImplementation(async () => crypto.randomUUID()); // signing is not the subject
    for (let index = 1; index < 5_000; index++) await tokenFor(audience(index));
    expect(await tokenFor(audience(0))).toBe(first);
    await tokenFor(audience(5_000));
    expect(await tokenFor(audience(0))).not.toBe(first);
  });
});

test("the private half is stored encrypted", { tags: ["11.3.1", "11.3.2", "11.3.3"] }, async () => {
  const [row] = await latchkey.execute<{ encrypted_private_key: string }>("select * from signing_keys");
  expect(decodeProtectedHeader(row!.encrypted_private_key)).toEqual({ alg: "dir", enc: "A256GCM" });
});

test("the private half is not published", async () => {
  expect((await published()).keys.map((key) => Object.keys(key).sort())).toEqual([
    ["alg", "crv", "kid", "kty", "use", "x", "y"],
  ]);
});

test("the first start makes a key", async () => {
  expect(await publishedKids()).toHaveLength(1);
});

test("a later start makes no other key", async () => {
  await latchkey.unchanged(() => prepareSigningKeys(latchkey.em()));
});

describe("a rotation", () => {
  test("publishes the next key beside the old one", async () => {
    const [old] = await publishedKids();
    await rotateSigningKeys();
    expect(await publishedKids()).toEqual([old, expect.any(String)]);
  });

  describe("after the first key", () => {
    let old: string | undefined;
    let next: string | undefined;

    beforeEach(async () => {
      expect(await rotateSigningKeys()).toEqual(new Date(Date.now() + 10 * minute));
      [old, next] = await publishedKids();
    });

    test("lets the old key sign for ten minutes", async () => {
      pass(10 * minute - 1);
      expect(kidOf(await tokenFor())).toBe(old);
    });

    test("lets the next key sign after that", async () => {
      pass(10 * minute - 1);
      const last = await tokenFor();
      pass(30 * second);
      expect(kidOf(await tokenFor())).toBe(next);
      await verified(last);
    });

    test("publishes the old key for half an hour after its last use", async () => {
      pass(10 * minute + 30 * second - 1);
      await tokenFor();
      pass(20 * minute);
      await passPurge();
      expect(await publishedKids()).toEqual([old, next]);
    });

    test("then publishes the next key alone", async () => {
      pass(10 * minute + 30 * second - 1);
      await tokenFor();
      pass(20 * minute);
      await passPurge();
      pass(minute);
      await passPurge();
      expect(await publishedKids()).toEqual([next]);
      expect(kidOf(await tokenFor())).toBe(next);
      await passPurge();
      expect(await publishedKids()).toEqual([next]);
    });
  });

  test("within the ten minutes of another lets each key sign in its time", async () => {
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

  test("stops the start", async () => {
    replaceKey();
    await latchkey.unchanged(async () => {
      const message =
        "IDENTITY_KEY does not decrypt the signing key: restore the one that encrypted it, or run `latchkey keys rotate`.";
      await expect(prepareSigningKeys(latchkey.em())).rejects.toThrow(new StartError(message));
    });
  });

  describe("in a rotation while a key waits", () => {
    let old: string | undefined;
    let before: string;

    beforeEach(async () => {
      [old] = await publishedKids();
      await rotateSigningKeys();
      before = await tokenFor();
      pass(5 * minute);
      replaceKey();
    });

    test("makes a key that signs at once", async () => {
      expect(await rotateSigningKeys()).toEqual(new Date());
      const [, next] = await publishedKids();
      await prepareSigningKeys(latchkey.em());
      expect(kidOf(before)).toBe(old);
      expect(kidOf(await tokenFor())).toBe(next);
    });

    test("removes the key that waited", async () => {
      const [, waited] = await publishedKids();
      await rotateSigningKeys();
      const [first, next, ...others] = await publishedKids();
      expect([first, ...others]).toEqual([old]);
      expect(next).not.toBe(waited);
    });

    test("lets the key of the next rotation wait for ten minutes", async () => {
      await rotateSigningKeys();
      await prepareSigningKeys(latchkey.em());
      pass(minute);
      expect(await rotateSigningKeys()).toEqual(new Date(Date.now() + 10 * minute));
    });
  });

  test("leaves a process with the one before a key that is published", async () => {
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

describe("with IDENTITY_TOKENS off", () => {
  beforeEach(() => void latchkey.configure({ IDENTITY_TOKENS: "off" }));

  test("there are no tokens", async () => {
    expect(await findVisitor(session, () => app, null)).not.toHaveProperty("token");
  });

  test("there are no published keys", async () => {
    expect(await callEndpoint("/.well-known/jwks.json")).toBeNull();
  });

  test("a start makes no key", async () => {
    await latchkey.execute("delete from signing_keys");
    await latchkey.unchanged(() => prepareSigningKeys(latchkey.em()));
  });
});
