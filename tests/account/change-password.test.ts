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
  test("keeps this session alone, and is mailed to the owner", { tags: ["6.2.2", "7.4.3"] }, async () => {
    const other = await anotherBrowser();
    const bobs = await latchkey.signedIn({ email: "bob@example.com" });
    const changed = await change();
    expect(changed).toMatchObject({ status: 302, location: "/dashboard?notice=password_changed" });
    expect((await openAccount(`session=${changed.cookies.session}`)).status).toBe(200);
    expect((await openAccount(bobs)).status).toBe(200);
    expect(await openAccount(other)).toMatchObject({ status: 302, location: "/login" });
    expect((await logIn()).status).toBe(422);
    expect((await logIn({ password: newPassword })).status).toBe(302);
    expect(await latchkey.jobs()).toContainEqual({ task: "mail_password_changed_by_owner", email, language: "en" });
    await latchkey.drain();
    expect(latchkey.mails().filter(({ subject }) => subject === "Your password was changed")).toMatchObject([
      {
        to: email,
        link: null,
        text: "The password of your account was changed on its account page, and every other browser was signed out.\n\nIf it was not you, reset your password now:\n\nhttp://localhost:3000/forgot-password\n\nThen log in, and remove every passkey and disconnect every external sign-in that you did not add yourself:\n\nhttp://localhost:3000/dashboard\n\nThis mail was sent by Latchkey.",
      },
    ]);
    expect(latchkey.events().slice(1, 3)).toEqual([
      { event: "password.changed" },
      { event: "session.ended", reason: "password_changed" },
    ]);
  });

  test("ends every reset link of the address and every email change of the user, and no other link", async () => {
    const reset = await resetLink(latchkey);
    const bob = await latchkey.signedIn({ email: "bob@example.com" });
    await resetLink(latchkey, "bob@example.com");
    await emailChangeLink(latchkey, bob, "robert@example.com");
    const newEmail = await emailChangeLink(latchkey, cookie, "new@example.com");
    await registrationLink(latchkey);
    expect(newEmail.token).toMatch(/^[0-9a-f]{64}$/);

    expect((await change()).status).toBe(302);

    const use = () => resetWith(reset, newPassword);
    await expectInvalidLink(latchkey, use, reset, "This reset link is invalid or has expired.");
    expect(await latchkey.execute("select email from password_resets")).toEqual([{ email: "bob@example.com" }]);
    expect(await latchkey.execute("select email from registrations")).toEqual([{ email: "grace@example.com" }]);
    expect(await latchkey.execute("select email from email_changes")).toEqual([{ email: "robert@example.com" }]);
  });

  test("keeps every known browser, so that nobody can lock it out", async () => {
    const device = (await anotherBrowser()).replace(/.*; /, "");
    expect((await change({}, await anotherBrowser())).status).toBe(302);
    for (let at = 0; at < 10; at++) await logIn({ password: "wrong" });
    expect((await logIn({ password: newPassword })).status).toBe(429);
    expect((await logIn({ password: newPassword, cookie: device })).status).toBe(302);
  });
});

describe("a refused change", () => {
  const wrong = { currentPassword: "This is not your current password." };

  test("with a wrong current password changes nothing and counts as a failed login", { tags: "6.2.3" }, async () => {
    await expectRefused({ currentPassword: "wrong" }, wrong);
    expect(latchkey.events()).toEqual([{ event: "login.failed", reason: "wrong_credentials" }]);
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

  test("past ten wrong passwords is 429 with Retry-After, also with the right one", async () => {
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

  test("of an account without a password says how to set one, and verifies nothing", async () => {
    const id = await latchkey.createUser({ email: "linus@example.com", password: null, idpId: "42" });
    const verify = vi.spyOn(Argon2id.prototype, "verify");
    const from = await latchkey.signedIn(id);
    expect(await latchkey.unchanged(() => change({}, from))).toMatchObject({
      status: 422,
      data: { errors: { passwordLink: "This account has no password yet. Choose “Set a password by mail” below." } },
    });
    expect(verify).not.toHaveBeenCalled();
  });
});
