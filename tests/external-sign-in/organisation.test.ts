import { beforeEach, describe, expect, test } from "vitest";
import { hashPassword } from "#server/accounts/passwords/password-hashing";
import { capSessions } from "#server/accounts/sessions/sessions";
import { suspendUser } from "#server/features/operator/user-access";
import { createUserWithoutPassword } from "#server/features/operator/user-administration";
import { importUsers } from "#server/features/operator/user-import";
import { noticeMail } from "#server/features/owner/notices";
import * as forgotPassword from "~/routes/forgot-password";
import * as login from "~/routes/login";
import * as logout from "~/routes/logout";
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

  test.each([
    ["", "/auth/idp"],
    ["?return_to=/hello", "/auth/idp?return_to=%2Fhello"],
  ])("sends a guest of /login%s on to %s", async (query, location) => {
    on();
    expect(await openLogin(query)).toMatchObject({ status: 302, location });
  });

  test.each(["signed_out", "password_reset", "idp_failed", "anything", ""])(
    "keeps the page for the notice %j",
    async (notice) => {
      on();
      expect((await openLogin(`?notice=${notice}`)).status).toBe(200);
    },
  );

  test("sends a signed-in user where a sign-in ends", async () => {
    on();
    const cookie = await latchkey.signedIn();
    expect((await openLogin("", { cookie })).location).toBe("/dashboard");
  });

  test("keeps a refused form's page", async () => {
    on();
    const cookie = await latchkey.signedIn();
    expect((await call(login.loader, post("/login", {}, { cookie }))).status).toBe(200);
  });

  test("keeps the page where the session's cookie comes twice: every sign-in would lead back here", async () => {
    on();
    const cookie = await latchkey.signedIn();
    expect((await openLogin("", { cookie: `session=planted; ${cookie}` })).status).toBe(200);
  });

  test("a logout ends at a page that says so", async () => {
    on();
    expect((await logOut(await latchkey.signedIn())).location).toBe("/login?notice=signed_out");
    expect((await openLogin("?notice=signed_out")).data).toMatchObject({ notice: "signed_out", idpEnabled: true });
  });

  test("a link to log out without a session ends there, too, and no sign-in follows", async () => {
    on();
    const { location } = await call(logout.loader, get("/logout?return_to=/notes"));
    expect(location).toBe("/login?notice=signed_out&return_to=%2Fnotes");
    expect((await openLogin("?notice=signed_out&return_to=%2Fnotes")).status).toBe(200);
  });

  test("a logout without it ends at the login page", async () => {
    expect((await logOut(await latchkey.signedIn())).location).toBe("/login");
  });
});

describe("PASSWORDS=off", () => {
  const off = (more = {}) => latchkey.configure({ ...google, PASSWORDS: "off", ...more });

  describe("the pages about passwords", () => {
    let links: Record<"reset" | "registration", { email: string; token: string }>;

    beforeEach(async () => {
      await latchkey.createUser();
      links = { reset: await resetLink(latchkey), registration: await registrationLink(latchkey) };
      off();
    });

    test.each([
      ["forgot-password", forgotPassword],
      ["register", register],
    ])("are there: /%s", async (_name, page) => {
      expect((await latchkey.unchanged(() => call(page.loader, get("/")))).status).toBe(200);
    });

    test.each([
      ["a reset", askForReset],
      ["an account", askForAccount],
    ])("answer a request for %s as before", async (_what, ask) => {
      expect(await latchkey.unchanged(() => ask(email))).toEqual(mailSentOutcome(email));
      expect(await latchkey.jobs()).toEqual([]);
    });

    test("say that a reset link is dead", async () => {
      const path = `/reset-password?${new URLSearchParams(links.reset)}`;
      const dead = await latchkey.unchanged(() => call(resetPassword.loader, get(path)));
      expect([dead.status, dead.data.problem]).toEqual([200, "dead"]);
    });

    test("refuse a reset", async () => {
      const reset = { status: 422, data: { invalidLink: "This reset link is invalid or has expired." } };
      expect(await latchkey.unchanged(() => resetWith(links.reset, newPassword))).toMatchObject(reset);
    });

    test("refuse a registration", async () => {
      const registration = { status: 422, data: { invalidLink: "This link is invalid or has expired." } };
      expect(await latchkey.unchanged(() => registerWith(links.registration, newPassword))).toMatchObject(registration);
    });

    test("keep a link for the time when passwords are on again", async () => {
      await resetWith(links.reset, newPassword);
      latchkey.configure(google);
      expect((await resetWith(links.reset, newPassword)).location).toBe("/login?notice=password_reset");
    });
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

  test("the login page has the provider alone", async () => {
    off({ APP_URL: "http://localhost" }); // another origin: no passkeys
    const page = await openLogin("", { cookie: "last_sign_in=provider" });
    expect(page.data).toMatchObject({ idpEnabled: true, hasRegistration: false, passkeys: false, lastUsed: null });
  });

  test("the account page has no password", async () => {
    off();
    const cookie = await latchkey.signedIn({ idpId: "1001" });
    expect((await openAccount(cookie)).data.user).toMatchObject({ hasPassword: false, isLinked: true });
  });

  test.each(["send-password-link", "change-password"])(
    "the account page refuses %s an hour after the sign-in",
    async (intent) => {
      off();
      const cookie = await latchkey.signedIn({ idpId: "1001" });
      await latchkey.execute("update sessions set created_at = now() - interval '1 hour'");
      const fields = { currentPassword: goodPassword, ...twice(newPassword) };
      const refused = await latchkey.unchanged(() => act(cookie, intent, fields));
      expect(refused).toMatchObject({ status: 422, data: { errors: { passwordLink: "Passwords are switched off." } } });
    },
  );

  test("a stored password does not count as a way in: the provider cannot be disconnected", async () => {
    off();
    const cookie = await latchkey.signedIn({ idpId: "1001" });
    const refused = await latchkey.unchanged(() => act(cookie, "unlink-provider"));
    const provider = "It cannot be disconnected: accounts come from this service.";
    expect(refused).toMatchObject({ status: 422, data: { errors: { provider } } });
  });

  describe("an import with a hash", () => {
    beforeEach(async () => {
      off();
      const passwordHash = await hashPassword(unknownVisitor, goodPassword);
      const imported = await importUsers([JSON.stringify({ email, passwordHash })], () => {});
      expect(imported).toEqual({ created: 1, skipped: 0, uninvited: 0 });
    });

    test("makes an account that signs in by the provider", async () => {
      expect((await signInWithGoogle({ sub: "1001", email, email_verified: true })).location).toBe("/dashboard");
    });

    test("keeps the hash for the time when passwords are on", async () => {
      await signInWithGoogle({ sub: "1001", email, email_verified: true });
      latchkey.configure(google);
      expect((await logIn()).location).toBe("/dashboard");
    });
  });

  const invite = async () => {
    await createUserWithoutPassword(email, null, true);
    await latchkey.drain();
    return latchkey.mails().at(-1);
  };

  test("an invitation leads to a sign-in at the provider", async () => {
    off({ REGISTRATION: "closed" });
    const mail = await invite();
    expect(mail).toMatchObject({ to: email, subject: "Your account with Latchkey" });
    expect(mail?.text).toBe(
      `An account was created for you: ${email}.\n\nYou sign in to it with Google:\n\nhttp://localhost:3000/login\n\nThis mail was sent by Latchkey.`,
    );
    expect(await latchkey.execute("select from password_resets")).toEqual([]);
  });

  describe("with passwords an invitation", () => {
    let sent: Awaited<ReturnType<typeof statementsOf>>;
    const mail = () => latchkey.mails().at(-1);

    beforeEach(async () => {
      latchkey.configure({ ...google, REGISTRATION: "closed", DEFAULT_LOCALE: "de", BRAND_NAME: "Beispiel" });
      sent = await statementsOf(invite);
    });

    test("is in the default language", () => {
      expect(mail()?.subject).toBe("Ihr Konto bei Beispiel");
    });

    test("looks the account up once", () => {
      // The end of the job writes what became of the mail.
      expect(sent.filter(({ text }) => /from "?users\b/.test(text))).toHaveLength(2);
    });

    test("says where to ask for another", () => {
      expect(mail()?.text).toContain("\n\nhttp://localhost:3000/forgot-password\n\n");
    });

    test("has the link to choose a password", async () => {
      const { searchParams, pathname } = mail()?.link ?? new URL("http://none");
      expect(pathname).toBe("/reset-password");
      const link = { email, token: searchParams.get("token") ?? "" };
      expect((await resetWith(link, goodPassword)).location).toBe("/login?notice=password_reset");
      expect((await logIn()).location).toBe("/dashboard");
    });
  });

  test.each(["on", "off"])(
    "with PASSWORDS=%s an account that is suspended before the mail gets no invitation",
    async (on) => {
      off({ PASSWORDS: on });
      const user = await createUserWithoutPassword(email, null, true);
      await suspendUser(user?.id ?? "");
      await latchkey.drain();
      expect([latchkey.mails(), await latchkey.jobs()]).toEqual([[], []]);
    },
  );
});

describe("IDP_NAME", () => {
  const oidc = { ...google, IDP_PROVIDER: "oidc", IDP_ISSUER: "https://sso.example" };
  const provider = async () => (await openLogin()).data.provider;

  test("names the provider on buttons", async () => {
    latchkey.configure({ ...oidc, IDP_NAME: "Example ID" });
    expect(await provider()).toBe("Example ID");
  });

  test("names the provider in mails", () => {
    latchkey.configure({ ...oidc, IDP_NAME: "Example ID" });
    expect(noticeMail({ task: "mail_provider_linked", email, language: "de" }, "de").subject).toContain("Example ID");
  });

  test("is a general name unless it is set", async () => {
    latchkey.configure(oidc);
    expect(await provider()).toBe("single sign-on");
  });
});

describe("SESSION_IDLE and SESSION_MAX", () => {
  const hour = 3_600_000; // ms
  const lifetime = async () => {
    const [row] = await latchkey.execute<{ created_at: string; expires_at: string }>("select * from sessions");
    return Date.parse(row!.expires_at) - Date.parse(row!.created_at);
  };

  test("end a session that many hours after the sign-in", async () => {
    latchkey.configure({ SESSION_IDLE: "2", SESSION_MAX: "10" });
    await latchkey.createUser();
    await logIn();
    expect(await lifetime()).toBe(10 * hour);
  });

  test.each([
    ["keep a session for that many hours", 119, { status: 200, location: null }],
    ["end a session after that many hours", 121, { location: "/login" }],
  ])("%s without use", async (_what, minutes, opened) => {
    latchkey.configure({ SESSION_IDLE: "2", SESSION_MAX: "10" });
    const cookie = await latchkey.signedIn();
    await latchkey.execute("update sessions set last_seen_at = now() - ? * interval '1 minute'", [minutes]);
    expect(await openAccount(cookie)).toMatchObject(opened);
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

  describe("at the next start", () => {
    beforeEach(async () => {
      await latchkey.signedIn();
      latchkey.configure({ SESSION_MAX: "24" });
      await capSessions(latchkey.em());
    });

    test("shorten the sessions that exist", async () => {
      expect(await lifetime()).toBe(24 * hour);
    });

    test("lengthen no session", async () => {
      latchkey.configure({ SESSION_MAX: "48" });
      await capSessions(latchkey.em());
      expect(await lifetime()).toBe(24 * hour);
    });
  });
});
