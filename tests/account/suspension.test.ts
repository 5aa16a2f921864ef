import { beforeEach, describe, expect, test } from "vitest";
import { restoreUser, suspendUser } from "#server/features/operator/user-access";
import { confirmAddress, logIn, openAccount, resetWith } from "../support/account-calls";
import { google, signInWithGoogle } from "../support/google-sign-in";
import { startLatchkey } from "../support/latchkey";
import { emailChangeLink, expectInvalidLink, type MailedLink, resetLink } from "../support/mailed-links";
import { newPassword } from "../support/passwords";

const latchkey = startLatchkey(google);
const email = "ada@example.com";
const invalid = "This link is invalid or has expired.";

const suspended = async (account = {}) => {
  const id = await latchkey.createUser({ email, ...account });
  await suspendUser(id);
  return id;
};

describe("suspending an account", () => {
  test("ends its sessions", { tags: "7.4.2" }, async () => {
    const id = await latchkey.createUser();
    const cookie = await latchkey.signedIn(id);
    await latchkey.signedIn(id);
    expect(await suspendUser(id)).toBe(2);
    expect(await openAccount(cookie)).toMatchObject({ status: 302, location: "/login" });
    expect(latchkey.events()).toEqual([
      { event: "session.ended", reason: "account_suspended" },
      { event: "user.suspended" },
    ]);
  });

  test("keeps the sessions of others", async () => {
    const bob = await latchkey.signedIn({ email: "bob@example.com" });
    await suspended();
    expect((await openAccount(bob)).status).toBe(200);
  });

  test("ends its reset links", { tags: "CVE-2026-43983" }, async () => {
    const id = await latchkey.createUser();
    const reset = await resetLink(latchkey);
    await suspendUser(id);
    expect(await latchkey.execute("select * from password_resets")).toEqual([]);
    const use = () => resetWith(reset, newPassword);
    await expectInvalidLink(latchkey, use, reset, "This reset link is invalid or has expired.");
  });

  test("ends the registration links of its address", { tags: "CVE-2026-43983" }, async () => {
    const id = await latchkey.createUser();
    await latchkey.execute("insert into registrations values ('a hash', ?, now() + interval '1 hour')", [email]);
    await suspendUser(id);
    expect(await latchkey.execute("select * from registrations")).toEqual([]);
  });

  test("ends its unconfirmed changes of address", { tags: "CVE-2026-43983" }, async () => {
    const id = await latchkey.createUser();
    const change = await emailChangeLink(latchkey, await latchkey.signedIn(id), "new@example.com");
    await suspendUser(id);
    expect(await latchkey.execute("select * from email_changes")).toEqual([]);
    const { status, data } = await latchkey.unchanged(() => confirmAddress(change));
    expect([status, data.invalidLink]).toEqual([422, invalid]);
  });

  test("sends no mail", async () => {
    const id = await latchkey.createUser();
    await latchkey.signedIn(id);
    await suspendUser(id);
    expect(await latchkey.jobs()).toEqual([]);
    await latchkey.drain();
    expect(latchkey.mails()).toEqual([]);
  });

  test("of an account that is suspended or gone changes nothing", async () => {
    const id = await suspended();
    expect(await latchkey.unchanged(() => suspendUser(id))).toBe("suspended_already");
    expect(await latchkey.unchanged(() => suspendUser(crypto.randomUUID()))).toBe("no_account");
  });
});

describe("a suspended account", () => {
  test("is refused the right password as it is a wrong one", async () => {
    await suspended();
    const before = latchkey.events().length;
    const tried = [{ email }, { email, password: "wrong" }, { email: "nobody@example.com" }];
    const answers = await Promise.all(tried.map((login) => logIn(login)));
    const [right, ...others] = answers.map((answer) => ({ ...answer, data: { ...answer.data, typed: undefined } }));
    for (const other of others) expect(other).toEqual(right);
    expect(right).toMatchObject({ status: 422, data: { message: "Email or password is incorrect." } });
    expect(right?.cookies).toEqual({});
    expect(await latchkey.execute("select * from sessions")).toEqual([]);
    expect(latchkey.events().slice(before)).toEqual(
      Array(3).fill({ event: "login.failed", reason: "wrong_credentials" }),
    );
  });

  test("is mailed no reset link", async () => {
    await suspended();
    expect(await resetLink(latchkey)).toEqual({ email: "", token: "" });
    expect(await latchkey.execute("select * from password_resets")).toEqual([]);
    expect(latchkey.mails()).toEqual([]);
  });

  test.each([
    ["id", "1001"],
    ["address", "1002"],
  ])("cannot be signed in to through the provider by its %s", async (_by, sub) => {
    const profile = { sub, email, email_verified: true, picture: "https://images.example/new.png" };
    await suspended({ idpId: "1001" });
    const refused = await latchkey.unchanged(() => signInWithGoogle(profile), "account_events");
    expect(refused).toMatchObject({ location: "/login?notice=idp_failed", cookies: { oauth_state: "" } });
    expect(latchkey.events().at(-1)).toEqual({ event: "idp.failed", reason: "suspended" });
  });
});

describe("restoring an account", () => {
  describe("after a suspension", () => {
    let cookie: string;
    let old: MailedLink;

    beforeEach(async () => {
      const id = await latchkey.createUser();
      cookie = await latchkey.signedIn(id);
      old = await resetLink(latchkey);
      await suspendUser(id);
      const { length: earlier } = latchkey.events();
      expect(await restoreUser(id)).toBe(true);
      expect(latchkey.events().slice(earlier)).toEqual([{ event: "user.restored" }]);
    });

    test("lets its owner sign in", async () => {
      expect((await logIn()).location).toBe("/dashboard");
    });

    test("lets its owner reset the password", async () => {
      const link = await resetLink(latchkey);
      expect((await resetWith(link, newPassword)).location).toBe("/login?notice=password_reset");
    });

    test("brings back no session", async () => {
      expect((await openAccount(cookie)).location).toBe("/login");
    });

    test("brings back no link", async () => {
      expect((await resetWith(old, newPassword)).status).toBe(422);
    });
  });

  test("ends a link that was stored while the suspension was committed", async () => {
    const id = await suspended();
    await latchkey.execute("insert into password_resets values ('a hash', ?, now() + interval '1 hour')", [email]);
    await restoreUser(id);
    expect(await latchkey.execute("select * from password_resets")).toEqual([]);
  });

  test("of an account that is not suspended changes nothing", async () => {
    const id = await latchkey.createUser();
    expect(await latchkey.unchanged(() => restoreUser(id))).toBe(false);
    expect(await latchkey.unchanged(() => restoreUser(crypto.randomUUID()))).toBe(false);
  });
});
