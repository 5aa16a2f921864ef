import { Argon2id } from "oslo/password";
import { beforeEach, describe, expect, test, vi } from "vitest";
import { registerUser } from "#server/features/visitor/registration";
import * as dashboard from "~/routes/dashboard";
import * as register from "~/routes/register";
import { askForAccount, logIn, openAccount, openLogin, registerWith } from "../support/account-calls";
import { unknownVisitor } from "../support/accounts";
import { google } from "../support/google-sign-in";
import { startLatchkey } from "../support/latchkey";
import { expectInvalidLink, type MailedLink, registrationLink, resetLink } from "../support/mailed-links";
import { newPassword } from "../support/passwords";
import { call, get } from "../support/route-calls";

const latchkey = startLatchkey();

const password = newPassword;

const expectInvalid = (link: MailedLink) =>
  expectInvalidLink(latchkey, () => registerWith(link, password), link, "This link is invalid or has expired.");

describe("asking for a link", () => {
  test("creates no account", { tags: ["CVE-2026-53516", "GHSA-qq9h-g4jm-xgf3"] }, async () => {
    await registrationLink(latchkey);
    expect(await latchkey.execute("select * from users")).toEqual([]);
  });

  test("mails a link of the configured origin", { tags: ["CVE-2026-53516", "GHSA-qq9h-g4jm-xgf3"] }, async () => {
    latchkey.configure({ APP_URL: "https://latchkey.example" });
    const { token } = await registrationLink(latchkey, "grace+1@example.com");
    expect(latchkey.mails()).toMatchObject([
      {
        to: "grace+1@example.com",
        subject: "Finish creating your account",
        text: `Finish creating your account:\n\nhttps://latchkey.example/register/complete?email=grace%2B1%40example.com&token=${token}\n\nThis link expires in 60 minutes.\n\nIf you did not ask for this, you can ignore this mail.\n\nThis mail was sent by Latchkey.`,
      },
    ]);
  });

  // Chromium posts the domain of an address as ASCII, Firefox as it was typed.
  describe("with a domain outside ASCII", () => {
    const ascii = "grace@xn--bcher-kva.example";
    const typed = "Grace@BÜcher.example";

    const registered = async () => {
      const link = await registrationLink(latchkey, typed);
      expect((await registerWith({ ...link, email: typed }, password)).status).toBe(302);
    };

    test("stores the address as ASCII", async () => {
      await registered();
      expect(await latchkey.execute("select email from users")).toEqual([{ email: ascii }]);
    });

    test.each([typed, ascii])("lets the owner log in with %s", async (email) => {
      await registered();
      expect(await logIn({ email, password })).toMatchObject({ status: 302, location: "/dashboard" });
    });

    test.each([typed, ascii])("mails a reset that was asked for with %s", async (email) => {
      await registered();
      expect(await resetLink(latchkey, email)).toMatchObject({ email: ascii });
    });

    test("counts the failed logins of both spellings together", async () => {
      await registered();
      for (const email of [typed, ascii]) await logIn({ email, password: "wrong" });
      const counted = await latchkey.execute("select * from rate_limits where key like 'login:address:%'");
      expect(counted).toMatchObject([{ points: 2 }]);
    });
  });

  test("for an existing account stores no token", async () => {
    await latchkey.createUser();
    await askForAccount("ADA@example.com");
    await latchkey.drain();
    expect(await latchkey.execute("select * from registrations")).toEqual([]);
  });

  test("for an existing account mails the ways to sign in", async () => {
    await latchkey.createUser();
    await askForAccount("ADA@example.com");
    await latchkey.drain();
    const [mail, ...more] = latchkey.mails();
    expect(more).toEqual([]);
    expect(mail).toMatchObject({ to: "ada@example.com", subject: "You already have an account", link: null });
    expect(mail?.text).toContain("\nhttp://localhost:3000/login\n");
    expect(mail?.text).toContain("\nhttp://localhost:3000/forgot-password\n");
  });

  test("the page has the address of its query", async () => {
    expect((await call(register.loader, get("/register?email=grace@example.com"))).data).toEqual({
      idpEnabled: false,
      inApp: null,
      maxAge: null,
      provider: null,
      registration: "open",
      email: "grace@example.com",
      returnTo: null,
      isMailLogged: true,
    });
  });

  describe.each([
    ["closed", { REGISTRATION: "closed" }],
    ["domains", { REGISTRATION: "domains", REGISTRATION_DOMAINS: "example.org" }],
  ])("with REGISTRATION=%s", (registration, settings) => {
    beforeEach(() => void latchkey.configure({ ...google, ...settings }));

    test("the page says how one can register", async () => {
      const { data } = await call(register.loader, get("/register"));
      expect(data).toMatchObject({ idpEnabled: true, registration });
    });

    test("the login page says whether one can register", async () => {
      const { data } = await openLogin();
      expect(data).toMatchObject({ registration, hasRegistration: registration === "domains" });
    });
  });
});

describe("the link", () => {
  test("creates the account of its address", async () => {
    await registerWith(await registrationLink(latchkey), password);
    expect(await latchkey.execute("select email, idp_id, name, picture_url from users")).toEqual([
      { email: "grace@example.com", idp_id: null, name: null, picture_url: null },
    ]);
  });

  test("sets the password with which the owner logs in", async () => {
    await registerWith(await registrationLink(latchkey), password);
    const done = await logIn({ email: "grace@example.com", password });
    expect(done).toMatchObject({ status: 302, location: "/dashboard" });
  });

  test("signs in to the new account", async () => {
    const done = await registerWith(await registrationLink(latchkey), password);
    expect(done).toMatchObject({ status: 302, location: "/dashboard" });
    const { data } = await openAccount(`session=${done.cookies.session}`);
    expect(data.user).toMatchObject({ email: "grace@example.com", hasPassword: true, isLinked: false });
  });

  test("is told to its owner once", async () => {
    const { session, notice } = (await registerWith(await registrationLink(latchkey), password)).cookies;
    const page = await openAccount(`session=${session}; notice=${notice}`);
    expect([page.data.notice, page.cookies.notice]).toEqual(["registered", ""]);
  });

  test("is not told in place of what happened since", async () => {
    const { cookies } = await registerWith(await registrationLink(latchkey), password);
    const jar = `session=${cookies.session}; notice=${cookies.notice}; last_sign_in=password`;
    const { data } = await call(dashboard.loader, get("/dashboard?notice=password_changed", { cookie: jar }));
    expect(data.notice).toBe("password_changed");
  });

  test("sets the cookies of a login with a password", async () => {
    const { cookies } = await registerWith(await registrationLink(latchkey), password);
    expect(cookies).toEqual({
      session: expect.stringMatching(/^[0-9a-f]{64}$/),
      last_sign_in: "password",
      device: expect.stringMatching(/^[0-9a-f]{64}$/),
      notice: encodeURIComponent("notice=registered"),
    });
  });

  test("makes every link of the address invalid", async () => {
    const links = [await registrationLink(latchkey), await registrationLink(latchkey)] as const;
    await registerWith(links[0], password);
    for (const link of links) await expectInvalid(link);
  });

  test("leaves the links of other addresses", async () => {
    const other = await registrationLink(latchkey, "bob@example.com");
    await registerWith(await registrationLink(latchkey), password);
    expect((await registerWith(other, password)).status).toBe(302);
  });

  test("ends the browser's previous session", async () => {
    const ada = await latchkey.createUser();
    const cookie = await latchkey.signedIn(ada);
    const link = await registrationLink(latchkey);
    expect((await registerWith(link, password, { cookie })).status).toBe(302);
    expect(await latchkey.execute("select * from sessions where user_id = ?", [ada])).toEqual([]);
    expect(await latchkey.execute("select * from sessions")).toHaveLength(1);
  });

  test("whose address gets an account after its check changes nothing", async () => {
    const link = await registrationLink(latchkey);
    await latchkey.createUser({ email: "grace@example.com" });
    expect(await latchkey.unchanged(() => registerUser(unknownVisitor, link, { passwordHash: "a hash" }))).toBeNull();
  });

  test("stays valid when the database fails", async () => {
    const link = await registrationLink(latchkey);
    await latchkey.withoutTable("sessions", () =>
      expect(registerUser(unknownVisitor, link, { passwordHash: "a hash" })).rejects.toThrow("sessions"),
    );
    expect((await registerWith(link, password)).status).toBe(302);
  });

  test("for an address that now has an account costs no hash", async () => {
    const link = await registrationLink(latchkey);
    await latchkey.createUser({ email: "grace@example.com" });
    const hash = vi.spyOn(Argon2id.prototype, "hash");
    await expectInvalid(link);
    expect(hash).not.toHaveBeenCalled();
  });

  test("for an address that now has an account keeps the account's password", async () => {
    const link = await registrationLink(latchkey);
    await latchkey.createUser({ email: "grace@example.com" });
    await expectInvalid(link);
    expect((await logIn({ email: "grace@example.com" })).status).toBe(302);
  });
});
