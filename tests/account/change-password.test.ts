import { Argon2id } from "oslo/password";
import { beforeEach, describe, expect, test, vi } from "vitest";
import { act, logIn, openAccount, resetWith } from "../support/account-calls";
import { startLatchkey } from "../support/latchkey";
import { emailChangeLink, expectInvalidLink, registrationLink, resetLink } from "../support/mailed-links";
import { goodPassword, newPassword, twice } from "../support/passwords";

const latchkey = startLatchkey();

const email = "ada@example.com";

let ada: string;
let cookie: string;

beforeEach(async () => {
  ada = await latchkey.createUser();
  cookie = await latchkey.signedIn(ada);
});

const change = (fields: Record<string, string> = {}, from = cookie) =>
  act(from, "change-password", { currentPassword: goodPassword, ...twice(newPassword), ...fields });

async function anotherBrowser(): Promise<string> {
  const { cookies } = await logIn();
  return `session=${cookies.session}; device=${cookies.device}`;
}

async function expectRefused(fields: Record<string, string>, errors: Record<string, string>): Promise<void> {
  const refused = await latchkey.unchanged(() => change(fields), "rate_limits");
  expect(refused.status).toBe(422);
  expect(refused.cookies).toEqual({});
  expect(refused.data).toEqual({ intent: "change-password", errors, typed: { email: "" } });
}

describe("a change", () => {
  test("sets the new password", { tags: "6.2.2" }, async () => {
    expect(await change()).toMatchObject({ status: 302, location: "/dashboard?notice=password_changed" });
    expect((await logIn()).status).toBe(422);
    expect((await logIn({ password: newPassword })).status).toBe(302);
  });

  test("ends every other session of the account", { tags: "7.4.3" }, async () => {
    const other = await anotherBrowser();
    await change();
    expect(await openAccount(other)).toMatchObject({ status: 302, location: "/login" });
    expect(latchkey.events().slice(1)).toEqual([
      { event: "password.changed" },
      { event: "session.ended", reason: "password_changed" },
    ]);
  });

  test("keeps this session", { tags: "7.4.3" }, async () => {
    const { cookies } = await change();
    expect((await openAccount(`session=${cookies.session}`)).status).toBe(200);
  });

  test("keeps the sessions of other accounts", async () => {
    const bobs = await latchkey.signedIn({ email: "bob@example.com" });
    await change();
    expect((await openAccount(bobs)).status).toBe(200);
  });

  test("is mailed to the owner", async () => {
    await change();
    expect(await latchkey.jobs()).toEqual([{ task: "mail_password_changed_by_owner", email, language: "en" }]);
    await latchkey.drain();
    expect(latchkey.mails()).toMatchObject([
      {
        to: email,
        subject: "Your password was changed",
        link: null,
        text: "The password of your account was changed on its account page, and every other browser was signed out.\n\nIf it was not you, reset your password now:\n\nhttp://localhost:3000/forgot-password\n\nThen log in, and remove every passkey and disconnect every external sign-in that you did not add yourself:\n\nhttp://localhost:3000/dashboard\n\nThis mail was sent by Latchkey.",
      },
    ]);
  });

  test("ends every reset link of the address", async () => {
    const reset = await resetLink(latchkey);
    await latchkey.createUser({ email: "bob@example.com" });
    await resetLink(latchkey, "bob@example.com");
    expect((await change()).status).toBe(302);
    const use = () => resetWith(reset, newPassword);
    await expectInvalidLink(latchkey, use, reset, "This reset link is invalid or has expired.");
    expect(await latchkey.execute("select email from password_resets")).toEqual([{ email: "bob@example.com" }]);
  });

  test("ends every email change of the user", async () => {
    const bob = await latchkey.signedIn({ email: "bob@example.com" });
    await emailChangeLink(latchkey, bob, "robert@example.com");
    const newEmail = await emailChangeLink(latchkey, cookie, "new@example.com");
    expect(newEmail.token).toMatch(/^[0-9a-f]{64}$/);
    expect((await change()).status).toBe(302);
    expect(await latchkey.execute("select email from email_changes")).toEqual([{ email: "robert@example.com" }]);
  });

  test("keeps the registration link of another address", async () => {
    await registrationLink(latchkey);
    expect((await change()).status).toBe(302);
    expect(await latchkey.execute("select email from registrations")).toEqual([{ email: "grace@example.com" }]);
  });

  test("keeps every known browser", async () => {
    const device = (await anotherBrowser()).replace(/.*; /, "");
    expect((await change({}, await anotherBrowser())).status).toBe(302);
    for (let at = 0; at < 10; at++) await logIn({ password: "wrong" });
    expect((await logIn({ password: newPassword })).status).toBe(429);
    expect((await logIn({ password: newPassword, cookie: device })).status).toBe(302);
  });
});

describe("a refused change", () => {
  const wrong = { currentPassword: "This is not your current password." };

  test("with a wrong current password is refused at its field", { tags: "6.2.3" }, async () => {
    await expectRefused({ currentPassword: "wrong" }, wrong);
    expect(latchkey.events()).toEqual([{ event: "login.failed", reason: "wrong_credentials" }]);
  });

  test("with a wrong current password counts as a failed login", { tags: "6.2.3" }, async () => {
    await change({ currentPassword: "wrong" });
    for (let at = 0; at < 9; at++) expect((await logIn({ password: "wrong" })).status).toBe(422);
    expect((await logIn()).status).toBe(429);
  });

  test.each([
    [{ ...twice("ADA@example.com") }, { password: "Choose a password that is not your email address." }],
    [{ passwordConfirmation: "another one" }, { passwordConfirmation: "The two passwords are not the same." }],
    [{ currentPassword: "" }, { currentPassword: "Type your current password." }],
    [
      { currentPassword: "wrong", ...twice("short") },
      { ...wrong, password: "Use at least 8 characters." },
    ],
  ] as [Record<string, string>, Record<string, string>][])("with %j is answered %j", expectRefused);

  test("by a rule for passwords does not count as a failed login", async () => {
    for (let at = 0; at < 12; at++) expect((await change(twice("short"))).status).toBe(422);
    expect((await change()).status).toBe(302);
  });

  test("past ten wrong passwords is 429 even with the right one", async () => {
    for (let at = 0; at < 10; at++) expect((await change({ currentPassword: "wrong" })).status).toBe(422);
    const refused = await latchkey.unchanged(change, "rate_limits");
    expect(refused.status).toBe(429);
    expect(Number(refused.headers.get("Retry-After"))).toBeGreaterThan(14 * 60);
    expect(refused.data).toEqual({
      intent: "change-password",
      errors: { currentPassword: "Too many wrong passwords. Try again in 15 minutes." },
      typed: {},
    });
  });

  describe("of an account without a password", () => {
    let from: string;

    beforeEach(async () => {
      from = await latchkey.signedIn({ email: "linus@example.com", password: null, idpId: "42" });
    });

    test("says how to set one", async () => {
      expect(await latchkey.unchanged(() => change({}, from))).toMatchObject({
        status: 422,
        data: { errors: { passwordLink: "This account has no password yet. Choose “Set a password by mail” below." } },
      });
    });

    test("verifies no password", async () => {
      const verify = vi.spyOn(Argon2id.prototype, "verify");
      await change({}, from);
      expect(verify).not.toHaveBeenCalled();
    });
  });
});
