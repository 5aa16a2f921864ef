import { Argon2id } from "oslo/password";
import { describe, expect, test, vi } from "vitest";
import { completeRegistration } from "#server/features/registration.server";
import * as dashboard from "~/routes/dashboard";
import * as login from "~/routes/login";
import * as register from "~/routes/register";
import * as complete from "~/routes/register_.complete";
import { createUser, goodPassword, signedIn, unknownBrowser } from "../support/accounts";
import { startLatchkey } from "../support/latchkey";
import { recordLog } from "../support/logged";
import {
  expectInvalidLink,
  type MailedLink,
  mailSentOutcome,
  registrationLink,
  resetLink,
} from "../support/mailed-links";
import { call, get, post } from "../support/route-calls";
import { sha256 } from "../support/sha256";
import { twice } from "../support/twice";

const latchkey = startLatchkey();
const log = recordLog();

const password = "a brand new password";
const newPassword = twice(password);
const invalidLinkMessage = "This link is invalid or has expired.";

const ask = (fields: Record<string, string> | [string, string][], headers: Record<string, string> = {}) =>
  call(register.action, post("/register", fields, { headers }));

const finish = (fields: Record<string, string> | [string, string][], cookie?: string) =>
  call(complete.action, post("/register/complete", fields, { ...(cookie && { cookie }) }));

const expectInvalid = (link: MailedLink) => expectInvalidLink(latchkey, finish, link, invalidLinkMessage);

describe("asking for a link", () => {
  test("enqueues one job with only the address, with and without an account", async () => {
    await createUser(latchkey.em());
    for (const email of [" Ada@EXAMPLE.com ", "grace@example.com"]) {
      expect(await ask({ email })).toEqual(mailSentOutcome(email));
    }
    expect(await latchkey.jobs()).toEqual([
      { task: "mail_registration", email: "ada@example.com", language: "en" },
      { task: "mail_registration", email: "grace@example.com", language: "en" },
    ]);
    expect(await latchkey.execute("select * from registrations")).toEqual([]);
  });

  test("creates no account, mails a link and stores its hash for one hour", async () => {
    latchkey.configure({ APP_URL: "https://latchkey.example" });
    const earliest = Date.now() + 3_600_000;
    const { email, token } = await registrationLink(latchkey, "grace+1@example.com");
    const latest = Date.now() + 3_600_000;
    expect(email).toBe("grace+1@example.com");
    expect(token).toMatch(/^[0-9a-f]{64}$/);
    expect(latchkey.mails()).toMatchObject([
      {
        to: "grace+1@example.com",
        subject: "Finish creating your account",
        text: `Finish creating your account:\n\nhttps://latchkey.example/register/complete?email=grace%2B1%40example.com&token=${token}\n\nThis link expires in 60 minutes.\n\nIf you did not ask for this, you can ignore this mail.\n\nThis mail was sent by Latchkey.`,
      },
    ]);
    const rows = await latchkey.execute<{ expires_at: string }>("select * from registrations");
    expect(rows).toEqual([{ token_hash: sha256(token), email, expires_at: expect.anything() }]);
    const expiry = new Date(rows[0]?.expires_at ?? 0).getTime();
    expect(expiry).toBeGreaterThanOrEqual(earliest);
    expect(expiry).toBeLessThanOrEqual(latest);
    expect(await latchkey.execute("select * from users")).toEqual([]);
  });

  test("for an existing account sends a mail with the ways to sign in, and stores no token", async () => {
    await createUser(latchkey.em());
    await ask({ email: "ADA@example.com" });
    await latchkey.drain();
    const [mail, ...more] = latchkey.mails();
    expect(more).toEqual([]);
    expect(mail).toMatchObject({ to: "ada@example.com", subject: "You already have an account", link: null });
    expect(mail?.text).toContain("\nhttp://localhost:3000/login\n");
    expect(mail?.text).toContain("\nhttp://localhost:3000/forgot-password\n");
    expect(await latchkey.execute("select * from registrations")).toEqual([]);
  });

  test.each(["", "grace", "grace@examp\u212ae.com", "grace@example.com\r\nBcc: eve@example.com"])(
    "%j is not an address: the same page, no job, no change",
    async (email) => {
      const before = await latchkey.snapshot();
      expect(await ask({ email })).toEqual(mailSentOutcome(email));
      expect(await latchkey.snapshot()).toEqual(before);
    },
  );

  test("a missing or repeated address is answered with the same page and changes nothing", async () => {
    const before = await latchkey.snapshot();
    const repeated: [string, string][] = [
      ["email", "grace@example.com"],
      ["email", "eve@example.com"],
    ];
    for (const fields of [[], repeated] as [string, string][][]) {
      expect(await ask(fields)).toMatchObject({ status: 200, data: { status: "sent" } });
    }
    expect(await latchkey.snapshot()).toEqual(before);
  });

  test("the sixth request for an address is answered with the same page and sends no mail; reset mails have their own limit", async () => {
    const answers = [];
    for (let count = 0; count < 6; count++) answers.push(await ask({ email: "grace@example.com" }));
    for (const answer of answers) expect(answer).toEqual(answers[0]);
    expect(await latchkey.jobs()).toHaveLength(5);
    await createUser(latchkey.em(), { email: "grace@example.com" });
    await resetLink(latchkey, "grace@example.com");
    expect(latchkey.mails().filter(({ subject }) => subject === "Reset your password")).toHaveLength(1);
  });

  test("the fifty-first request of a client sends no mail; another client is not limited", async () => {
    const from = (client: string, count: number) =>
      ask({ email: `user${count}@example.com` }, { "latchkey-client": client });
    for (let count = 0; count < 51; count++) {
      expect(await from("192.0.2.1", count)).toMatchObject({ status: 200, data: { status: "sent" } });
    }
    expect(await latchkey.jobs()).toHaveLength(50);
    await from("192.0.2.2", 51);
    expect(await latchkey.jobs()).toHaveLength(51);
  });

  test("the page redirects a signed-in user to the dashboard", async () => {
    const cookie = await signedIn(latchkey.em(), await createUser(latchkey.em()));
    expect(await call(register.loader, get("/register", { cookie }))).toMatchObject({
      status: 302,
      location: "/dashboard",
    });
    expect((await call(register.loader, get("/register?email=grace@example.com"))).data).toEqual({
      idpEnabled: false,
      provider: null,
      registration: "open",
      email: "grace@example.com",
      returnTo: null,
      isMailLogged: true,
    });
  });

  test("the page offers the provider when the client id is configured", async () => {
    latchkey.configure({ IDP_CLIENT_ID: "id", IDP_CLIENT_SECRET: "secret" });
    expect((await call(register.loader, get("/register"))).data).toMatchObject({ idpEnabled: true });
  });
});

describe("the link", () => {
  test("when opened pre-fills the form and changes nothing", async () => {
    const { email, token } = await registrationLink(latchkey);
    const before = await latchkey.snapshot();
    const query = new URLSearchParams({ email, token });
    for (const method of ["GET", "HEAD"]) {
      const opened = new Request(get(`/register/complete?${query}`), { method });
      expect((await call(complete.loader, opened)).data).toEqual({ email, token, registrationClosed: false });
    }
    expect(await latchkey.snapshot()).toEqual(before);
  });

  test("creates the account, signs in and deletes every link of the address", async () => {
    const links = [await registrationLink(latchkey), await registrationLink(latchkey)] as const;
    const other = await registrationLink(latchkey, "bob@example.com");
    const done = await finish({ ...links[0], ...newPassword });
    expect(done).toMatchObject({ status: 302, location: "/dashboard" });
    expect(done.headers.getSetCookie()).toHaveLength(2);
    expect(done.cookies.session).toMatch(/^[0-9a-f]{64}$/);
    const [user] = await latchkey.execute("select email, idp_id, name, picture_url from users");
    expect(user).toEqual({ email: "grace@example.com", idp_id: null, name: null, picture_url: null });
    expect(await latchkey.execute("select token_hash from registrations")).toEqual([
      { token_hash: sha256(other.token) },
    ]);
    const cookie = `session=${done.cookies.session}`;
    expect((await call(dashboard.loader, get("/dashboard", { cookie }))).data).toMatchObject({
      user: { email: "grace@example.com", password: true, linked: false },
    });
    for (const link of links) await expectInvalid(link);
    const again = await call(login.action, post("/login", { email: "grace@example.com", password }));
    expect(again).toMatchObject({ status: 302, location: "/dashboard" });
  });

  test("ends the browser's previous session", async () => {
    const ada = await createUser(latchkey.em());
    const cookie = await signedIn(latchkey.em(), ada);
    const link = await registrationLink(latchkey);
    expect((await finish({ ...link, ...newPassword }, cookie)).status).toBe(302);
    expect(await latchkey.execute("select * from sessions where user_id = ?", [ada])).toEqual([]);
    expect(await latchkey.execute("select * from sessions")).toHaveLength(1);
  });

  test("with any other spelling of the token, or with another address, is refused and changes nothing", async () => {
    const { email, token } = await registrationLink(latchkey);
    await registrationLink(latchkey, "bob@example.com");
    const spellings = [token.toUpperCase(), token.slice(1), `${token}0`, ` ${token}`, `${token}\0`, sha256(token), ""];
    for (const other of spellings.filter((spelling) => spelling !== token))
      await expectInvalid({ email, token: other });
    for (const other of ["bob@example.com", "eve@example.com", ""]) await expectInvalid({ email: other, token });
    expect((await finish({ email, token, ...newPassword })).status).toBe(302);
  });

  test.each([
    ["that expires", () => latchkey.execute("update registrations set expires_at = now() - interval '1 millisecond'")],
    ["whose address gets an account", () => createUser(latchkey.em(), { email: "grace@example.com" })],
  ])("%s between its check and its use is refused and changes nothing", async (_what, change) => {
    const link = await registrationLink(latchkey);
    await change();
    const before = await latchkey.snapshot();
    expect(await completeRegistration(link, password, unknownBrowser, "en")).toBeNull();
    expect(await latchkey.snapshot()).toEqual(before);
    expect(log.events().at(-1)).toEqual({ event: "registration.refused", reason: "invalid_link" });
  });

  test("is not invalid because the database fails: that is an error, and the link stays valid", async () => {
    const link = await registrationLink(latchkey);
    await latchkey.withoutTable("sessions", () =>
      expect(completeRegistration(link, password, unknownBrowser, "en")).rejects.toThrow("sessions"),
    );
    expect((await finish({ ...link, ...newPassword })).status).toBe(302);
  });

  test("is refused after its expiry and changes nothing", async () => {
    const link = await registrationLink(latchkey);
    await latchkey.execute("update registrations set expires_at = now() - interval '1 millisecond'");
    await expectInvalid(link);
  });

  test("of a password reset is refused and creates no account", async () => {
    await createUser(latchkey.em());
    const link = await resetLink(latchkey);
    await expectInvalid(link);
  });

  test("for an address that has an account by now is refused without hashing the password", async () => {
    const link = await registrationLink(latchkey);
    await createUser(latchkey.em(), { email: "grace@example.com" });
    const hash = vi.spyOn(Argon2id.prototype, "hash");
    await expectInvalid(link);
    expect(hash).not.toHaveBeenCalled();
  });

  test("for an address that has an account by now changes nothing, and the account's password stays valid", async () => {
    const link = await registrationLink(latchkey);
    await createUser(latchkey.em(), { email: "grace@example.com" });
    await expectInvalid(link);
    const old = await call(login.action, post("/login", { email: "grace@example.com", password: goodPassword }));
    expect(old.status).toBe(302);
  });

  test.each([
    [twice("short"), { password: "Use at least 8 characters." }],
    [twice("grace@example.com"), { password: "Choose a password that is not your email address." }],
    [{ password, passwordConfirmation: "" }, { passwordConfirmation: "The two passwords are not the same." }],
  ])("with the passwords %j is refused with a message at its field and stays valid", async (fields, errors) => {
    const link = await registrationLink(latchkey);
    const before = await latchkey.snapshot();
    const refused = await finish({ ...link, ...fields });
    expect(refused.status).toBe(422);
    expect(refused.cookies).toEqual({});
    expect(refused.data).toEqual({ typed: { ...link }, errors });
    expect(await latchkey.snapshot()).toEqual(before);
    expect((await finish({ ...link, ...newPassword })).status).toBe(302);
  });
});

describe("simultaneous posts", () => {
  const rounds = [1, 2, 3, 4, 5];

  test.each(rounds)("of ten with one token, exactly one creates the account (round %i)", async () => {
    const link = await registrationLink(latchkey);
    const answers = await Promise.all(Array.from({ length: 10 }, () => finish({ ...link, ...newPassword })));
    expect(answers.map(({ status }) => status).sort()).toEqual([302, ...Array(9).fill(422)]);
    expect(await latchkey.execute("select * from users")).toHaveLength(1);
    expect(await latchkey.execute("select * from sessions")).toHaveLength(1);
  });

  test.each(rounds)("of two with two tokens of one address, one creates the account (round %i)", async () => {
    const links = [await registrationLink(latchkey), await registrationLink(latchkey)];
    const answers = await Promise.all(links.map((link) => finish({ ...link, ...newPassword })));
    expect(answers.map(({ status }) => status).sort()).toEqual([302, 422]);
    expect(await latchkey.execute("select * from users")).toHaveLength(1);
    expect(await latchkey.execute("select * from registrations")).toEqual([]);
  });
});
