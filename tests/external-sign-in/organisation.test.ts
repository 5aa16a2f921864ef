import { describe, expect, test } from "vitest";
import { hashPassword } from "#server/accounts/passwords/password-hashing";
import { capSessions } from "#server/accounts/sessions/sessions";
import { suspendUser } from "#server/features/operator/user-access";
import { createUserWithoutPassword } from "#server/features/operator/user-administration";
import { importUsers } from "#server/features/operator/user-import";
import { noticeMail } from "#server/features/owner/notices";
import * as forgotPassword from "~/routes/forgot-password";
import * as login from "~/routes/login";
import * as register from "~/routes/register";
import * as resetPassword from "~/routes/reset-password";
import {
  act,
  askForAccount,
  askForReset,
  logIn,
  logOut,
  openAccount,
  openLogin,
  registerWith,
  resetWith,
} from "../support/account-calls";
import { unknownVisitor } from "../support/accounts";
import { google, signInWithGoogle } from "../support/google-sign-in";
import { startLatchkey } from "../support/latchkey";
import { mailSentOutcome, registrationLink, resetLink } from "../support/mailed-links";
import { goodPassword, newPassword, twice } from "../support/passwords";
import { call, get, post } from "../support/route-calls";
import { statementsOf } from "../support/statements";

const latchkey = startLatchkey(google);
const email = "ada@example.com";

describe("SIGN_IN_REDIRECT=on", () => {
  const on = () => latchkey.configure({ ...google, SIGN_IN_REDIRECT: "on" });

  test("sends a guest of /login on to the provider, with the target", async () => {
    on();
    expect(await openLogin()).toMatchObject({ status: 302, location: "/auth/idp" });
    expect((await openLogin("?return_to=/hello")).location).toBe("/auth/idp?return_to=%2Fhello");
  });

  test.each(["signed_out", "password_reset", "idp_failed", "anything", ""])(
    "keeps the page for the notice %j",
    async (notice) => {
      on();
      expect((await openLogin(`?notice=${notice}`)).status).toBe(200);
    },
  );

  test("sends a signed-in user where a sign-in ends, and keeps a refused form's page", async () => {
    on();
    const cookie = await latchkey.signedIn();
    expect((await openLogin("", { cookie })).location).toBe("/dashboard");
    expect((await call(login.loader, post("/login", {}, { cookie }))).status).toBe(200);
  });

  test("keeps the page where the session's cookie comes twice: every sign-in would lead back here", async () => {
    on();
    const cookie = await latchkey.signedIn();
    expect((await openLogin("", { cookie: `session=planted; ${cookie}` })).status).toBe(200);
  });

  test("a logout ends where it says so, and not at the provider", async () => {
    const userId = await latchkey.createUser();
    const leave = async () => (await logOut(await latchkey.signedIn(userId))).location;
    expect(await leave()).toBe("/login");
    on();
    expect(await leave()).toBe("/login?notice=signed_out");
    expect((await openLogin("?notice=signed_out")).data).toMatchObject({ notice: "signed_out", idpEnabled: true });
  });
});

describe("PASSWORDS=off", () => {
  const off = (more = {}) => latchkey.configure({ ...google, PASSWORDS: "off", ...more });

  test("the pages about passwords answer as before, mail nothing and change nothing", async () => {
    await latchkey.createUser();
    const link = await resetLink(latchkey);
    const started = await registrationLink(latchkey);
    off();
    await latchkey.unchanged(async () => {
      for (const page of [forgotPassword, register]) expect((await call(page.loader, get("/"))).status).toBe(200);
      for (const ask of [askForReset, askForAccount]) expect(await ask(email)).toEqual(mailSentOutcome(email));
      const dead = await call(resetPassword.loader, get(`/reset-password?${new URLSearchParams(link)}`));
      expect([dead.status, dead.data.problem]).toEqual([200, "dead"]);
      const reset = { status: 422, data: { invalidLink: "This reset link is invalid or has expired." } };
      expect(await resetWith(link, newPassword)).toMatchObject(reset);
      const registration = { status: 422, data: { invalidLink: "This link is invalid or has expired." } };
      expect(await registerWith(started, newPassword)).toMatchObject(registration);
    });
    expect(await latchkey.jobs()).toEqual([]);
    latchkey.configure(google);
    expect((await resetWith(link, newPassword)).location).toBe("/login?notice=password_reset");
  });

  test("a request from before mails no link", async () => {
    await latchkey.createUser();
    await askForReset(email);
    await askForAccount("grace@example.com");
    off();
    await latchkey.drain();
    expect(latchkey.mails()).toEqual([]);
    expect(await latchkey.execute("select from password_resets union all select from registrations")).toEqual([]);
  });

  test("a login with the right password is answered as one with a wrong one", async () => {
    await latchkey.createUser();
    off();
    const refused = await logIn();
    expect(refused).toMatchObject({ status: 422, data: { message: "Email or password is incorrect." } });
    expect(refused.cookies).toEqual({});
    expect(latchkey.events().at(-1)).toEqual({ event: "login.failed", reason: "wrong_credentials" });
  });

  test("the login page has the provider alone, which is not marked", async () => {
    off({ APP_URL: "http://localhost" }); // another origin: no passkeys
    const page = await openLogin("", { cookie: "last_sign_in=provider" });
    expect(page.data).toMatchObject({ idpEnabled: true, registrationClosed: true, passkeys: false, lastUsed: null });
  });

  test("the account page has no password, and its actions for one are refused after any time, and change nothing", async () => {
    off();
    const cookie = await latchkey.signedIn({ idpId: "1001" });
    expect((await openAccount(cookie)).data.user).toMatchObject({ password: false, linked: true });
    await latchkey.execute("update sessions set created_at = now() - interval '1 hour'");
    const fields = { currentPassword: goodPassword, ...twice(newPassword) };
    for (const intent of ["send-password-link", "change-password"]) {
      const refused = await latchkey.unchanged(() => act(cookie, intent, fields));
      expect(refused).toMatchObject({ status: 422, data: { errors: { passwordLink: "Passwords are switched off." } } });
    }
  });

  test("a stored password does not count as a way in: the provider cannot be disconnected", async () => {
    off();
    const cookie = await latchkey.signedIn({ idpId: "1001" });
    const refused = await latchkey.unchanged(() => act(cookie, "unlink-provider"));
    const provider = "It cannot be disconnected: accounts come from this service.";
    expect(refused).toMatchObject({ status: 422, data: { errors: { provider } } });
  });

  test("an import keeps the hashes, which count again once passwords are on; the provider signs in", async () => {
    off();
    const passwordHash = await hashPassword(unknownVisitor, goodPassword);
    expect(await importUsers([JSON.stringify({ email, passwordHash })], () => {})).toEqual({ created: 1, skipped: 0 });
    const profile = { sub: "1001", email, email_verified: true };
    expect((await signInWithGoogle(profile)).location).toBe("/dashboard");
    latchkey.configure(google);
    expect((await logIn()).location).toBe("/dashboard");
  });

  const invite = async () => {
    await createUserWithoutPassword(email, null, true);
    await latchkey.drain();
    return latchkey.mails().at(-1);
  };

  test("an invitation names the provider and leads to /login", async () => {
    off({ REGISTRATION: "closed" });
    const mail = await invite();
    expect(mail).toMatchObject({ to: email, subject: "Your account with Latchkey" });
    expect(mail?.text).toBe(
      `An account was created for you: ${email}.\n\nYou sign in to it with Google:\n\nhttp://localhost:3000/login\n\nThis mail was sent by Latchkey.`,
    );
    expect(await latchkey.execute("select from password_resets")).toEqual([]);
  });

  test("with passwords, an invitation has the link to choose one, and where to ask for another", async () => {
    latchkey.configure({ ...google, REGISTRATION: "closed", DEFAULT_LOCALE: "de", BRAND_NAME: "Beispiel" });
    const sent = await statementsOf(invite);
    // The account is looked up once, and the end of the job writes what became of the mail.
    expect(sent.filter(({ text }) => /from "?users\b/.test(text))).toHaveLength(2);
    const mail = latchkey.mails().at(-1);
    expect(mail?.subject).toBe("Ihr Konto bei Beispiel");
    const { searchParams, pathname } = mail?.link ?? new URL("http://none");
    expect(pathname).toBe("/reset-password");
    expect(mail?.text).toContain("\n\nhttp://localhost:3000/forgot-password\n\n");
    const link = { email, token: searchParams.get("token") ?? "" };
    expect((await resetWith(link, goodPassword)).location).toBe("/login?notice=password_reset");
    expect((await logIn()).location).toBe("/dashboard");
  });

  test.each(["on", "off"])(
    "with PASSWORDS=%s, an account that is suspended before the mail gets no invitation",
    async (on) => {
      off({ PASSWORDS: on });
      const user = await createUserWithoutPassword(email, null, true);
      await suspendUser(user?.id ?? "");
      await latchkey.drain();
      expect([latchkey.mails(), await latchkey.jobs()]).toEqual([[], []]);
    },
  );
});

test("IDP_NAME names the provider on buttons and in mails", async () => {
  const oidc = { IDP_PROVIDER: "oidc", IDP_ISSUER: "https://sso.example" };
  const provider = async () => (await openLogin()).data.provider;
  latchkey.configure({ ...google, ...oidc });
  expect(await provider()).toBe("single sign-on");
  latchkey.configure({ ...google, ...oidc, IDP_NAME: "Example ID" });
  expect(await provider()).toBe("Example ID");
  expect(noticeMail({ task: "mail_provider_linked", email, language: "de" }, "de").subject).toContain("Example ID");
});

describe("SESSION_IDLE and SESSION_MAX", () => {
  const hour = 3_600_000; // ms
  const lifetime = async () => {
    const [row] = await latchkey.execute<{ created_at: string; expires_at: string }>("select * from sessions");
    return Date.parse(row!.expires_at) - Date.parse(row!.created_at);
  };

  test("end a session after that many hours without use, and from the sign-in", async () => {
    latchkey.configure({ SESSION_IDLE: "2", SESSION_MAX: "10" });
    await latchkey.createUser();
    const signedIn = await logIn();
    const cookie = `session=${signedIn.cookies.session}`;
    expect(await lifetime()).toBe(10 * hour);
    await latchkey.execute("update sessions set last_seen_at = now() - interval '119 minutes'");
    expect((await openAccount(cookie)).status).toBe(200);
    await latchkey.execute("update sessions set last_seen_at = now() - interval '121 minutes'");
    expect((await openAccount(cookie)).location).toBe("/login");
  });

  test("a session in use stays: its last use is written once in a twelfth of SESSION_IDLE", async () => {
    latchkey.configure({ SESSION_IDLE: "2" });
    const cookie = await latchkey.signedIn();
    const lastSeen = async () =>
      (await latchkey.execute<{ last_seen_at: string }>("select * from sessions"))[0]!.last_seen_at;
    await latchkey.execute("update sessions set last_seen_at = now() - interval '9 minutes'");
    const before = await lastSeen();
    await openAccount(cookie);
    expect(await lastSeen()).toEqual(before);
    await latchkey.execute("update sessions set last_seen_at = now() - interval '11 minutes'");
    await openAccount(cookie);
    expect(Date.now() - Date.parse(await lastSeen())).toBeLessThan(60_000);
  });

  test("hold for sessions that exist: the next start shortens them, and lengthens none", async () => {
    await latchkey.signedIn();
    latchkey.configure({ SESSION_MAX: "24" });
    await capSessions(latchkey.em());
    expect(await lifetime()).toBe(24 * hour);
    latchkey.configure({ SESSION_MAX: "48" });
    await capSessions(latchkey.em());
    expect(await lifetime()).toBe(24 * hour);
  });
});
