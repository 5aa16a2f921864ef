import { describe, expect, test } from "vitest";
import { deleteAccount } from "#server/features/owner/account-deletion";
import { endOtherSessions, endSession } from "#server/features/owner/own-sessions";
import { changePassword } from "#server/features/owner/password-change";
import { unlinkProvider } from "#server/features/owner/provider-link";
import { authenticate } from "#server/features/visitor/login";
import * as dashboard from "~/routes/dashboard";
import { act, logIn, openAccount } from "../support/account-calls";
import { owner, unknownVisitor } from "../support/accounts";
import { startLatchkey } from "../support/latchkey";
import { emailChangeLink, registrationLink, resetLink } from "../support/mailed-links";
import { goodPassword } from "../support/passwords";
import { call, post } from "../support/route-calls";

const latchkey = startLatchkey();

const firefox = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0";

const age = (minutes: string) =>
  latchkey.execute(`update sessions set created_at = now() - interval '${minutes}', last_seen_at = now()`);

const sessionIdOf = async (userId: string) =>
  (await latchkey.execute<{ id: string }>("select id from sessions where user_id = ?", [userId]))[0]?.id ?? "";

async function expiredSession(userId: string): Promise<string> {
  const id = crypto.randomUUID();
  await latchkey.execute("insert into sessions values (?, ?, ?, null, now(), now(), now())", [id, "none", userId]);
  return id;
}

describe("the page", () => {
  const unsafe = ["http://pictures.example/ada.png", "javascript:alert(1)"];
  test.each(unsafe)("has no picture of %s", { tags: "1.2.2" }, async (url) => {
    const id = await latchkey.createUser();
    await latchkey.execute("update users set picture_url = ?", [url]);
    expect(await openAccount(await latchkey.signedIn(id))).toMatchObject({ data: { user: { picture: null } } });
  });

  test("shows profile, sign-in methods and sessions, and marks the current one", { tags: "7.5.2" }, async () => {
    const id = await latchkey.createUser({ idpId: "42" });
    await latchkey.execute("update users set name = 'Ada', picture_url = 'https://pictures.example/ada.png'");
    await latchkey.signedIn(id, firefox);
    await age("3 hours");
    const cookie = await latchkey.signedIn(id);
    await latchkey.signedIn({ email: "bob@example.com" });
    const { data } = await openAccount(cookie);
    expect(JSON.stringify(data)).not.toMatch(/argon2|[0-9a-f]{64}/);
    expect(data).toEqual({
      user: {
        name: "Ada",
        email: "ada@example.com",
        picture: "https://pictures.example/ada.png",
        password: true,
        linked: true,
        linkQuestioned: false,
        undeliverable: false,
      },
      provider: null,
      passkeys: {
        items: [],
        newName: "An unknown browser",
        offered: false,
        upgradable: false,
        account: { rpId: "localhost", userId: expect.stringMatching(/^[\w-]{22}$/) },
      },
      canConnect: false,
      signInAgain: false,
      notice: null,
      sessions: expect.toSatisfy((sessions: unknown[]) => sessions.length === 2),
    });
    expect(data.sessions).toMatchObject([
      { browser: "An unknown browser", current: true, bound: false },
      { browser: "Firefox on Linux", current: false, bound: false },
    ]);
    for (const session of data.sessions) {
      expect(Object.keys(session).sort()).toEqual(["bound", "browser", "current", "id", "lastSeen", "since"]);
    }
  });

  test("lists the session that was used last first, and of two the one that was started last", async () => {
    const id = await latchkey.createUser();
    const cookie = await latchkey.signedIn(id);
    const own = await sessionIdOf(id);
    const started = [5, 9, 8, 3]; // hours ago
    const ids = started.map(() => crypto.randomUUID());
    for (const [at, used] of [4, 2, 2, 3].entries()) {
      await latchkey.execute(
        `insert into sessions (id, token_hash, user_id, created_at, last_seen_at, expires_at)
         values (?, ?, ?, date_trunc('hour', now()) - interval '${started[at]} hours',
           date_trunc('hour', now()) - interval '${used} hours', now() + interval '1 day')`,
        [ids[at], `token ${at}`, id],
      );
    }
    const { data } = await openAccount(cookie);
    const listed = data.sessions.map((session: { id: string }) => session.id);
    expect(listed).toEqual([own, ids[2], ids[1], ids[3], ids[0]]);
  });

  test("lets its forms lead to the provider's origin while the provider can be connected", async () => {
    const cookie = await latchkey.signedIn();
    const formTarget = async () => (await openAccount(cookie)).formTarget;
    expect(await formTarget()).toBeUndefined();
    latchkey.configure({ IDP_CLIENT_ID: "id", IDP_CLIENT_SECRET: "secret" });
    expect(await formTarget()).toBe("https://accounts.google.com");
    await latchkey.execute("update users set idp_id = '42'");
    expect(await formTarget()).toBeUndefined();
  });
});

test("every action without a session leads to the login page only", { tags: ["8.2.1", "8.3.1"] }, async () => {
  await latchkey.createUser();
  const intents = ["end-session", "end-other-sessions", "send-password-link", "change-password", "unlink-provider"];
  for (const intent of [...intents, "change-email", "delete-account", "x"]) {
    for (const cookie of ["", `session=${"ab".repeat(32)}`]) {
      const answer = await latchkey.unchanged(() => act(cookie, intent, { email: "ada@example.com" }));
      expect(answer, intent).toMatchObject({ status: 302, location: "/login" });
    }
  }
});

test("an action whose session ended after its check changes nothing", { tags: "8.3.1" }, async () => {
  const email = "ada@example.com";
  const id = await latchkey.createUser({ idpId: "42" });
  await latchkey.signedIn(id); // the owner, after a reset
  const owners = await sessionIdOf(id);
  const before = await latchkey.snapshot();
  for (const sessionId of [crypto.randomUUID(), await expiredSession(id)]) {
    const thief = owner(id, sessionId);
    expect(await endSession(thief, owners)).toBeNull();
    expect(await endOtherSessions(thief)).toBeNull();
    expect(await unlinkProvider(thief)).toBe("session_ended");
    const verified = await authenticate(unknownVisitor, { email, password: goodPassword });
    expect(verified && (await changePassword(thief, verified, "another password"))).toBe("session_ended");
    expect(await deleteAccount(thief, email, email)).toBe("session_ended");
    await latchkey.execute("delete from sessions where id = ?", [sessionId]);
  }
  expect(await latchkey.snapshot()).toEqual(before);
  expect(latchkey.events()).toEqual([]);
});

const twoIntents: [string, string][] = [
  ["intent", "end-other-sessions"],
  ["intent", "delete-account"],
  ["email", "ada@example.com"],
];

test.each([[[]], ...["", "toString", "delete"].map((intent) => [[["intent", intent]]]), [twoIntents]] as [
  [string, string][],
][])("the fields %j are answered 422 and change nothing", async (fields) => {
  const cookie = await latchkey.signedIn();
  const refused = await latchkey.unchanged(() => call(dashboard.action, post("/dashboard", fields, { cookie })));
  expect(refused).toMatchObject({ status: 422, data: { errors: { intent: "Choose an action." } } });
});

describe("end-session", () => {
  test("ends that session without a recent sign-in", { tags: "7.5.2" }, async () => {
    const id = await latchkey.createUser();
    await latchkey.signedIn(id);
    const sessionId = await sessionIdOf(id);
    const cookie = await latchkey.signedIn(id);
    await age("2 days");
    expect((await act(cookie, "end-session", { sessionId })).status).toBe(200);
    expect(await latchkey.execute("select * from sessions where id = ?", [sessionId])).toEqual([]);
    expect((await openAccount(cookie)).status).toBe(200);
    expect(latchkey.events()).toEqual([{ event: "session.ended", reason: "ended_by_user" }]);
  });

  test.each([
    ["", (id: string) => id],
    [", in capital letters,", (id: string) => id.toUpperCase()],
  ])("with the current session%s logs out", async (_how, written) => {
    const id = await latchkey.createUser();
    const cookie = await latchkey.signedIn(id);
    const out = await act(cookie, "end-session", { sessionId: written(await sessionIdOf(id)) });
    expect(out).toMatchObject({ status: 302, location: "/login" });
    expect(out.cookies).toEqual({ session: "" });
    expect(await latchkey.execute("select * from sessions")).toEqual([]);
  });

  test("with another user's session, an unknown one or none is refused", { tags: "8.2.2" }, async () => {
    const cookie = await latchkey.signedIn();
    const bob = await latchkey.createUser({ email: "bob@example.com" });
    await latchkey.signedIn(bob);
    await emailChangeLink(latchkey, cookie, "new@example.com");
    const ids = [await sessionIdOf(bob), crypto.randomUUID(), "", "x", "%", "\0", "' or true --"];
    for (const fields of [...ids.map((sessionId) => ({ sessionId })), undefined]) {
      const refused = await latchkey.unchanged(() => act(cookie, "end-session", fields));
      expect(refused).toMatchObject({ status: 422, data: { errors: { sessionId: expect.any(String) } } });
    }
  });
});

test("end-other-sessions keeps the current and other users' sessions", { tags: "7.5.2" }, async () => {
  const id = await latchkey.createUser();
  for (let count = 0; count < 3; count++) await latchkey.signedIn(id);
  const cookie = await latchkey.signedIn(id);
  const bobs = await latchkey.signedIn({ email: "bob@example.com" });
  await age("2 days");
  const ended = await act(cookie, "end-other-sessions");
  expect(ended).toMatchObject({ status: 302, location: "/dashboard?notice=sessions_ended" });
  expect((await openAccount(`session=${ended.cookies.session}`)).data.sessions).toHaveLength(1);
  expect((await openAccount(bobs)).status).toBe(200);
  expect(await latchkey.execute("select * from sessions")).toHaveLength(2);
});

describe("send-password-link", () => {
  test("mails the link to the user's address, not a posted one", { tags: ["8.2.3", "15.3.3"] }, async () => {
    const cookie = await latchkey.signedIn({ password: null, idpId: "42" });
    await age("2 days");
    expect((await act(cookie, "send-password-link", { email: "eve@example.com" })).status).toBe(200);
    await latchkey.drain();
    expect(latchkey.mails()).toMatchObject([{ to: "ada@example.com", subject: "Reset your password" }]);
    expect(latchkey.mails()[0]?.link?.pathname).toBe("/reset-password");
  });

  test("counts toward the address's limit of five reset mails; past it the page says when to ask again", async () => {
    const cookie = await latchkey.signedIn();
    for (let count = 0; count < 5; count++) expect((await act(cookie, "send-password-link")).status).toBe(200);
    const refused = await act(cookie, "send-password-link");
    const passwordLink = "Too many links were asked for. Try again in 15 minutes.";
    expect(refused).toMatchObject({ status: 429, data: { errors: { passwordLink } } });
    expect(Number(refused.headers.get("Retry-After"))).toBeGreaterThan(0);
    await latchkey.drain();
    expect(latchkey.mails()).toHaveLength(5);
  });
});

describe("unlink-provider", () => {
  test("is refused when no provider is connected, and when the account is deleted meanwhile", async () => {
    const cookie = await latchkey.signedIn();
    expect((await latchkey.unchanged(() => act(cookie, "unlink-provider"))).status).toBe(422);
    expect(await unlinkProvider({ userId: crypto.randomUUID(), sessionId: null })).toBe("session_ended");
  });

  test("is refused when the account has no password", async () => {
    const cookie = await latchkey.signedIn({ password: null, idpId: "42" });
    const provider = "This is the only way into your account: add another one first.";
    const refused = await latchkey.unchanged(() => act(cookie, "unlink-provider"));
    expect(refused).toMatchObject({ status: 422, data: { errors: { provider } } });
  });
});

describe("delete-account", () => {
  test("removes the user, the sessions and the links, and no other user's", { tags: "7.4.2" }, async () => {
    const pending = await registrationLink(latchkey, "ada@example.com");
    const id = await latchkey.createUser();
    const bob = await latchkey.createUser({ email: "bob@example.com" });
    await resetLink(latchkey);
    await resetLink(latchkey, "bob@example.com");
    await registrationLink(latchkey);
    await latchkey.signedIn(id);
    await latchkey.signedIn(bob);
    const cookie = await latchkey.signedIn(id);
    await logIn();
    expect(pending.token).toMatch(/^[0-9a-f]{64}$/);

    const deleted = await act(cookie, "delete-account", { email: " ADA@example.com " });
    expect(deleted).toMatchObject({ status: 302, location: "/account-deleted" });
    expect(deleted.headers.getSetCookie()).toEqual([
      expect.stringMatching(/^session=; Expires=Thu, 01 Jan 1970 /),
      "last_sign_in=; HttpOnly; Max-Age=0; Path=/; SameSite=Lax",
    ]);
    expect(await latchkey.execute("select email from users")).toEqual([{ email: "bob@example.com" }]);
    expect(await latchkey.execute("select user_id from sessions")).toEqual([{ user_id: bob }]);
    expect(await latchkey.execute("select * from devices")).toEqual([]);
    expect(await latchkey.execute("select email from password_resets")).toEqual([{ email: "bob@example.com" }]);
    expect(await latchkey.execute("select email from registrations")).toEqual([{ email: "grace@example.com" }]);
    expect(await openAccount(cookie)).toMatchObject({ status: 302, location: "/login" });
    expect((await logIn()).status).toBe(422);
  });

  test("a queued reset mail of the deleted account is not sent", async () => {
    const cookie = await latchkey.signedIn();
    await act(cookie, "send-password-link");
    await act(cookie, "delete-account", { email: "ada@example.com" });
    await latchkey.drain();
    expect(latchkey.mails()).toMatchObject([{ to: "ada@example.com", subject: "Your account was deleted" }]);
    expect(await latchkey.execute("select * from password_resets")).toEqual([]);
  });

  test("of two simultaneous requests one deletes, is logged and mailed", async () => {
    const operator = { userId: await latchkey.createUser(), sessionId: null };
    await latchkey.signedIn(operator.userId);
    const request = () => deleteAccount(operator, "ada@example.com", "ada@example.com");
    expect((await Promise.all([request(), request()])).sort()).toEqual(["deleted", "session_ended"]);
    await latchkey.drain();
    expect(latchkey.mails()).toMatchObject([{ to: "ada@example.com", subject: "Your account was deleted" }]);
    expect(latchkey.events()).toEqual([
      { event: "session.ended", reason: "account_deleted" },
      { event: "account.deleted" },
    ]);
  });

  const others = ["", "bob@example.com", "ada", "ada@example.co", "ada@examp\u212ae.com"];
  test.each(others)("with %j typed is refused at its field and changes nothing", async (email) => {
    const cookie = await latchkey.signedIn();
    await latchkey.createUser({ email: "bob@example.com" });
    const refused = await latchkey.unchanged(() => act(cookie, "delete-account", { email }));
    const data = { errors: { email: "Type the email address of this account." }, typed: { email } };
    expect(refused).toMatchObject({ status: 422, data });
    expect(refused.cookies).toEqual({});
  });
});

describe("the 15 minutes of a recent sign-in", () => {
  const intents = ["change-password", "unlink-provider", "connect-provider", "change-email", "delete-account"].concat([
    "add-passkey",
    "remove-passkey",
  ]);
  test.each(intents)(
    "after them, %s requires a new sign-in first",
    { tags: ["7.5.1", "CVE-2026-3429"] },
    async (intent) => {
      latchkey.configure({ IDP_CLIENT_ID: "id", IDP_CLIENT_SECRET: "secret" });
      const idpId = intent === "connect-provider" ? null : "42";
      const cookie = await latchkey.signedIn({ idpId });
      await age("15 minutes");
      expect((await openAccount(cookie)).data.signInAgain).toBe(true); // Using the session does not extend them.
      const refused = await latchkey.unchanged(() => act(cookie, intent, { email: "ada@example.com" }), "sessions");
      expect(refused).toMatchObject({ status: 302, location: "/login?notice=sign_in_again" });
      expect(refused.cookies).toEqual({ session: "" });
      // With a session, the login page would redirect to the dashboard.
      expect(await latchkey.execute("select * from sessions")).toEqual([]);
    },
  );

  test.each(["unlink-provider", "delete-account"])("within them, %s succeeds", async (intent) => {
    const cookie = await latchkey.signedIn({ idpId: "42" });
    await age("14 minutes");
    await act(cookie, intent, { email: "ada@example.com" });
    expect(await latchkey.execute("select * from users where idp_id is not null")).toEqual([]);
  });
});
