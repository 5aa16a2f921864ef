import { beforeEach, describe, expect, test } from "vitest";
import { purgeExpired } from "#server/features/operator/purge";
import { endOtherSessions } from "#server/features/owner/own-sessions";
import * as login from "~/routes/login";
import * as register from "~/routes/register";
import { act, confirmAddress, logIn, logOut, openAccount } from "../support/account-calls";
import { callEndpoint } from "../support/endpoint-calls";
import { startLatchkey } from "../support/latchkey";
import { emailChangeLink } from "../support/mailed-links";
import { goodPassword, twice } from "../support/passwords";
import { call, get, type Outcome, type RequestOptions } from "../support/route-calls";
import { sha256 } from "../support/sha256";

const latchkey = startLatchkey();

const https = { facts: { origin: "https://latchkey.example" } };

async function expectGuest(cookie: string, options: RequestOptions = {}) {
  expect(await openAccount(cookie, options), cookie).toMatchObject({ status: 302, location: "/login" });
}

const onlySession = async () => (await latchkey.execute<Record<string, string>>("select * from sessions"))[0];

describe("a new session", () => {
  test("has a random token", { tags: ["7.2.1", "7.2.3"] }, async () => {
    await latchkey.createUser();
    const tokens = [(await logIn()).cookies.session, (await logIn()).cookies.session];
    for (const token of tokens) expect(token).toMatch(/^[0-9a-f]{64}$/);
    expect(new Set(tokens).size).toBe(2);
  });

  test("stores its token as SHA-256", { tags: ["7.2.1", "7.2.2", "7.2.3"] }, async () => {
    const id = await latchkey.createUser();
    const token = (await logIn()).cookies.session ?? "";
    const row = await onlySession();
    expect(row).toMatchObject({ token_hash: sha256(token), user_id: id, user_agent: null });
    expect(JSON.stringify(row)).not.toContain(token);
  });

  test("lasts 30 days at most", async () => {
    await latchkey.createUser();
    const earliest = Date.now();
    await logIn();
    const latest = Date.now();
    const row = await onlySession();
    const time = (column: string) => new Date(row?.[column] ?? 0).getTime();
    expect(time("created_at")).toBeGreaterThanOrEqual(earliest);
    expect(time("created_at")).toBeLessThanOrEqual(latest);
    expect(time("last_seen_at")).toBe(time("created_at"));
    expect(time("expires_at")).toBe(time("created_at") + 30 * 24 * 3_600_000);
  });

  describe.each([
    ["http", {}, "", ""],
    ["https", https, "__Host-", "; Secure"],
  ])("on %s", (_scheme, options, prefix, secure) => {
    let elsewhere: string;
    let done: Outcome;
    let cookie: string;

    beforeEach(async () => {
      elsewhere = await latchkey.signedIn();
      done = await logIn(options);
      cookie = `${prefix}session=${done.cookies[`${prefix}session`]}`;
    });

    test("has a host cookie", { tags: ["3.3.1", "3.3.2", "3.3.3", "3.3.4"] }, () => {
      expect(done.headers.getSetCookie()).toEqual([
        expect.stringMatching(
          new RegExp(`^${prefix}session=[0-9a-f]{64}; Expires=[^;]+ GMT; HttpOnly; Path=/; SameSite=Lax${secure}$`),
        ),
        `last_sign_in=password; HttpOnly; Max-Age=31536000; Path=/; SameSite=Lax${secure}`,
        expect.stringContaining(`${prefix}device=`),
      ]);
    });

    test("is ended by a logout", { tags: "7.4.1" }, async () => {
      expect(await logOut(cookie, "", options)).toMatchObject({ status: 302, location: "/login" });
      await expectGuest(cookie, options);
    });

    test("has its cookie cleared by a logout", async () => {
      expect((await logOut(cookie, "", options)).headers.getSetCookie()).toEqual([
        `${prefix}session=; Expires=Thu, 01 Jan 1970 00:00:00 GMT; HttpOnly; Path=/; SameSite=Lax${secure}`,
      ]);
    });

    test("is the only one that a logout ends", async () => {
      await logOut(cookie, "", options);
      expect((await openAccount(elsewhere)).status).toBe(200);
    });
  });

  describe.each([
    ["the same user", async (id: string) => latchkey.signedIn(id)],
    ["another user", async () => latchkey.signedIn({ email: "bob@example.com" })],
    ["nobody", async () => `session=${"ab".repeat(32)}`],
  ])("in a browser with a session of %s", (_whose, signIn) => {
    let elsewhere: string;
    let before: string;
    let after: string;

    beforeEach(async () => {
      const id = await latchkey.createUser();
      elsewhere = await latchkey.signedIn(id);
      before = await signIn(id);
      after = `session=${(await logIn({ cookie: before })).cookies.session}`;
    });

    test("has a new token", { tags: ["7.2.4", "CVE-2026-7507"] }, async () => {
      expect(after).not.toBe(before);
      expect((await openAccount(after)).status).toBe(200);
    });

    test("ends the previous one", { tags: ["7.2.4", "CVE-2026-7507"] }, async () => {
      await expectGuest(before);
    });

    test("keeps those of other browsers", async () => {
      expect((await openAccount(elsewhere)).status).toBe(200);
    });
  });

  test("is not started by a refused login", async () => {
    await latchkey.createUser();
    const refused = await logIn({ password: "wrong" });
    expect(refused.status).toBe(422);
    expect(await latchkey.execute("select * from sessions")).toEqual([]);
  });

  test("does not replace the browser's session after a refused login", async () => {
    const cookie = await latchkey.signedIn();
    const refused = await logIn({ password: "wrong", cookie });
    expect(refused.cookies).toEqual({});
    expect((await openAccount(cookie)).status).toBe(200);
  });

  test("truncates a long User-Agent", { tags: "1.3.3" }, async () => {
    await latchkey.createUser();
    await logIn({ headers: { "User-Agent": "x".repeat(8000) } });
    expect((await onlySession())?.user_agent).toBe("x".repeat(512));
  });
});

describe("the cookie's name", () => {
  test.each([
    ["session", {}, ["__Host-session", "Session", "SESSION", "%73ession", "session%20", "session[]", "x-session"]],
    ["__Host-session", https, ["session", "%5F%5FHost-session", "__host-session", "__Secure-session", "_Host-session"]],
  ])("is %s alone", async (name, options, others) => {
    const token = (await latchkey.signedIn()).split("=")[1];
    expect((await openAccount(`other=1; ${name}=${token}; last=%`, options)).status).toBe(200);
    for (const other of others) await expectGuest(`${other}=${token}`, options);
  });

  test("a malformed token counts as no session", { tags: ["1.2.4", "7.2.1"] }, async () => {
    const cookie = await latchkey.signedIn();
    const token = cookie.split("=")[1] ?? "";
    const values = ["", "%", "a=%", sha256(token), `${token}0`, token.slice(1), "'; drop table users"];
    for (const value of [...values, token.toUpperCase()]) await expectGuest(`session=${value}`);
    await expectGuest(";;;=;=%;%=%");
  });
});

describe("a session ends", () => {
  describe.each([
    ["14 days after its last use", "last_seen_at", "14 days"],
    ["30 days after the sign-in even with use", "expires_at", "30 days"],
  ])("%s", (_when, column, lifetime) => {
    let cookie: string;

    beforeEach(async () => {
      cookie = await latchkey.signedIn();
      await latchkey.execute(
        `update sessions set ${column} = ${column} - interval '${lifetime}' + interval '1 minute'`,
      );
    });

    test("not a minute before", { tags: ["7.3.1", "7.3.2"] }, async () => {
      expect((await openAccount(cookie)).status).toBe(200);
    });

    test("for its browser", { tags: ["7.3.1", "7.3.2", "7.4.1"] }, async () => {
      await openAccount(cookie);
      await latchkey.execute("update sessions set last_seen_at = least(last_seen_at, created_at)");
      await latchkey.execute(`update sessions set ${column} = ${column} - interval '${lifetime}'`);
      await expectGuest(cookie);
    });
  });

  describe("by its age", () => {
    let cookie: string;

    beforeEach(async () => {
      const id = await latchkey.createUser();
      await latchkey.signedIn(id);
      await latchkey.execute("update sessions set last_seen_at = now() - interval '14 days 1 millisecond'");
      await latchkey.signedIn(id);
      await latchkey.execute(
        "update sessions set expires_at = now() - interval '1 millisecond' where last_seen_at > now() - interval '1 day'",
      );
      cookie = await latchkey.signedIn(id);
    });

    test("so that it is not listed any more", async () => {
      expect((await openAccount(cookie)).data.sessions).toHaveLength(1);
    });

    test("so that it is not kept any more", async () => {
      for (let time = 0; time < 2; time++) await purgeExpired();
      expect(await latchkey.execute("select * from sessions")).toHaveLength(1);
    });

    test("so that the end is logged once", async () => {
      await openAccount(cookie);
      for (let time = 0; time < 2; time++) await purgeExpired();
      expect(latchkey.events()).toEqual([{ event: "session.ended", reason: "expired" }]);
    });
  });
});

describe("the time of the last use", () => {
  let id: string;
  let cookie: string;

  beforeEach(async () => {
    id = await latchkey.createUser();
    cookie = await latchkey.signedIn(id);
  });

  const lastUsed = (ago: string) => latchkey.execute(`update sessions set last_seen_at = now() - interval '${ago}'`);

  test("is not written again within an hour", async () => {
    await lastUsed("59 minutes");
    await latchkey.unchanged(() => openAccount(cookie));
  });

  test("is written after an hour", async () => {
    await lastUsed("61 minutes");
    const earliest = Date.now();
    await openAccount(cookie);
    expect(Date.parse((await onlySession())?.last_seen_at ?? "")).toBeGreaterThanOrEqual(earliest);
  });

  test("is written for this session alone", async () => {
    const other = await latchkey.signedIn(id);
    await lastUsed("2 days");
    await openAccount(other);
    const used = "select token_hash from sessions where last_seen_at > now() - interval '1 day'";
    expect(await latchkey.execute(used)).toEqual([{ token_hash: sha256(other.slice("session=".length)) }]);
  });

  test("does not extend the session past its 30 days", async () => {
    await lastUsed("61 minutes");
    const expires_at = (await onlySession())?.expires_at;
    await openAccount(cookie);
    expect(await latchkey.execute("select expires_at from sessions")).toEqual([{ expires_at }]);
  });
});

test("a page for guests is shown with the cookie of an ended session", async () => {
  const cookie = await latchkey.signedIn();
  await latchkey.execute("delete from sessions");
  for (const page of [login, register]) expect((await call(page.loader, get("/login", { cookie }))).status).toBe(200);
});

describe("an action that ends the other sessions", () => {
  const account = (intent: string, fields: Record<string, string> = {}) => ({
    intent,
    act: (cookie: string) => act(cookie, intent, fields),
  });
  const newPassword = { currentPassword: goodPassword, ...twice("an entirely new password") };

  describe.each([
    account("change-password", newPassword),
    account("end-other-sessions"),
    account("unlink-provider"),
    {
      intent: "a confirmed change of address",
      act: async (cookie: string) =>
        confirmAddress(await emailChangeLink(latchkey, cookie, "lovelace@example.com"), { cookie }),
    },
  ])("as $intent", ({ act }) => {
    let copied: string;
    let before: Record<string, string> | undefined;
    let done: Outcome;

    beforeEach(async () => {
      copied = await latchkey.signedIn(await latchkey.createUser({ idpId: "42" }));
      before = await onlySession();
      done = await act(copied);
      expect(done.status).toBe(302);
    });

    test("gives this one a new token", async () => {
      expect(done.cookies.session).toMatch(/^[0-9a-f]{64}$/);
      expect((await openAccount(`session=${done.cookies.session}`)).status).toBe(200);
    });

    test("gives this one a new id", async () => {
      const rows = await latchkey.execute<Record<string, string>>("select * from sessions");
      expect(rows).toEqual([
        { ...before, id: expect.anything(), key: before?.id, token_hash: sha256(done.cookies.session ?? "") },
      ]);
      expect(rows[0]?.id).not.toBe(before?.id);
    });

    test("keeps the end of this one in its new cookie", () => {
      expect(done.headers.getSetCookie()).toEqual([
        expect.stringContaining(`; Expires=${new Date(before?.expires_at ?? 0).toUTCString()};`),
      ]);
    });

    test("ends a copy of the old one", async () => {
      await expectGuest(copied);
    });
  });

  test("leaves nothing to an action that the copy began before", async () => {
    const userId = await latchkey.createUser();
    await latchkey.signedIn(userId);
    const copy = { user: { id: userId }, sessionId: (await onlySession())?.id ?? "", language: "en" } as const;
    expect((await endOtherSessions(copy))?.count).toBe(0);
    expect(await endOtherSessions(copy)).toBeNull();
  });
});

const day = 24 * 3_600_000; // ms

test.each([
  ["14 days after the last use", "29 days", 14],
  ["30 days after the sign-in", "2 days", 2],
])("expiresAt of /auth/session is the earlier of the two ends: %s", async (_what, left, days) => {
  const cookie = await latchkey.signedIn();
  await latchkey.execute(
    `update sessions set expires_at = now() + interval '${left}', last_seen_at = now() - interval '2 hours'`,
  );
  const earliest = Date.now();
  const answer = await callEndpoint("/auth/session", { cookie });
  const end = Date.parse(JSON.parse(String(answer?.body)).expiresAt);
  expect(end).toBeGreaterThanOrEqual(earliest + days * day - 1_000);
  expect(end).toBeLessThanOrEqual(Date.now() + days * day + 1_000);
});
