import { beforeEach, describe, expect, test } from "vitest";
import { purgeExpired } from "#server/features/operator/purge";
import { eventsOf } from "#server/features/owner/activity";
import { en } from "#server/languages/en";
import { languages } from "#server/languages/languages";
import * as activity from "~/routes/account.activity";
import * as data from "~/routes/account.data";
import {
  act,
  askForReset,
  confirmAddress,
  logIn,
  openAccount,
  registerWith,
  resetWith,
} from "../support/account-calls";
import { Authenticator } from "../support/authenticator";
import { comeBack, google, googleAnswers, signInWithGoogle } from "../support/google-sign-in";
import { startLatchkey } from "../support/latchkey";
import { emailChangeLink, registrationLink, resetLink } from "../support/mailed-links";
import { addPasskey, signInBy } from "../support/passkeys";
import { goodPassword, newPassword, twice } from "../support/passwords";
import { call, get, type Outcome, post } from "../support/route-calls";

const latchkey = startLatchkey(google);
const email = "ada@example.com";
const firefox = "Mozilla/5.0 (X11; Linux x86_64; rv:132.0) Gecko/20100101 Firefox/132.0";
const inFirefox = { headers: { "User-Agent": firefox } };
const owner = { actor: "owner", browser: "Firefox", system: "Linux" };

let userId: string;

beforeEach(async () => {
  userId = await latchkey.createUser();
});

const cookieOf = ({ cookies }: Outcome) => `session=${cookies.session}`;

interface Row {
  type: string;
  actor: string | null;
  way: string | null;
  browser: string | null;
  system: string | null;
  session_key: string | null;
  detail: string | null;
}

const history = (of = userId) =>
  latchkey.execute<Row>("select * from account_events where user_id = ? order by at, id", [of]);

const clear = () => latchkey.execute("delete from account_events");

const changes = async () => (await history()).filter(({ actor }) => actor !== null);

async function signInInFirefox() {
  const cookie = cookieOf(await logIn(inFirefox));
  await clear();
  return cookie;
}

describe("the history tells", () => {
  test("a sign-in with a password", async () => {
    await logIn(inFirefox);
    const [session] = await latchkey.execute<{ id: string }>("select id from sessions");
    const told = { ...owner, type: "session.started", way: "password", session_key: session?.id, detail: null };
    expect(await history()).toMatchObject([told]);
  });

  test("a sign-in at the provider", async () => {
    await latchkey.execute("update users set idp_id = '1', idp_issuer = 'google'");
    await signInWithGoogle(google);
    expect(await history()).toMatchObject([{ type: "session.started", way: "provider", actor: "owner" }]);
  });

  test("a first sign-in at the provider as the creation of the account", async () => {
    await signInWithGoogle({ sub: "1", email: "new@example.com", email_verified: true });
    const [user] = await latchkey.execute<{ id: string }>("select id from users where email = 'new@example.com'");
    expect(await history(user?.id)).toMatchObject([{ type: "registration.completed", actor: "owner" }]);
  });

  test("a sign-in with a passkey", async () => {
    const authenticator = new Authenticator();
    await addPasskey(authenticator, await latchkey.signedIn(userId));
    await clear();
    await signInBy(authenticator, {}, inFirefox);
    expect(await history()).toMatchObject([{ ...owner, type: "session.started", way: "passkey" }]);
  });

  test("a registration as the creation of the account, by this session", async () => {
    await registerWith(await registrationLink(latchkey), goodPassword);
    const [session] = await latchkey.execute<{ id: string; user_id: string }>("select id, user_id from sessions");
    const told = { type: "registration.completed", actor: "owner", way: null, session_key: session?.id };
    expect(await history(session?.user_id)).toMatchObject([told]);
  });

  test("a reset", async () => {
    await resetWith(await resetLink(latchkey), newPassword, inFirefox);
    expect(await changes()).toMatchObject([{ ...owner, type: "password_reset.completed", detail: null }]);
  });

  const google = { sub: "1", email: "other@example.com", email_verified: true };
  const operator = { actor: "operator", browser: null, system: null, session_key: null };

  const byOwner: [string, (cookie: string) => Promise<unknown>, object][] = [
    [
      "a changed password",
      (cookie) => act(cookie, "change-password", { currentPassword: goodPassword, ...twice(newPassword) }, inFirefox),
      { type: "password.changed" },
    ],
    [
      "an asked change of address",
      (cookie) => act(cookie, "change-email", { email: "b@example.com" }, inFirefox),
      { type: "email_change.requested" },
    ],
    [
      "an ended session",
      async (cookie) => {
        await latchkey.signedIn(userId);
        const { data } = await openAccount(cookie);
        await clear();
        await act(cookie, "end-session", { sessionId: data.sessions.at(-1).id }, inFirefox);
      },
      { type: "session.ended", detail: "ended_by_user" },
    ],
    [
      "ended other sessions",
      async (cookie) => {
        await latchkey.signedIn(userId);
        await clear();
        await act(cookie, "end-other-sessions", {}, inFirefox);
      },
      { type: "session.ended", detail: "ended_by_user" },
    ],
  ];

  test.each(byOwner)("%s", async (_what, change, told) => {
    const cookie = await signInInFirefox();
    const [session] = await latchkey.execute<{ id: string }>("select id from sessions");
    await change(cookie);
    expect(await changes()).toMatchObject([{ ...owner, way: null, session_key: session?.id, ...told }]);
  });

  test("a changed address", async () => {
    const link = await emailChangeLink(latchkey, await signInInFirefox(), "b@example.com");
    await clear();
    await confirmAddress(link, inFirefox);
    expect(await changes()).toMatchObject([{ ...owner, type: "email_change.completed" }]);
  });

  test("a link by the provider's verified address", async () => {
    await signInWithGoogle({ sub: "1", email, email_verified: true });
    expect((await changes()).map(({ type }) => type).sort()).toEqual(["idp.linked", "session.started"]);
  });

  test("the browser of a link by the provider's verified address", async () => {
    googleAnswers({ sub: "1", email, email_verified: true });
    await comeBack(undefined, undefined, inFirefox);
    expect(await changes()).toContainEqual(expect.objectContaining({ ...owner, type: "idp.linked" }));
  });

  test("an added passkey", async () => {
    await addPasskey(new Authenticator(), await signInInFirefox());
    expect((await changes()).map(({ type }) => type)).toEqual(["passkey.added"]);
  });

  test("a removed passkey", async () => {
    const cookie = await signInInFirefox();
    await addPasskey(new Authenticator(), cookie);
    await clear();
    const [passkey] = await latchkey.execute<{ credential_id: string }>("select * from passkeys");
    await act(cookie, "remove-passkey", { passkey: passkey?.credential_id ?? "" });
    expect((await changes()).map(({ type }) => type)).toEqual(["passkey.removed"]);
  });

  test("a passkey that was refused for its counter", async () => {
    const authenticator = new Authenticator();
    await addPasskey(authenticator, await signInInFirefox());
    await signInBy(authenticator, { counter: 5 });
    await clear();
    await signInBy(authenticator, { counter: 3 }, inFirefox);
    const refused = { type: "passkey.failed", way: "passkey", detail: "counter", session_key: null };
    expect(await history()).toMatchObject([{ ...owner, ...refused }]);
  });

  const commands: [string[], object][] = [
    [["user", "reset-link", email], { type: "password_reset.requested" }],
    [["user", "suspend", email], { type: "user.suspended" }],
    [["user", "groups", email, "--add", "staff"], { type: "user.groups_changed" }],
    [["user", "clear-limits", email], { type: "limits.cleared" }],
    [["user", "end-sessions", email], { type: "session.ended", detail: "ended_by_operator" }],
    [["user", "end-all-sessions", "--yes"], { type: "session.ended", detail: "ended_by_operator" }],
  ];

  test.each(commands)("the command %j", async (words, told) => {
    await signInInFirefox();
    expect(await latchkey.command(...words)).toMatchObject({ status: 0 });
    expect(await changes()).toMatchObject([{ ...operator, ...told }]);
  });

  test.each([
    ["restore", "user.restored"],
    ["unlink", "idp.unlinked"],
  ])("the command `user %s`", async (command, type) => {
    await latchkey.execute("update users set idp_id = '1', idp_issuer = 'google', suspended_at = now()");
    await latchkey.command("user", command, email);
    expect(await changes()).toMatchObject([{ ...operator, type }]);
  });

  test("the command `user create`", async () => {
    await latchkey.command("user", "create", "grace@example.com");
    const [user] = await latchkey.execute<{ id: string }>("select id from users where email = 'grace@example.com'");
    expect(await history(user?.id)).toMatchObject([
      { ...operator, type: "registration.completed" },
      { ...operator, type: "password_reset.requested" },
    ]);
  });

  test("a refused sign-in at the provider to the account with the linked id", async () => {
    await latchkey.execute("update users set idp_id = '1', idp_issuer = 'google', suspended_at = now()");
    await signInWithGoogle({ ...google, email_verified: false });
    const refused = { type: "idp.failed", way: "provider", actor: "owner", detail: "suspended", session_key: null };
    expect(await history()).toMatchObject([refused]);
  });

  test("a refused sign-in at the provider to the account with the verified address", async () => {
    await latchkey.execute("update users set idp_blocked_at = now()");
    await signInWithGoogle({ ...google, email });
    expect(await history()).toMatchObject([{ type: "idp.failed", detail: "disconnected" }]);
  });

  test("no refused sign-in whose address the provider has not verified", async () => {
    await signInWithGoogle({ ...google, email, email_verified: false });
    expect(await history()).toEqual([]);
  });

  test("no wrong password", async () => {
    await logIn({ password: "wrong", ...inFirefox });
    expect(await history()).toEqual([]);
  });

  test("the kind of a mail", async () => {
    await askForReset(email);
    await latchkey.drain();
    expect(await history()).toMatchObject([
      { type: "mail.sent", actor: null, way: null, browser: null, session_key: null, detail: "password_reset" },
    ]);
  });

  test("no mail that was not sent", async () => {
    await latchkey.command("user", "suspend", email);
    await clear();
    await askForReset(email);
    await latchkey.drain();
    expect(await history()).toEqual([]);
  });
});

describe("the history holds", () => {
  beforeEach(async () => {
    const client = { facts: { client: "192.0.2.9" }, ...inFirefox };
    await registerWith(await registrationLink(latchkey), goodPassword, client);
    await resetWith(await resetLink(latchkey), newPassword, client);
    const cookie = cookieOf(await logIn({ password: newPassword, ...client }));
    await confirmAddress(await emailChangeLink(latchkey, cookie, "b@example.com"), client);
    await latchkey.command("user", "reset-link", "b@example.com");
    await latchkey.drain();
  });

  test.each([
    ["address", /@/],
    ["token", /[0-9a-f]{64}/],
    ["address of a client", /192\.0\.2\.9/],
  ])("no %s", async (_what, pattern) => {
    const rows = await latchkey.execute("select * from account_events");
    expect(rows.length).toBeGreaterThan(8);
    expect(JSON.stringify(rows)).not.toMatch(pattern);
  });
});

describe("what is kept", () => {
  const insert = (type: string, columns: string, count: number) =>
    latchkey.execute(
      `insert into account_events (user_id, at, type, actor, way)
       select ?, now() - interval '1 day' - n * interval '1 s', ?, ${columns} from generate_series(1, ${count}) n`,
      [userId, type],
    );
  const kept = async () =>
    Object.fromEntries(
      (
        await latchkey.execute<{ type: string; count: number }>(
          "select type, count(*)::int from account_events group by 1",
        )
      ).map(({ type, count }) => [type, count]),
    );

  test("two hundred sign-ins push out no change", async () => {
    await insert("password.changed", "'owner', null", 100);
    await insert("session.started", "'owner', 'password'", 200);
    await logIn();
    expect(await kept()).toEqual({ "password.changed": 100, "session.started": 50 });
  });

  test("the hundred latest changes stay", async () => {
    await insert("password.changed", "'owner', null", 100);
    await latchkey.command("user", "suspend", email);
    expect(await kept()).toEqual({ "password.changed": 99, "user.suspended": 1 });
  });

  test("a hundred ended sessions push out no change", async () => {
    await insert("passkey.added", "'owner', null", 1);
    await latchkey.execute("update account_events set at = now() - interval '2 days'");
    await insert("session.ended", "'owner', null", 100);
    const cookie = await latchkey.signedIn(userId);
    await latchkey.signedIn(userId);
    await act(cookie, "end-other-sessions");
    expect(await kept()).toMatchObject({ "passkey.added": 1 });
  });

  test("a hundred changes of the name push out no other change", async () => {
    await insert("passkey.added", "'owner', null", 1);
    await latchkey.execute("update account_events set at = now() - interval '2 days'");
    await insert("name.changed", "'owner', null", 100);
    await act(await latchkey.signedIn(userId), "change-name", { name: "Ada" });
    expect(await kept()).toMatchObject({ "passkey.added": 1 });
  });

  test("the fifty latest mails stay", async () => {
    await insert("mail.bounced", "null, null", 50);
    await askForReset(email);
    await latchkey.drain();
    expect(await kept()).toEqual({ "mail.bounced": 49, "mail.sent": 1 });
  });

  test("nothing is kept after 180 days", async () => {
    await insert("password.changed", "'owner', null", 1);
    await insert("password.changed", "'owner', null", 1);
    await latchkey.execute(
      "update account_events set at = now() - interval '180 days' where ctid = (select min(ctid) from account_events)",
    );
    await purgeExpired();
    expect(await kept()).toEqual({ "password.changed": 1 });
  });

  test("nothing is left of a deleted account", async () => {
    const cookie = await signInInFirefox();
    await act(cookie, "delete-account", { email });
    await latchkey.drain();
    expect(await kept()).toEqual({});
  });
});

test("a deletion leaves no job with the address but the mail that tells of it", async () => {
  const cookie = await signInInFirefox();
  await askForReset(email);
  await act(cookie, "change-email", { email: "b@example.com" });
  await askForReset("other@example.com");
  await latchkey.execute("update pgboss.job set state = 'failed' where data ->> 'task' = 'mail_password_reset'");
  await act(cookie, "delete-account", { email });
  const jobs = "select data ->> 'task' as task from pgboss.job where data ->> 'email' is not null order by 1";
  expect(await latchkey.execute(jobs)).toEqual([{ task: "mail_account_deleted" }, { task: "mail_password_reset" }]);
});

const open = (cookie: string, search = "", headers = {}) =>
  call(activity.loader, get(`/account/activity${search}`, { cookie, headers }));

describe("/account/activity", () => {
  test("tells of sent mails only if its owner asks for them", async () => {
    const cookie = cookieOf(await logIn());
    await latchkey.execute(
      "insert into account_events (user_id, at, type, detail) values (?, now(), 'mail.sent', 'password_reset')",
      [userId],
    );
    const whats = async (search: string) =>
      (await open(cookie, search)).data.events.map(({ what }: { what: string }) => what);
    expect(await whats("")).toEqual(["Signed in with the password"]);
    expect(await whats("?mails")).toContain("Mail sent: Reset your password");
  });

  test("sends a visitor to a login that leads back", async () => {
    expect(await open("")).toMatchObject({ status: 302, location: "/login?return_to=%2Faccount%2Factivity" });
  });

  test("marks the events of this session alone", async () => {
    await logIn(inFirefox);
    const cookie = cookieOf(await logIn(inFirefox));
    const { data } = await open(cookie);
    const words = { what: "Signed in with the password", by: "Firefox on Linux" };
    expect(data.events).toMatchObject([
      { ...words, current: true },
      { ...words, current: false },
    ]);
  });

  test("has the latest event first", async () => {
    const cookie = cookieOf(await logIn(inFirefox));
    await latchkey.command("user", "groups", email, "--add", "staff");
    const { data } = await open(cookie);
    expect(data.events.map(({ current }: { current: boolean }) => current)).toEqual([false, true]);
  });

  test("still marks them when the session has got a new token", async () => {
    const cookie = cookieOf(await logIn(inFirefox));
    await latchkey.signedIn(userId);
    const renewed = cookieOf(await act(cookie, "end-other-sessions", {}, inFirefox));
    const { data } = await open(renewed);
    expect(data.events.filter(({ current }: { current: boolean }) => current)).toMatchObject([
      { what: "Sessions were ended" },
      { what: "Signed in with the password" },
    ]);
  });

  describe("of a hundred events", () => {
    let first: Outcome;
    let second: Outcome;

    beforeEach(async () => {
      await latchkey.execute(
        `insert into account_events (user_id, at, type, actor) select ?, now(), 'password.changed', 'owner' from generate_series(1, 99) n`,
        [userId],
      );
      const cookie = cookieOf(await logIn());
      first = await open(cookie);
      second = await open(cookie, "?page=2");
    });

    test("has fifty on a page", () => {
      expect([first.data.events.length, second.data.events.length]).toEqual([50, 50]);
    });

    test("links each page to the next", () => {
      expect([first.data.newer, first.data.older]).toEqual([null, 2]);
      expect([second.data.newer, second.data.older]).toEqual([1, null]);
    });

    test("has each event once", () => {
      const ids = [...first.data.events, ...second.data.events].map(({ id }: { id: string }) => id);
      expect(new Set(ids).size).toBe(100);
    });
  });

  test("says of a reset by a passkey that the passkey replaced the password", async () => {
    await latchkey.execute(
      "insert into account_events (user_id, at, type, actor, detail) values (?, now() - interval '1 minute', 'password_reset.completed', 'owner', 'passkey')",
      [userId],
    );
    const { data } = await open(await latchkey.signedIn(userId));
    expect(data.events.at(-1).what).toBe("A passkey replaced the password, by a mailed link");
  });

  test.each(Object.keys(languages))("says every event in the language %s", async (language) => {
    const types = Object.keys(en.answers.events);
    for (const type of types) {
      const actor = type.startsWith("mail.") ? null : "operator";
      await latchkey.execute(
        "insert into account_events (user_id, at, type, actor, detail) values (?, now(), ?, ?, 'password_reset')",
        [userId, type, actor],
      );
    }
    const cookie = cookieOf(await logIn());
    const { data } = await open(cookie, "?mails", { "Accept-Language": language });
    const texts = data.events.map(({ what }: { what: string }) => what);
    expect(new Set(texts).size).toBe(types.length + 1);
    expect(texts.join()).not.toMatch(/activity\.|events\.|[{}]/);
  });
});

test("the account page reads no event", async () => {
  const cookie = cookieOf(await logIn());
  await latchkey.withoutTable("account_events", async () => {
    expect(await openAccount(cookie)).toMatchObject({ status: 200 });
  });
});

describe("POST /account/data", () => {
  const download = (cookie: string) => call(data.action, post("/account/data", {}, { cookie }));

  test("answers with a file of all that is stored of the owner", async () => {
    const cookie = cookieOf(await logIn(inFirefox));
    await addPasskey(new Authenticator(), cookie, { name: "My key" });
    const file = await download(cookie);
    expect(Object.fromEntries(file.headers)).toMatchObject({
      "content-type": "application/json",
      "content-disposition": 'attachment; filename="account.json"',
      "cache-control": "no-store",
    });
    const content = JSON.parse(file.data);
    expect(content).toMatchObject({
      account: { id: userId, email },
      waysIn: { password: true, provider: null, passkeys: [{ name: "My key", createdAt: expect.any(String) }] },
      sessions: [{ browser: "Firefox on Linux", current: true }],
    });
    expect(content.events).toHaveLength(2);
  });

  test("holds when a passkey was used last", async () => {
    const authenticator = new Authenticator();
    await addPasskey(authenticator, await latchkey.signedIn(userId));
    const { data: text } = await download(cookieOf(await signInBy(authenticator)));
    expect(JSON.parse(text).waysIn.passkeys).toMatchObject([{ lastUsedAt: expect.stringMatching(/^20\S+Z$/) }]);
  });

  test.each([
    ["hash of the password", "users", "password_hash"],
    ["hash of a session's token", "sessions", "token_hash"],
    ["id of a session", "sessions", "id"],
    ["public key of a passkey", "passkeys", "public_key"],
    ["id of a passkey", "passkeys", "credential_id"],
  ])("holds no %s", async (_what, table, column) => {
    const cookie = cookieOf(await logIn(inFirefox));
    await addPasskey(new Authenticator(), cookie);
    const [row] = await latchkey.execute<Record<string, string>>(`select * from ${table}`);
    const { data: text } = await download(cookie);
    expect(row?.[column]).toBeTruthy();
    expect(text).not.toContain(row?.[column]);
  });

  test("holds the known browsers, the provider's rest, a pending change, and the ends of sessions", async () => {
    const cookie = cookieOf(await logIn(inFirefox));
    await addPasskey(new Authenticator(), cookie);
    await act(cookie, "change-email", { email: "b@example.com" });
    await latchkey.drain();
    const at = "2026-11-01T00:00:00.000Z";
    await latchkey.execute(
      "update users set idp_id = '1', idp_issuer = 'old', idp_groups = '{x}', idp_blocked_at = ?",
      [at],
    );
    const moment = expect.stringMatching(/^20\S+Z$/);
    expect(JSON.parse((await download(cookie)).data)).toMatchObject({
      waysIn: {
        provider: { issuer: "old", id: "1", groups: ["x"] },
        providerBlockedAt: at,
        passkeys: [{ transports: ["internal"], backedUp: false }],
      },
      sessions: [{ expiresAt: moment, bound: false }],
      knownBrowsers: [{ createdAt: moment, lastSeenAt: moment }],
      unconfirmedAddresses: [{ email: "b@example.com", expiresAt: moment }],
    });
  });

  test("asks for a sign-in of the last 15 minutes", async () => {
    const cookie = cookieOf(await logIn());
    await latchkey.execute("update sessions set created_at = now() - interval '16 minutes'");
    expect(await download(cookie)).toMatchObject({ status: 302, location: "/login?notice=sign_in_again" });
  });

  test("sends a visitor to log in", async () => {
    expect(await download("")).toMatchObject({ status: 302, location: "/login" });
  });
});

test("`eventsOf` has the latest first", async () => {
  await logIn();
  await latchkey.command("user", "suspend", email);
  expect((await eventsOf(userId)).map(({ type }) => type)).toEqual(["user.suspended", "session.started"]);
});
