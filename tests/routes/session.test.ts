import { describe, expect, test } from "vitest";
import { purgeExpired } from "#server/features/purge.server";
import { endOtherSessions } from "#server/features/sessions.server";
import * as index from "~/routes/_index";
import * as confirmEmail from "~/routes/account.email";
import * as authSession from "~/routes/auth.session";
import * as dashboard from "~/routes/dashboard";
import * as login from "~/routes/login";
import * as logout from "~/routes/logout";
import * as register from "~/routes/register";
import { createUser, goodPassword, signedIn } from "../support/accounts";
import { startLatchkey } from "../support/latchkey";
import { recordLog } from "../support/logged";
import { emailChangeLink } from "../support/mailed-links";
import { call, get, post } from "../support/route-calls";
import { sha256 } from "../support/sha256";
import { twice } from "../support/twice";

const latchkey = startLatchkey();
const log = recordLog();

const https = { "latchkey-origin": "https://latchkey.example" };

const logIn = (cookie?: string, headers: Record<string, string> = {}) =>
  call(
    login.action,
    post("/login", { email: "ada@example.com", password: goodPassword }, { headers, ...(cookie && { cookie }) }),
  );

const open = (cookie: string, headers: Record<string, string> = {}) =>
  call(dashboard.loader, get("/dashboard", { cookie, headers }));

async function expectGuest(cookie: string, headers: Record<string, string> = {}) {
  expect(await open(cookie, headers), cookie).toMatchObject({ status: 302, location: "/login" });
}

const lastSeen = async () =>
  new Date(
    (await latchkey.execute<{ last_seen_at: string }>("select last_seen_at from sessions"))[0]?.last_seen_at ?? 0,
  ).getTime();

describe("a new session", () => {
  test("has a random token in the cookie, only its SHA-256 in the table, and expires in 30 days", {
    meta: { asvs: ["7.2.1", "7.2.2", "7.2.3"] },
  }, async () => {
    const id = await createUser(latchkey.em());
    const earliest = Date.now();
    const { cookies } = await logIn();
    const latest = Date.now();
    const token = cookies.session ?? "";
    expect(token).toMatch(/^[0-9a-f]{64}$/);
    const [row] = await latchkey.execute<Record<string, string>>("select * from sessions");
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
    "is on %s a cookie for this host alone, for every path, and no script",
    { meta: { asvs: ["3.3.1", "3.3.2", "3.3.3", "3.3.4"] } },
    async (_scheme, headers, prefix, secure) => {
      await createUser(latchkey.em());
      expect((await logIn(undefined, headers)).headers.getSetCookie()).toEqual([
        expect.stringMatching(
          new RegExp(`^${prefix}session=[0-9a-f]{64}; Expires=[^;]+ GMT; HttpOnly; Path=/; SameSite=Lax${secure}$`),
        ),
        expect.stringContaining(`${prefix}device=`),
      ]);
    },
  );

  test.each([
    ["a planted token (session fixation)", async () => `session=${"ab".repeat(32)}`],
    [
      "another user's session",
      async () => signedIn(latchkey.em(), await createUser(latchkey.em(), { email: "bob@example.com" })),
    ],
  ])("replaces %s", { meta: { asvs: ["7.2.4"] } }, async (_what, cookieOf) => {
    await createUser(latchkey.em());
    const before = await cookieOf();
    expect(`session=${(await logIn(before)).cookies.session}`).not.toBe(before);
    await expectGuest(before);
  });

  test("has a new token and ends the browser's previous session, and no other", {
    meta: { asvs: ["7.2.4"] },
  }, async () => {
    const id = await createUser(latchkey.em());
    const elsewhere = await signedIn(latchkey.em(), id);
    const before = await signedIn(latchkey.em(), id);
    const { cookies } = await logIn(before);
    expect(`session=${cookies.session}`).not.toBe(before);
    await expectGuest(before);
    expect((await open(elsewhere)).status).toBe(200);
    expect((await open(`session=${cookies.session}`)).status).toBe(200);
    expect(await latchkey.execute("select * from sessions")).toHaveLength(2);
  });

  test("is not started by a refused login, which keeps the browser's session", async () => {
    const cookie = await signedIn(latchkey.em(), await createUser(latchkey.em()));
    const refused = await call(
      login.action,
      post("/login", { email: "ada@example.com", password: "wrong" }, { cookie }),
    );
    expect(refused.status).toBe(422);
    expect(refused.cookies).toEqual({});
    expect((await open(cookie)).status).toBe(200);
  });

  test("truncates a long User-Agent", { meta: { asvs: ["1.3.3"] } }, async () => {
    await createUser(latchkey.em());
    await logIn(undefined, { "User-Agent": "x".repeat(8000) });
    const [row] = await latchkey.execute<{ user_agent: string }>("select user_agent from sessions");
    expect(row?.user_agent).toBe("x".repeat(512));
  });
});

describe("the cookie's name", () => {
  test.each([
    ["session", {}, ["__Host-session", "Session", "SESSION", "%73ession", "session%20", "session[]", "x-session"]],
    ["__Host-session", https, ["session", "%5F%5FHost-session", "__host-session", "__Secure-session", "_Host-session"]],
  ])("is %s, and no other is accepted", async (name, headers, others) => {
    const token = (await signedIn(latchkey.em(), await createUser(latchkey.em()))).split("=")[1];
    expect((await open(`other=1; ${name}=${token}; last=%`, headers)).status).toBe(200);
    for (const other of others) await expectGuest(`${other}=${token}`, headers);
  });

  test("a malformed token is treated as no session, without an error", {
    meta: { asvs: ["1.2.4", "7.2.1"] },
  }, async () => {
    const cookie = await signedIn(latchkey.em(), await createUser(latchkey.em()));
    const token = cookie.split("=")[1] ?? "";
    const values = [
      "",
      "%",
      "a=%",
      token.toUpperCase(),
      sha256(token),
      `${token}0`,
      token.slice(1),
      "'; drop table users",
    ];
    for (const value of values.filter((each) => each !== token)) await expectGuest(`session=${value}`);
    await expectGuest(";;;=;=%;%=%");
  });
});

describe("a session ends", () => {
  test.each([
    ["14 days after its last use", "last_seen_at", "14 days"],
    ["30 days after the sign-in, even with use", "expires_at", "30 days"],
  ])("%s, and not before", { meta: { asvs: ["7.3.1", "7.3.2", "7.4.1"] } }, async (_when, column, lifetime) => {
    const cookie = await signedIn(latchkey.em(), await createUser(latchkey.em()));
    await latchkey.execute(`update sessions set ${column} = ${column} - interval '${lifetime}' + interval '1 minute'`);
    expect((await open(cookie)).status).toBe(200);
    await latchkey.execute("update sessions set last_seen_at = least(last_seen_at, created_at)");
    await latchkey.execute(`update sessions set ${column} = ${column} - interval '${lifetime}'`);
    await expectGuest(cookie);
  });

  test("when its user is deleted", { meta: { asvs: ["7.4.2"] } }, async () => {
    const cookie = await signedIn(latchkey.em(), await createUser(latchkey.em()));
    await latchkey.execute("delete from users");
    expect(await latchkey.execute("select * from sessions")).toEqual([]);
    await expectGuest(cookie);
  });

  test("and is then neither listed nor kept", async () => {
    const id = await createUser(latchkey.em());
    await signedIn(latchkey.em(), id);
    await latchkey.execute("update sessions set last_seen_at = now() - interval '14 days 1 millisecond'");
    await signedIn(latchkey.em(), id);
    await latchkey.execute(
      "update sessions set expires_at = now() - interval '1 millisecond' where last_seen_at > now() - interval '1 day'",
    );
    const cookie = await signedIn(latchkey.em(), id);
    expect((await open(cookie)).data.sessions).toHaveLength(1);
    for (let time = 0; time < 2; time++) await purgeExpired();
    expect(await latchkey.execute("select * from sessions")).toHaveLength(1);
    expect(log.events()).toEqual([{ event: "session.ended", reason: "expired" }]);
  });
});

describe("the time of the last use", () => {
  test("is written once an hour, for this session only, and does not extend it past the 30 days", async () => {
    const id = await createUser(latchkey.em());
    const cookie = await signedIn(latchkey.em(), id);
    await latchkey.execute("update sessions set last_seen_at = now() - interval '59 minutes'");
    const before = await latchkey.snapshot();
    await open(cookie);
    expect(await latchkey.snapshot()).toEqual(before);
    await latchkey.execute("update sessions set last_seen_at = now() - interval '61 minutes'");
    const [{ expires_at } = { expires_at: "" }] = await latchkey.execute<{ expires_at: string }>(
      "select expires_at from sessions",
    );
    const earliest = Date.now();
    await open(cookie);
    expect(await lastSeen()).toBeGreaterThanOrEqual(earliest);
    const other = await signedIn(latchkey.em(), id);
    await latchkey.execute("update sessions set last_seen_at = now() - interval '2 days'");
    await open(other);
    const used = "select * from sessions where last_seen_at > now() - interval '1 day'";
    expect(await latchkey.execute(used)).toHaveLength(1);
    await latchkey.execute("delete from sessions where token_hash = ?", [sha256(other.slice("session=".length))]);
    expect(await latchkey.execute("select expires_at from sessions")).toEqual([{ expires_at }]);
  });
});

describe("logging out", () => {
  test.each([
    ["http", {}, "", ""],
    ["https", https, "__Host-", "; Secure"],
  ])(
    "on %s ends the session in the database, clears the cookie and redirects to the login page",
    { meta: { asvs: ["7.4.1"] } },
    async (_scheme, headers, prefix, secure) => {
      const id = await createUser(latchkey.em());
      const elsewhere = await signedIn(latchkey.em(), id);
      const cookie = await signedIn(latchkey.em(), id);
      const out = await call(logout.action, post("/logout", {}, { cookie: `${prefix}${cookie}`, headers }));
      expect(out).toMatchObject({ status: 302, location: "/login" });
      expect(out.headers.getSetCookie()).toEqual([
        `${prefix}session=; Expires=Thu, 01 Jan 1970 00:00:00 GMT; HttpOnly; Path=/; SameSite=Lax${secure}`,
      ]);
      await expectGuest(cookie);
      expect((await open(elsewhere)).status).toBe(200);
    },
  );

  test("without a session is the same redirect", async () => {
    for (const cookie of ["", "session=", `session=${"ab".repeat(32)}`]) {
      expect(await call(logout.action, post("/logout", {}, { cookie }))).toMatchObject({
        status: 302,
        location: "/login",
      });
    }
  });

  test("by GET is answered 405 and ends no session", { meta: { asvs: ["3.5.3"] } }, async () => {
    const cookie = await signedIn(latchkey.em(), await createUser(latchkey.em()));
    const refused = await call(logout.loader, get("/logout", { cookie }));
    expect(refused.status).toBe(405);
    expect(refused.cookies).toEqual({});
    expect(refused.headers.get("Allow")).toBe("POST");
    expect((await open(cookie)).status).toBe(200);
  });
});

test("/ redirects guests to the login page and signed-in users to the dashboard", async () => {
  const cookie = await signedIn(latchkey.em(), await createUser(latchkey.em()));
  expect(await call(index.loader, get("/"))).toMatchObject({ status: 302, location: "/login" });
  expect(await call(index.loader, get("/", { cookie }))).toMatchObject({ status: 302, location: "/dashboard" });
});

test("a page for guests is shown with the cookie of an ended session", async () => {
  const cookie = await signedIn(latchkey.em(), await createUser(latchkey.em()));
  await latchkey.execute("delete from sessions");
  for (const page of [login, register]) expect((await call(page.loader, get("/login", { cookie }))).status).toBe(200);
});

describe("an action that ends the other sessions", () => {
  const email = "ada@example.com";
  const account = (intent: string, fields: Record<string, string> = {}) => ({
    intent,
    act: (cookie: string) => call(dashboard.action, post("/dashboard", { intent, ...fields }, { cookie })),
  });
  const newPassword = { currentPassword: goodPassword, ...twice("an entirely new password") };

  test.each([
    account("change-password", newPassword),
    account("end-other-sessions"),
    account("unlink-provider"),
    {
      intent: "a confirmed change of address",
      act: async (cookie: string) => {
        const link = await emailChangeLink(latchkey, cookie, "lovelace@example.com");
        return call(confirmEmail.action, post("/account/email", link, { cookie }));
      },
    },
  ])("gives this one a new id, token and cookie, and a copy of the old one is dead: $intent", async ({ act }) => {
    const id = await createUser(latchkey.em(), { idpId: "42" });
    const copied = await signedIn(latchkey.em(), id);
    const [before] = await latchkey.execute<Record<string, string>>("select * from sessions");
    const { status, cookies, headers } = await act(copied);
    expect(status).toBe(302);
    expect(cookies.session).toMatch(/^[0-9a-f]{64}$/);
    await expectGuest(copied);
    expect((await open(`session=${cookies.session}`)).status).toBe(200);
    const rows = await latchkey.execute<Record<string, string>>("select * from sessions");
    expect(rows).toEqual([{ ...before, id: expect.anything(), token_hash: sha256(cookies.session ?? "") }]);
    expect(rows[0]?.id).not.toBe(before?.id);
    expect(headers.getSetCookie()).toEqual([
      expect.stringContaining(`; Expires=${new Date(before?.expires_at ?? 0).toUTCString()};`),
    ]);
  });

  test("ends what a copy of the session has asked for, also what waits in the queue", async () => {
    const cookie = await signedIn(latchkey.em(), await createUser(latchkey.em()));
    await call(dashboard.action, post("/dashboard", { intent: "change-email", email: "eve@example.com" }, { cookie }));
    await call(dashboard.action, post("/dashboard", { intent: "end-other-sessions" }, { cookie }));
    await latchkey.drain();
    expect(latchkey.mails().map(({ to }) => to)).toEqual([email]);
    expect(await latchkey.execute("select * from email_changes")).toEqual([]);
  });

  test("leaves nothing to an action that the copy began before", async () => {
    const id = await createUser(latchkey.em());
    await signedIn(latchkey.em(), id);
    const [session] = await latchkey.execute<{ id: string }>("select id from sessions");
    const copy = { userId: id, sessionId: session?.id ?? "", language: "en" } as const;
    expect((await endOtherSessions(copy))?.count).toBe(0);
    expect(await endOtherSessions(copy)).toBeNull();
  });
});

describe("expiresAt of /auth/session", () => {
  const day = 24 * 3_600_000; // ms

  test.each([
    ["14 days after the last use", "29 days", 14],
    ["30 days after the sign-in", "2 days", 2],
  ])("is %s, whichever is earlier", async (_what, left, days) => {
    const cookie = await signedIn(latchkey.em(), await createUser(latchkey.em()));
    await latchkey.execute(
      `update sessions set expires_at = now() + interval '${left}', last_seen_at = now() - interval '2 hours'`,
    );
    const earliest = Date.now();
    const { data } = await call(authSession.loader, get("/auth/session", { cookie }));
    const end = Date.parse(JSON.parse(data).expiresAt);
    expect(end).toBeGreaterThanOrEqual(earliest + days * day - 1_000);
    expect(end).toBeLessThanOrEqual(Date.now() + days * day + 1_000);
  });
});
