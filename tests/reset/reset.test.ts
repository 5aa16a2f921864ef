import { describe, expect, test } from "vitest";
import { authenticate, startVerifiedSession } from "#server/features/visitor/login";
import { passwordProblem } from "#server/features/visitor/password-policy";
import * as resetPassword from "~/routes/reset-password";
import { askForReset, logIn, openAccount, openLogin, resetWith } from "../support/account-calls";
import { unknownVisitor } from "../support/accounts";
import { startLatchkey } from "../support/latchkey";
import { expectInvalidLink, type MailedLink, resetLink } from "../support/mailed-links";
import { goodPassword, newPassword, twice } from "../support/passwords";
import { call, get } from "../support/route-calls";
import { sha256 } from "../support/sha256";

const latchkey = startLatchkey();

const password = newPassword;

const expectInvalid = (link: MailedLink) =>
  expectInvalidLink(latchkey, () => resetWith(link, password), link, "This reset link is invalid or has expired.");

describe("asking for a link", () => {
  const askForBoth = async () => {
    await latchkey.createUser({ email: "known-name@example.com" });
    for (const email of ["unknown-name@example.com", "known-name@example.com"]) await askForReset(email);
  };

  test("is logged alike for a known address as for an unknown one", async () => {
    await askForBoth();
    expect(latchkey.events()).toEqual(Array(2).fill({ event: "password_reset.requested" }));
  });

  test("logs no address", async () => {
    await askForBoth();
    await latchkey.drain();
    expect(latchkey.logLines().join("")).not.toMatch(/@|%40|known-name/);
  });

  test("mails nobody at an unknown address", async () => {
    await askForBoth();
    await latchkey.drain();
    expect(latchkey.mails().map(({ to }) => to)).toEqual(["known-name@example.com"]);
  });

  test("stores no token for an unknown address", async () => {
    await askForBoth();
    await latchkey.drain();
    expect(await latchkey.execute("select email from password_resets")).toEqual([{ email: "known-name@example.com" }]);
  });

  test("leaves no job behind", async () => {
    await askForBoth();
    await latchkey.drain();
    expect(await latchkey.jobs()).toEqual([]);
  });

  test("mails a link of the configured origin", { tags: "CVE-2025-64101" }, async () => {
    latchkey.configure({ APP_URL: "https://latchkey.example" });
    await latchkey.createUser({ email: "ada+1@example.com" });
    const evil = { headers: { "X-Forwarded-Host": "evil.example" }, facts: { origin: "https://evil.example" } };
    await askForReset("ADA+1@example.com", evil);
    await latchkey.drain();
    const [mail, ...more] = latchkey.mails();
    expect(more).toEqual([]);
    const token = mail?.link?.searchParams.get("token") ?? "";
    expect(token).toMatch(/^[0-9a-f]{64}$/);
    expect(mail).toMatchObject({ to: "ada+1@example.com", subject: "Reset your password" });
    const link = `https://latchkey.example/reset-password?email=ada%2B1%40example.com&token=${token}`;
    expect(mail?.text).toBe(
      `Reset your password:\n\n${link}\n\nThis link expires in 60 minutes.\n\nIf you did not ask for this, you can ignore this mail.\n\nThis mail was sent by Latchkey.`,
    );
  });
});

test("the form of a link is not only for guests", async () => {
  const cookie = await latchkey.signedIn();
  const opened = await call(resetPassword.loader, get("/reset-password?email=x&token=y", { cookie }));
  expect(opened).toMatchObject({ status: 200, data: { email: "x", token: "y" } });
});

test("the link of a deleted account changes nothing", async () => {
  const link = { email: "ada@example.com", token: "ab".repeat(32) };
  const row = `('${sha256(link.token)}', '${link.email}', now() + interval '1 hour')`;
  await latchkey.execute(`insert into password_resets values ${row}`);
  await expectInvalid(link);
});

describe("posting a new password", () => {
  test("lets the owner log in with it", async () => {
    await latchkey.createUser();
    await resetWith(await resetLink(latchkey), password);
    expect(await logIn({ password })).toMatchObject({ status: 302, location: "/dashboard" });
  });

  test("makes the password before useless", async () => {
    await latchkey.createUser();
    await resetWith(await resetLink(latchkey), password);
    expect((await logIn()).status).toBe(422);
  });

  test("changes the password of no other account", async () => {
    await latchkey.createUser();
    await latchkey.createUser({ email: "bob@example.com" });
    await resetWith(await resetLink(latchkey), password);
    expect((await logIn({ email: "bob@example.com" })).status).toBe(302);
  });

  test("ends at the login page with a notice", async () => {
    await latchkey.createUser();
    const done = await resetWith(await resetLink(latchkey), password);
    expect(done).toMatchObject({ status: 302, location: "/login?notice=password_reset" });
  });

  test("leaves the address to the login page, which fills it in", async () => {
    await latchkey.createUser({ email: "o'ada+x@example.com" });
    const done = await resetWith(await resetLink(latchkey, "o'ada+x@example.com"), password);
    const cookie = `login-address=${done.cookies["login-address"]}`;
    expect((await openLogin("?notice=password_reset", { cookie })).data.email).toBe("o'ada+x@example.com");
    const login = await logIn({ email: "o'ada+x@example.com", password, cookie });
    expect(login.cookies["login-address"]).toBe("");
  });

  test("signs nobody in", async () => {
    await latchkey.createUser();
    const done = await resetWith(await resetLink(latchkey), password);
    expect(Object.keys(done.cookies)).toEqual(["device", "login-address"]);
    expect(await latchkey.execute("select * from sessions")).toEqual([]);
  });

  test("ends every session of the account", { tags: "7.4.3" }, async () => {
    const cookies = [await latchkey.signedIn(await latchkey.createUser())];
    cookies.push(`session=${(await logIn()).cookies.session}`);
    await resetWith(await resetLink(latchkey), password);
    for (const cookie of cookies) expect(await openAccount(cookie)).toMatchObject({ location: "/login" });
  });

  test("ends no session of another account", async () => {
    await latchkey.createUser();
    const bobs = await latchkey.signedIn({ email: "bob@example.com" });
    await resetWith(await resetLink(latchkey), password);
    expect(await openAccount(bobs)).toMatchObject({ status: 200 });
  });

  test("makes every link of the address invalid", {
    tags: ["6.4.3", "CVE-2026-22706"],
  }, async () => {
    await latchkey.createUser();
    const links = [await resetLink(latchkey), await resetLink(latchkey), await resetLink(latchkey)] as const;
    await resetWith(links[1], password);
    for (const link of links) await expectInvalid(link);
  });

  test("leaves the links of other addresses", async () => {
    await latchkey.createUser();
    await latchkey.createUser({ email: "bob@example.com" });
    const bobs = await resetLink(latchkey, "bob@example.com");
    await resetWith(await resetLink(latchkey), password);
    expect((await resetWith(bobs, password)).status).toBe(302);
  });

  test("sends a mail to the owner whose links contain no token", async () => {
    await latchkey.createUser();
    await resetWith(await resetLink(latchkey), password);
    const job = {
      task: "mail_password_changed",
      email: "ada@example.com",
      language: "en",
      questioned: { passkeys: [], provider: false },
    };
    expect(await latchkey.jobs()).toEqual([job]);
    await latchkey.drain();
    expect(latchkey.mails()).toHaveLength(2);
    expect(latchkey.mails()[1]).toMatchObject({
      to: "ada@example.com",
      subject: "Your password was changed",
      link: null,
      text: expect.stringContaining("http://localhost:3000/forgot-password"),
    });
  });

  test("gives a password to an account that had only an external sign-in", async () => {
    await latchkey.createUser({ password: null, idpId: "42" });
    await resetWith(await resetLink(latchkey), password);
    expect((await logIn({ password })).status).toBe(302);
  });

  test("keeps an account connected to the provider", async () => {
    await latchkey.createUser({ password: null, idpId: "42" });
    await resetWith(await resetLink(latchkey), password);
    expect(await latchkey.execute("select idp_id from users")).toEqual([{ idp_id: "42" }]);
  });

  const block = async (email: string) => {
    for (let count = 0; count < 10; count++) await logIn({ email, password: "wrong" });
    expect((await logIn({ email })).status).toBe(429);
  };

  test("lets a blocked address log in again", async () => {
    await latchkey.createUser();
    await block("ada@example.com");
    await resetWith(await resetLink(latchkey), password);
    expect((await logIn({ password })).status).toBe(302);
  });

  test("keeps another address blocked", async () => {
    await latchkey.createUser();
    await block("bob@example.com");
    await resetWith(await resetLink(latchkey), password);
    expect((await logIn({ email: "bob@example.com", password })).status).toBe(429);
  });
});

describe("a new password", () => {
  test("is refused only among the ten thousand most common", { tags: "6.2.4" }, async () => {
    const { dictionary } = await import("@zxcvbn-ts/language-common");
    const isLong = (word: string) => word.length >= 8;
    const last = dictionary.passwords.slice(0, 10_000).findLast(isLong)!;
    const next = dictionary.passwords.slice(10_000).find(isLong)!;
    const problemOf = (word: string) => passwordProblem({ email: "ada@example.com", ...twice(word) });
    expect([await problemOf(last), await problemOf(next)]).toEqual(["common", null]);
  });

  test.each([
    ["eight characters in 16 code units", "😀🐢🐙🦊🐸🐳🦉🐝"],
    ["256 characters", `${"long ".repeat(51)}x`],
    ["spaces at both ends", "  spaces at both ends  "],
  ])("%s are accepted unchanged", { tags: ["6.2.5", "6.2.8", "6.2.9"] }, async (_what, taken) => {
    await latchkey.createUser();
    const link = await resetLink(latchkey);
    expect((await resetWith(link, taken)).status).toBe(302);
    expect((await logIn({ password: taken.trim().slice(0, -1) })).status).toBe(422);
    expect((await logIn({ password: taken })).status).toBe(302);
  });
});

test("a login verified before a reset but finished after it starts no session", async () => {
  await latchkey.createUser();
  const link = await resetLink(latchkey);
  const verified = await authenticate(unknownVisitor, { email: "ada@example.com", password: goodPassword });
  if (!verified) throw new Error("The password is right.");
  await resetWith(link, password);
  expect(await startVerifiedSession(unknownVisitor, verified)).toBeNull();
  expect(latchkey.events().at(-1)).toEqual({ event: "login.failed", reason: "account_changed" });
  expect(await latchkey.execute("select * from sessions")).toEqual([]);
});
