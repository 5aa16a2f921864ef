import { describe, expect, test } from "vitest";
import { purgeExpired } from "#server/features/operator/purge";
import { endOtherSessions } from "#server/features/owner/own-sessions";
import * as authSession from "~/routes/auth.session";
import * as login from "~/routes/login";
import * as register from "~/routes/register";
import { act, confirmAddress, logIn, logOut, openAccount } from "../support/account-calls";
import { startLatchkey } from "../support/latchkey";
import { emailChangeLink } from "../support/mailed-links";
import { goodPassword, twice } from "../support/passwords";
import { call, get, type RequestOptions } from "../support/route-calls";
import { sha256 } from "../support/sha256";

const latchkey = startLatchkey();

const https = { facts: { origin: "https://latchkey.example" } };

async function expectGuest(cookie: string, options: RequestOptions = {}) {
  expect(await openAccount(cookie, options), cookie).toMatchObject({ status: 302, location: "/login" });
}

const onlySession = async () => (await latchkey.execute<Record<string, string>>("select * from sessions"))[0];

describe("a new session", () => {
  test("has a random token, stored as SHA-256, for 30 days", { tags: ["7.2.1", "7.2.2", "7.2.3"] }, async () => {
    const id = await latchkey.createUser();
    const earliest = Date.now();
    const { cookies } = await logIn();
    const latest = Date.now();
    const token = cookies.session ?? "";
    expect(token).toMatch(/^[0-9a-f]{64}$/);
    const row = await onlySession();
    expect(row).toMatchObject({ token_hash: sha256(token), user_id: id, user_agent: null });
    expect(JSON.stringify(row)).not.toContain(token);
    const time = (column: string) => new Date(row?.[column] ?? 0).getTime();
    expect(time("created_at")).toBeGreaterThanOrEqual(earliest);
    expect(time("created_at")).toBeLessThanOrEqual(latest);
    expect(time("last_seen_at")).toBe(time("created_at"));
    expect(time("expires_at")).toBe(time("created_at") + 30 * 24 * 3_600_000);
  });

  test.each([
    ["http", {}, "", ""],
    ["https", https, "__Host-", "; Secure"],
  ])(
    "is on %s a host cookie, which a logout clears with its session",
    { tags: ["3.3.1", "3.3.2", "3.3.3", "3.3.4", "7.4.1"] },
    async (_what, options, prefix, secure) => {
      const elsewhere = await latchkey.signedIn();
      const done = await logIn(options);
      expect(done.headers.getSetCookie()).toEqual([
        expect.stringMatching(
          new RegExp(`^${prefix}session=[0-9a-f]{64}; Expires=[^;]+ GMT; HttpOnly; Path=/; SameSite=Lax${secure}$`),
        ),
        `last_sign_in=password; HttpOnly; Max-Age=31536000; Path=/; SameSite=Lax${secure}`,
        expect.stringContaining(`${prefix}device=`),
      ]);
      const cookie = `${prefix}session=${done.cookies[`${prefix}session`]}`;
      const out = await logOut(cookie, "", options);
      expect(out).toMatchObject({ status: 302, location: "/login" });
      expect(out.headers.getSetCookie()).toEqual([
        `${prefix}session=; Expires=Thu, 01 Jan 1970 00:00:00 GMT; HttpOnly; Path=/; SameSite=Lax${secure}`,
      ]);
      await expectGuest(cookie, options);
      expect((await openAccount(elsewhere)).status).toBe(200);
    },
  );

  test("has a new token and ends the browser's previous session, whosever it is, and no other", {
    tags: ["7.2.4", "CVE-2026-7507"],
  }, async () => {
    const id = await latchkey.createUser();
    const elsewhere = await latchkey.signedIn(id);
    const bobs = await latchkey.signedIn({ email: "bob@example.com" });
    for (const before of [`session=${"ab".repeat(32)}`, bobs, await latchkey.signedIn(id)]) {
      const after = `session=${(await logIn({ cookie: before })).cookies.session}`;
      expect(after).not.toBe(before);
      await expectGuest(before);
      for (const cookie of [elsewhere, after]) expect((await openAccount(cookie)).status).toBe(200);
    }
  });

  test("is not started by a refused login, which keeps the browser's session", async () => {
    const cookie = await latchkey.signedIn();
    const refused = await logIn({ password: "wrong", cookie });
    expect(refused.status).toBe(422);
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
  ])("is %s, and no other is accepted", async (name, options, others) => {
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
  test.each([
    ["14 days after its last use", "last_seen_at", "14 days"],
    ["30 days after the sign-in, even with use", "expires_at", "30 days"],
  ])("%s, and not before", { tags: ["7.3.1", "7.3.2", "7.4.1"] }, async (_when, column, lifetime) => {
    const cookie = await latchkey.signedIn();
    await latchkey.execute(`update sessions set ${column} = ${column} - interval '${lifetime}' + interval '1 minute'`);
    expect((await openAccount(cookie)).status).toBe(200);
    await latchkey.execute("update sessions set last_seen_at = least(last_seen_at, created_at)");
    await latchkey.execute(`update sessions set ${column} = ${column} - interval '${lifetime}'`);
    await expectGuest(cookie);
  });

  test("and is then neither listed nor kept", async () => {
    const id = await latchkey.createUser();
    await latchkey.signedIn(id);
    await latchkey.execute("update sessions set last_seen_at = now() - interval '14 days 1 millisecond'");
    await latchkey.signedIn(id);
    await latchkey.execute(
      "update sessions set expires_at = now() - interval '1 millisecond' where last_seen_at > now() - interval '1 day'",
    );
    const cookie = await latchkey.signedIn(id);
    expect((await openAccount(cookie)).data.sessions).toHaveLength(1);
    for (let time = 0; time < 2; time++) await purgeExpired();
    expect(await latchkey.execute("select * from sessions")).toHaveLength(1);
    expect(latchkey.events()).toEqual([{ event: "session.ended", reason: "expired" }]);
  });
});

test("the time of the last use: is written once an hour, for this session only, and does not extend it past the 30 days", async () => {
  const id = await latchkey.createUser();
  const cookie = await latchkey.signedIn(id);
  await latchkey.execute("update sessions set last_seen_at = now() - interval '59 minutes'");
  await latchkey.unchanged(() => openAccount(cookie));
  await latchkey.execute("update sessions set last_seen_at = now() - interval '61 minutes'");
  const expires_at = (await onlySession())?.expires_at;
  const earliest = Date.now();
  await openAccount(cookie);
  expect(Date.parse((await onlySession())?.last_seen_at ?? "")).toBeGreaterThanOrEqual(earliest);
  const other = await latchkey.signedIn(id);
  await latchkey.execute("update sessions set last_seen_at = now() - interval '2 days'");
  await openAccount(other);
  const used = "select * from sessions where last_seen_at > now() - interval '1 day'";
  expect(await latchkey.execute(used)).toHaveLength(1);
  await latchkey.execute("delete from sessions where token_hash = ?", [sha256(other.slice("session=".length))]);
  expect(await latchkey.execute("select expires_at from sessions")).toEqual([{ expires_at }]);
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

  test.each([
    account("change-password", newPassword),
    account("end-other-sessions"),
    account("unlink-provider"),
    {
      intent: "a confirmed change of address",
      act: async (cookie: string) =>
        confirmAddress(await emailChangeLink(latchkey, cookie, "lovelace@example.com"), { cookie }),
    },
  ])("gives this one a new id, token and cookie, and a copy of the old one is dead: $intent", async ({ act }) => {
    const id = await latchkey.createUser({ idpId: "42" });
    const copied = await latchkey.signedIn(id);
    const before = await onlySession();
    const { status, cookies, headers } = await act(copied);
    expect(status).toBe(302);
    expect(cookies.session).toMatch(/^[0-9a-f]{64}$/);
    await expectGuest(copied);
    expect((await openAccount(`session=${cookies.session}`)).status).toBe(200);
    const rows = await latchkey.execute<Record<string, string>>("select * from sessions");
    expect(rows).toEqual([
      { ...before, id: expect.anything(), key: before?.id, token_hash: sha256(cookies.session ?? "") },
    ]);
    expect(rows[0]?.id).not.toBe(before?.id);
    expect(headers.getSetCookie()).toEqual([
      expect.stringContaining(`; Expires=${new Date(before?.expires_at ?? 0).toUTCString()};`),
    ]);
  });

  test("leaves nothing to an action that the copy began before", async () => {
    const userId = await latchkey.createUser();
    await latchkey.signedIn(userId);
    const copy = { userId, sessionId: (await onlySession())?.id ?? "", language: "en" } as const;
    expect((await endOtherSessions(copy))?.count).toBe(0);
    expect(await endOtherSessions(copy)).toBeNull();
  });
});

const day = 24 * 3_600_000; // ms

test.each([
  ["14 days after the last use", "29 days", 14],
  ["30 days after the sign-in", "2 days", 2],
])("expiresAt of /auth/session: is %s, whichever is earlier", async (_what, left, days) => {
  const cookie = await latchkey.signedIn();
  await latchkey.execute(
    `update sessions set expires_at = now() + interval '${left}', last_seen_at = now() - interval '2 hours'`,
  );
  const earliest = Date.now();
  const { data } = await call(authSession.loader, get("/auth/session", { cookie }));
  const end = Date.parse(JSON.parse(data).expiresAt);
  expect(end).toBeGreaterThanOrEqual(earliest + days * day - 1_000);
  expect(end).toBeLessThanOrEqual(Date.now() + days * day + 1_000);
});
