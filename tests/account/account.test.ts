import { beforeEach, describe, expect, test } from "vitest";
import { deleteAccount } from "#server/features/owner/account-deletion";
import { endOtherSessions, endSession } from "#server/features/owner/own-sessions";
import { changePassword } from "#server/features/owner/password-change";
import { unlinkProvider } from "#server/features/owner/provider-link";
import { authenticate } from "#server/features/visitor/login";
import { actions } from "~/account/actions";
import * as dashboard from "~/routes/dashboard";
import * as login from "~/routes/login";
import { act, logIn, openAccount } from "../support/account-calls";
import { owner, unknownVisitor } from "../support/accounts";
import { google } from "../support/google-sign-in";
import { startLatchkey } from "../support/latchkey";
import { emailChangeLink, registrationLink, resetLink } from "../support/mailed-links";
import { goodPassword } from "../support/passwords";
import { call, get, post } from "../support/route-calls";

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
    expect(await openAccount(await latchkey.signedIn(id))).toMatchObject({ data: { user: { pictureUrl: null } } });
  });

  test("has no connected provider while external sign-in is off", async () => {
    const cookie = await latchkey.signedIn({ idpId: "42" });
    expect(await openAccount(cookie)).toMatchObject({ data: { user: { isLinked: false }, canConnect: false } });
  });

  describe("of a user with two sessions", () => {
    let data: Awaited<ReturnType<typeof openAccount>>["data"];

    beforeEach(async () => {
      latchkey.configure(google);
      const id = await latchkey.createUser({ idpId: "42" });
      await latchkey.execute("update users set name = 'Ada', picture_url = 'https://pictures.example/ada.png'");
      await latchkey.signedIn(id, firefox);
      await age("3 hours");
      const cookie = await latchkey.signedIn(id);
      await latchkey.signedIn({ email: "bob@example.com" });
      data = (await openAccount(cookie)).data;
    });

    test("shows the account", () => {
      expect(data).toEqual({
        account: expect.stringMatching(/^[0-9a-f-]{36}$/),
        user: {
          name: "Ada",
          email: "ada@example.com",
          pictureUrl: "https://pictures.example/ada.png",
          hasPassword: true,
          isLinked: true,
          isLinkQuestioned: false,
          isUndeliverable: false,
        },
        provider: "Google",
        passkeys: {
          items: [],
          unusable: [],
          newName: "An unknown browser",
          offered: false,
          upgradable: false,
          account: { rpId: "localhost", userId: expect.stringMatching(/^[\w-]{22}$/) },
        },
        canConnect: false,
        unbound: false,
        signInAgain: false,
        hasTokens: false,
        tokensGoOn: false,
        removedPasskey: null,
        connectProblem: null,
        notice: null,
        sessions: expect.any(Array),
      });
    });

    test("lists this user's sessions alone", { tags: "7.5.2" }, () => {
      expect(data.sessions).toHaveLength(2);
      expect(data.sessions).toMatchObject([
        { browser: "An unknown browser", bound: false },
        { browser: "Firefox on Linux", bound: false },
      ]);
    });

    test("marks the current session", () => {
      expect(data.sessions.map(({ current }: { current: boolean }) => current)).toEqual([true, false]);
    });

    test("contains no secret", () => {
      expect(JSON.stringify(data)).not.toMatch(/argon2|[0-9a-f]{64}/);
      for (const session of data.sessions) {
        expect(Object.keys(session).sort()).toEqual(["bound", "browser", "current", "id", "lastSeen", "since"]);
      }
    });
  });

  /** The current session as -1, the others by their index in `hoursAgo`. */
  async function listed(hoursAgo: { started: number; used: number }[]): Promise<number[]> {
    const id = await latchkey.createUser();
    const cookie = await latchkey.signedIn(id);
    const ids = hoursAgo.map((): string => crypto.randomUUID());
    for (const [at, { started, used }] of hoursAgo.entries()) {
      await latchkey.execute(
        `insert into sessions (id, token_hash, user_id, created_at, last_seen_at, expires_at)
         values (?, ?, ?, date_trunc('hour', now()) - interval '${started} hours',
           date_trunc('hour', now()) - interval '${used} hours', now() + interval '1 day')`,
        [ids[at], `token ${at}`, id],
      );
    }
    const { data } = await openAccount(cookie);
    return data.sessions.map((session: { id: string }) => ids.indexOf(session.id));
  }

  test("lists the session that was used last first", async () => {
    const hoursAgo = [
      { started: 5, used: 4 },
      { started: 9, used: 2 },
      { started: 3, used: 3 },
    ];
    expect(await listed(hoursAgo)).toEqual([-1, 1, 2, 0]);
  });

  test("lists the later of two sessions that were last used at the same time first", async () => {
    const hoursAgo = [
      { started: 9, used: 2 },
      { started: 8, used: 2 },
    ];
    expect(await listed(hoursAgo)).toEqual([-1, 1, 0]);
  });

  test("lets its forms lead to the provider's origin while the provider can be connected", async () => {
    const cookie = await latchkey.signedIn();
    const formTargets = async () => (await openAccount(cookie)).formTargets;
    expect(await formTargets()).toEqual([]);
    latchkey.configure({ IDP_CLIENT_ID: "id", IDP_CLIENT_SECRET: "secret" });
    expect(await formTargets()).toEqual(["https://accounts.google.com"]);
    await latchkey.execute("update users set idp_id = '42'");
    expect(await formTargets()).toEqual([]);
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

test("the login page says once that the session of a form has ended", async () => {
  const { cookies } = await act(`session=${"ab".repeat(32)}`, "change-email", { email: "ada@example.com" });
  const page = await call(login.loader, get("/login", { cookie: `notice=${cookies.notice}` }));
  expect(page).toMatchObject({ data: { sessionEnded: true }, cookies: { notice: "" } });
});

test("the login page says what its address says before it says that a session has ended", async () => {
  const cookie = "notice=notice%3Dsession_ended";
  const page = await call(login.loader, get("/login?notice=password_reset", { cookie }));
  expect(page.data).toMatchObject({ notice: "password_reset", sessionEnded: false });
});

test("with SIGN_IN_REDIRECT the login page says that the session has ended before it leads to the provider", async () => {
  latchkey.configure({ ...google, SIGN_IN_REDIRECT: "on" });
  const ended = await call(login.loader, get("/login", { cookie: "notice=notice%3Dsession_ended" }));
  expect(ended).toMatchObject({ status: 200, data: { sessionEnded: true } });
});

test("the login page says nothing of a session to who only opens the account page", async () => {
  expect((await openAccount("")).cookies).toEqual({});
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
][])("the fields %j are refused", async (fields) => {
  const cookie = await latchkey.signedIn();
  const refused = await latchkey.unchanged(() => call(dashboard.action, post("/dashboard", fields, { cookie })));
  expect(refused).toMatchObject({ status: 422, data: { errors: { intent: "Choose an action." } } });
});

describe("end-session", () => {
  async function expectRefused(cookie: string, sessionId: string | undefined): Promise<void> {
    const fields = sessionId === undefined ? undefined : { sessionId };
    const refused = await latchkey.unchanged(() => act(cookie, "end-session", fields));
    expect(refused).toMatchObject({ status: 422, data: { errors: { sessionId: expect.any(String) } } });
  }

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

  test.each([
    ["an unknown session", [crypto.randomUUID()]],
    ["no session", [undefined, ""]],
    ["a value that is no id", ["x", "%", "\0", "' or true --"]],
  ])("with %s is refused", { tags: "8.2.2" }, async (_what, ids) => {
    const cookie = await latchkey.signedIn();
    for (const id of ids) await expectRefused(cookie, id);
  });

  test("with another user's session is refused", { tags: "8.2.2" }, async () => {
    const cookie = await latchkey.signedIn();
    const bob = await latchkey.createUser({ email: "bob@example.com" });
    await latchkey.signedIn(bob);
    await emailChangeLink(latchkey, cookie, "new@example.com");
    await expectRefused(cookie, await sessionIdOf(bob));
  });
});

describe("end-other-sessions", () => {
  let bobs: string;
  let ended: Awaited<ReturnType<typeof act>>;

  beforeEach(async () => {
    const id = await latchkey.createUser();
    for (let count = 0; count < 3; count++) await latchkey.signedIn(id);
    const cookie = await latchkey.signedIn(id);
    bobs = await latchkey.signedIn({ email: "bob@example.com" });
    await age("2 days");
    ended = await act(cookie, "end-other-sessions");
  });

  test("ends the user's other sessions without a recent sign-in", { tags: "7.5.2" }, async () => {
    expect(ended).toMatchObject({ status: 302, location: "/dashboard?notice=sessions_ended" });
    expect(await latchkey.execute("select * from sessions")).toHaveLength(2);
  });

  test("keeps the current session", { tags: "7.5.2" }, async () => {
    expect((await openAccount(`session=${ended.cookies.session}`)).data.sessions).toHaveLength(1);
  });

  test("keeps the sessions of other users", { tags: "7.5.2" }, async () => {
    expect((await openAccount(bobs)).status).toBe(200);
  });
});

describe("send-password-link", () => {
  test("mails the link to the address of the account", { tags: ["8.2.3", "15.3.3"] }, async () => {
    const cookie = await latchkey.signedIn({ password: null, idpId: "42" });
    await age("2 days");
    expect((await act(cookie, "send-password-link", { email: "eve@example.com" })).status).toBe(200);
    await latchkey.drain();
    expect(latchkey.mails()).toMatchObject([{ to: "ada@example.com", subject: "Reset your password" }]);
    expect(latchkey.mails()[0]?.link?.pathname).toBe("/reset-password");
  });

  test("says past five links of an address when to ask again", async () => {
    const cookie = await latchkey.signedIn();
    for (let count = 0; count < 5; count++) expect((await act(cookie, "send-password-link")).status).toBe(200);
    const refused = await act(cookie, "send-password-link");
    const passwordLink = "Too many links were asked for. Try again in 15 minutes.";
    expect(refused).toMatchObject({ status: 429, data: { errors: { passwordLink } } });
    expect(Number(refused.headers.get("Retry-After"))).toBeGreaterThan(0);
  });

  test("mails at most five links to an address", async () => {
    const cookie = await latchkey.signedIn();
    for (let count = 0; count < 6; count++) await act(cookie, "send-password-link");
    await latchkey.drain();
    expect(latchkey.mails()).toHaveLength(5);
  });
});

describe("unlink-provider", () => {
  test("is refused when no provider is connected", async () => {
    const cookie = await latchkey.signedIn();
    expect((await latchkey.unchanged(() => act(cookie, "unlink-provider"))).status).toBe(422);
  });

  test("is refused when the account is deleted meanwhile", async () => {
    await latchkey.createUser();
    expect(await unlinkProvider({ user: { id: crypto.randomUUID() }, sessionId: null })).toBe("session_ended");
  });

  test("is refused when the account has no password", async () => {
    const cookie = await latchkey.signedIn({ password: null, idpId: "42" });
    const provider = "This is the only way into your account: add another one first.";
    const refused = await latchkey.unchanged(() => act(cookie, "unlink-provider"));
    expect(refused).toMatchObject({ status: 422, data: { errors: { provider } } });
  });
});

describe("delete-account", () => {
  describe("with the address of the account typed", () => {
    let bob: string;
    let cookie: string;
    let deleted: Awaited<ReturnType<typeof act>>;

    beforeEach(async () => {
      const pending = await registrationLink(latchkey, "ada@example.com");
      const id = await latchkey.createUser();
      bob = await latchkey.createUser({ email: "bob@example.com" });
      await resetLink(latchkey);
      await resetLink(latchkey, "bob@example.com");
      await registrationLink(latchkey);
      await latchkey.signedIn(id);
      await latchkey.signedIn(bob);
      cookie = await latchkey.signedIn(id);
      await logIn();
      expect(pending.token).toMatch(/^[0-9a-f]{64}$/);
      deleted = await act(cookie, "delete-account", { email: " ADA@example.com " });
    });

    test("leads to the page that confirms it", () => {
      expect(deleted).toMatchObject({ status: 302, location: "/account-deleted" });
    });

    test("clears the browser's cookies", () => {
      expect(deleted.headers.getSetCookie()).toEqual([
        expect.stringMatching(/^session=; Expires=Thu, 01 Jan 1970 /),
        "last_sign_in=; HttpOnly; Max-Age=0; Path=/; SameSite=Lax",
      ]);
    });

    test("removes this user alone", async () => {
      expect(await latchkey.execute("select email from users")).toEqual([{ email: "bob@example.com" }]);
      expect((await logIn()).status).toBe(422);
    });

    test("ends every session of this user alone", { tags: "7.4.2" }, async () => {
      expect(await latchkey.execute("select user_id from sessions")).toEqual([{ user_id: bob }]);
      expect(await openAccount(cookie)).toMatchObject({ status: 302, location: "/login" });
    });

    test("forgets the user's known browsers", async () => {
      expect(await latchkey.execute("select * from devices")).toEqual([]);
    });

    test("removes the mailed links of this address alone", async () => {
      expect(await latchkey.execute("select email from password_resets")).toEqual([{ email: "bob@example.com" }]);
      expect(await latchkey.execute("select email from registrations")).toEqual([{ email: "grace@example.com" }]);
    });
  });

  test("a queued reset mail of the deleted account is not sent", async () => {
    const cookie = await latchkey.signedIn();
    await act(cookie, "send-password-link");
    await act(cookie, "delete-account", { email: "ada@example.com" });
    await latchkey.drain();
    expect(latchkey.mails()).toMatchObject([{ to: "ada@example.com", subject: "Your account was deleted" }]);
    expect(await latchkey.execute("select * from password_resets")).toEqual([]);
  });

  test("two simultaneous requests delete the account once", async () => {
    const operator = { user: { id: await latchkey.createUser() }, sessionId: null };
    await latchkey.signedIn(operator.user.id);
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
  test.each(others)("with %j typed is refused at its field", async (email) => {
    const cookie = await latchkey.signedIn();
    await latchkey.createUser({ email: "bob@example.com" });
    const refused = await latchkey.unchanged(() => act(cookie, "delete-account", { email }));
    const data = { errors: { email: "Type the email address of this account." }, typed: { email } };
    expect(refused).toMatchObject({ status: 422, data });
    expect(refused.cookies).toEqual({});
  });
});

describe("a sign-in", () => {
  test("does not become recent by use of its session", async () => {
    latchkey.configure({ IDP_CLIENT_ID: "id", IDP_CLIENT_SECRET: "secret" });
    const cookie = await latchkey.signedIn();
    await age("15 minutes");
    expect((await openAccount(cookie)).data.signInAgain).toBe(true);
    expect((await openAccount(cookie)).data.signInAgain).toBe(true);
  });

  const intents = ["change-password", "unlink-provider", "connect-provider", "change-email", "delete-account"].concat([
    "add-passkey",
    "remove-passkey",
  ]);
  test.each(intents)(
    "is required again before %s after 15 minutes",
    { tags: ["7.5.1", "CVE-2026-3429"] },
    async (intent) => {
      latchkey.configure({ IDP_CLIENT_ID: "id", IDP_CLIENT_SECRET: "secret" });
      const idpId = intent === "connect-provider" ? null : "42";
      const cookie = await latchkey.signedIn({ idpId });
      await age("15 minutes");
      await openAccount(cookie);
      const refused = await latchkey.unchanged(() => act(cookie, intent, { email: "ada@example.com" }), "sessions");
      expect(refused).toMatchObject({ status: 302, location: "/login?notice=sign_in_again" });
      expect(refused.cookies).toEqual({ session: "", "login-address": "ada%40example.com" });
      // With a session, the login page would redirect to the dashboard.
      expect(await latchkey.execute("select * from sessions")).toEqual([]);
    },
  );

  test.each(["unlink-provider", "delete-account"])("of the last 15 minutes is enough for %s", async (intent) => {
    const cookie = await latchkey.signedIn({ idpId: "42" });
    await age("14 minutes");
    await act(cookie, intent, { email: "ada@example.com" });
    expect(await latchkey.execute("select * from users where idp_id is not null")).toEqual([]);
  });
});

describe("a form of a page that was opened before another account signed in", () => {
  const notice = encodeURIComponent("notice=another_account");
  const anotherAccount = { status: 302, location: "/dashboard", cookies: { notice } };
  let ada: string;
  let bob: string;

  beforeEach(async () => {
    ada = await latchkey.createUser();
    bob = await latchkey.signedIn({ email: "bob@example.com" });
  });

  test.each(Object.keys(actions))("changes nothing: %s", async (intent) => {
    const answer = await latchkey.unchanged(() => act(bob, intent, { account: ada, name: "Ada" }), "sessions");
    expect(answer).toMatchObject(anotherAccount);
  });

  test("acts on the account that it names while that one is signed in", async () => {
    expect(await act(await latchkey.signedIn(ada), "change-name", { account: ada, name: "Ada" })).toMatchObject({
      status: 200,
    });
  });
});
