import { describe, expect, test } from "vitest";
import { authenticate, logIn as finishLogin } from "#server/features/login.server";
import { passwordProblem } from "#server/features/password-policy.server";
import { resetPassword as resetPasswordOf } from "#server/features/password-reset.server";
import * as dashboard from "~/routes/dashboard";
import * as forgotPassword from "~/routes/forgot-password";
import * as login from "~/routes/login";
import * as resetPassword from "~/routes/reset-password";
import { createUser, goodPassword, signedIn, unknownBrowser, unknownOrigin } from "../support/accounts";
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
const invalidLinkMessage = "This reset link is invalid or has expired.";

/** An address of 254 characters, 64 of them before the `@`, with labels of 63. */
const longest = `${"a".repeat(64)}@${"b".repeat(63)}.${"c".repeat(63)}.${"d".repeat(57)}.com`;

const forgot = (fields: Record<string, string> | [string, string][], headers: Record<string, string> = {}) =>
  call(forgotPassword.action, post("/forgot-password", fields, { headers }));

const reset = (fields: Record<string, string> | [string, string][]) =>
  call(resetPassword.action, post("/reset-password", fields));

const logIn = (email: string, password: string) => call(login.action, post("/login", { email, password }));

const expectInvalid = (link: MailedLink) => expectInvalidLink(latchkey, reset, link, invalidLinkMessage);

describe("asking for a link", () => {
  test("enqueues one job with only the address, with and without an account", async () => {
    await createUser(latchkey.em());
    for (const email of [" Ada@EXAMPLE.com ", "nobody@example.com"]) {
      expect(await forgot({ email })).toEqual(mailSentOutcome(email));
    }
    expect(await latchkey.jobs()).toEqual([
      { task: "mail_password_reset", email: "ada@example.com", language: "en" },
      { task: "mail_password_reset", email: "nobody@example.com", language: "en" },
    ]);
    expect(await latchkey.execute("select * from password_resets")).toEqual([]);
  });

  test("an unknown address sends no mail, stores no token and is logged as a known one until the mail", async () => {
    await createUser(latchkey.em());
    await forgot({ email: "nobody@example.com" });
    await latchkey.drain();
    expect(log.events()).toEqual([{ event: "password_reset.requested" }]);
    expect(latchkey.mails()).toEqual([]);
    expect(await latchkey.execute("select * from password_resets")).toEqual([]);
    expect(await latchkey.jobs()).toEqual([]);
  });

  test("neither the request nor the job logs the address, known or not", async () => {
    await createUser(latchkey.em(), { email: "known-name@example.com" });
    for (const email of ["known-name@example.com", "unknown-name@example.com"]) await forgot({ email });
    await latchkey.drain();
    expect(latchkey.mails()).toHaveLength(1);
    expect(log.events().map(({ event }) => event)).toEqual([
      "password_reset.requested",
      "password_reset.requested",
      "password_reset.sent",
    ]);
    expect(log.lines().join("")).not.toMatch(/@|%40|known-name/);
  });

  test.each([
    "",
    "ada",
    "ada@",
    "@example.com",
    "ada@example",
    "ada@@example.com",
    "ada@example.com, eve@example.com",
    "ada@example.com\r\nBcc: eve@example.com",
    "ada@example.com%0abcc:eve@example.com",
    "ada@example.com\0",
    "ada@examp\u212ae.com",
    "\u0131da@example.com",
    ".ada@example.com",
    "ada.@example.com",
    "ada@-example.com",
    "ada@example-.com",
    "ada@example.c-",
    `ada@${"a".repeat(64)}.com`,
    `ada@example.${"a".repeat(64)}`,
    `${"a".repeat(65)}@example.com`,
    `${longest}m`,
  ])("%j is not an address: the same page, no job, no change", async (email) => {
    await createUser(latchkey.em());
    const before = await latchkey.snapshot();
    expect(await forgot({ email })).toEqual(mailSentOutcome(email));
    expect(await latchkey.snapshot()).toEqual(before);
  });

  test.each(["a@b.c", "o'brien+tag.of.mine@a-b.c.example.co", longest])("%j is an address: a job", async (email) => {
    expect(await forgot({ email })).toEqual(mailSentOutcome(email));
    expect(await latchkey.jobs()).toEqual([{ task: "mail_password_reset", email, language: "en" }]);
  });

  test("a missing or repeated address is answered with the same page and changes nothing", async () => {
    await createUser(latchkey.em());
    const before = await latchkey.snapshot();
    expect(await forgot({})).toMatchObject({ status: 200, data: { status: "sent" } });
    const repeated: [string, string][] = [
      ["email", "ada@example.com"],
      ["email", "eve@example.com"],
    ];
    expect(await forgot(repeated)).toMatchObject({ status: 200, data: { status: "sent" } });
    expect(await latchkey.snapshot()).toEqual(before);
  });

  test("mails a link on the configured origin, not the request's, to the stored address", async () => {
    latchkey.configure({ APP_URL: "https://latchkey.example" });
    await createUser(latchkey.em(), { email: "ada+1@example.com" });
    await forgot(
      { email: "ADA+1@example.com" },
      { Host: "evil.example", "X-Forwarded-Host": "evil.example", "latchkey-origin": "https://evil.example" },
    );
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

  test("stores the SHA-256 of the token's text, the address and an expiry in one hour", async () => {
    await createUser(latchkey.em());
    const earliest = Date.now() + 3_600_000;
    const { token } = await resetLink(latchkey);
    const latest = Date.now() + 3_600_000;
    const rows = await latchkey.execute<{ expires_at: string }>("select * from password_resets");
    expect(rows).toEqual([{ token_hash: sha256(token), email: "ada@example.com", expires_at: expect.anything() }]);
    const expiry = new Date(rows[0]?.expires_at ?? 0).getTime();
    expect(expiry).toBeGreaterThanOrEqual(earliest);
    expect(expiry).toBeLessThanOrEqual(latest);
  });

  test("each request creates a new token, and all stay valid", async () => {
    await createUser(latchkey.em());
    const tokens = new Set<string>();
    for (let count = 0; count < 3; count++) tokens.add((await resetLink(latchkey)).token);
    expect(tokens.size).toBe(3);
    const rows = await latchkey.execute<{ token_hash: string }>("select token_hash from password_resets");
    expect(new Set(rows.map((row) => row.token_hash))).toEqual(new Set([...tokens].map(sha256)));
  });
});

describe("the limits of reset mails", () => {
  test("the sixth request for an address within 15 minutes is answered with the same page and sends no mail", async () => {
    await createUser(latchkey.em());
    await createUser(latchkey.em(), { email: "bob@example.com" });
    const answers = [];
    for (let count = 0; count < 7; count++) answers.push(await forgot({ email: "ada@example.com" }));
    for (const answer of answers) expect(answer).toEqual(answers[0]);
    expect(await latchkey.jobs()).toHaveLength(5);
    await forgot({ email: "bob@example.com" });
    await latchkey.drain();
    expect(latchkey.mails().map(({ to }) => to)).toEqual([...Array(5).fill("ada@example.com"), "bob@example.com"]);
  });

  test("all spellings of an address have one limit", async () => {
    for (const email of [
      "ada@example.com",
      "ADA@example.com",
      " ada@example.com",
      "Ada@Example.com",
      "ada@EXAMPLE.com",
    ]) {
      await forgot({ email });
    }
    await forgot({ email: "aDa@example.com" });
    expect(await latchkey.jobs()).toHaveLength(5);
  });

  test("the limit of the address ends after 15 minutes, and not before", async () => {
    for (let count = 0; count < 6; count++) await forgot({ email: "ada@example.com" });
    const age = (milliseconds: number) => latchkey.execute(`update rate_limits set expire = expire - ${milliseconds}`);
    await age(14 * 60_000);
    await forgot({ email: "ada@example.com" });
    expect(await latchkey.jobs()).toHaveLength(5);
    await age(60_000);
    await forgot({ email: "ada@example.com" });
    expect(await latchkey.jobs()).toHaveLength(6);
  });

  test("the fifty-first request of a client sends no mail; another client is not limited", async () => {
    const from = (client: string, count: number) =>
      forgot({ email: `user${count}@example.com` }, { "latchkey-client": client });
    for (let count = 0; count < 50; count++) await from("192.0.2.1", count);
    expect(await latchkey.jobs()).toHaveLength(50);
    expect(await from("192.0.2.1", 50)).toMatchObject({ status: 200, data: { status: "sent" } });
    expect(await latchkey.jobs()).toHaveLength(50);
    await from("192.0.2.2", 51);
    expect(await latchkey.jobs()).toHaveLength(51);
  });

  test("twelve simultaneous requests for one address enqueue five mails", async () => {
    await Promise.all(Array.from({ length: 12 }, () => forgot({ email: "ada@example.com" })));
    expect(await latchkey.jobs()).toHaveLength(5);
  });
});

describe("opening a link", () => {
  test("pre-fills the form from the query, does not look up the token and changes nothing", async () => {
    const id = await createUser(latchkey.em());
    const cookie = await signedIn(latchkey.em(), id);
    const { email, token } = await resetLink(latchkey);
    const before = await latchkey.snapshot();
    const query = new URLSearchParams({ email, token });
    for (const method of ["GET", "HEAD"]) {
      const opened = new Request(get(`/reset-password?${query}`, { cookie }), { method });
      expect(await call(resetPassword.loader, opened)).toMatchObject({ status: 200, data: { email, token } });
    }
    expect(await call(resetPassword.loader, get("/reset-password?email=x&token=y"))).toMatchObject({
      status: 200,
      data: { email: "x", token: "y" },
    });
    expect(await call(resetPassword.loader, get("/reset-password"))).toMatchObject({ data: { email: "", token: "" } });
    expect(await latchkey.snapshot()).toEqual(before);
  });
});

describe("posting a new password", () => {
  test("stores it, deletes every link of the address, ends every session and redirects to the login page", async () => {
    const id = await createUser(latchkey.em());
    const bob = await createUser(latchkey.em(), { email: "bob@example.com" });
    const cookie = await signedIn(latchkey.em(), id);
    await signedIn(latchkey.em(), id);
    await signedIn(latchkey.em(), bob);
    const bobs = await resetLink(latchkey, "bob@example.com");
    const links = [await resetLink(latchkey), await resetLink(latchkey), await resetLink(latchkey)] as const;

    const done = await reset({ ...links[1], ...newPassword });
    expect(done).toMatchObject({ status: 302, location: "/login?notice=password_reset" });
    expect(Object.keys(done.cookies)).toEqual(["device"]);
    expect(await latchkey.execute("select user_id from sessions")).toEqual([{ user_id: bob }]);
    expect(await latchkey.execute("select token_hash from password_resets")).toEqual([
      { token_hash: sha256(bobs.token) },
    ]);
    for (const link of links) await expectInvalid(link);
    expect(await call(dashboard.loader, get("/dashboard", { cookie }))).toMatchObject({ location: "/login" });
    expect((await logIn("ada@example.com", goodPassword)).status).toBe(422);
    expect(await logIn("ada@example.com", password)).toMatchObject({ status: 302, location: "/dashboard" });
    expect((await logIn("bob@example.com", goodPassword)).status).toBe(302);
  });

  test("sends a mail to the owner whose links contain no token", async () => {
    await createUser(latchkey.em());
    const link = await resetLink(latchkey);
    await reset({ ...link, ...newPassword });
    expect(await latchkey.jobs()).toEqual([
      { task: "mail_password_changed", email: "ada@example.com", language: "en" },
    ]);
    await latchkey.drain();
    expect(latchkey.mails()).toHaveLength(2);
    expect(latchkey.mails()[1]).toMatchObject({
      to: "ada@example.com",
      subject: "Your password was changed",
      link: null,
      text: expect.stringContaining("http://localhost:3000/forgot-password"),
    });
  });

  test("sets the password of an account that had only an external sign-in, and keeps it linked", async () => {
    await createUser(latchkey.em(), { password: null, idpId: "42" });
    expect((await reset({ ...(await resetLink(latchkey)), ...newPassword })).status).toBe(302);
    expect(await latchkey.execute("select idp_id from users")).toEqual([{ idp_id: "42" }]);
    expect((await logIn("ada@example.com", password)).status).toBe(302);
  });

  test("resets the count of failed logins of its address, and of no other", async () => {
    await createUser(latchkey.em());
    for (const email of ["ada@example.com", "bob@example.com"]) {
      for (let count = 0; count < 10; count++) await logIn(email, "wrong");
    }
    expect((await logIn("ada@example.com", goodPassword)).status).toBe(429);
    await reset({ ...(await resetLink(latchkey)), ...newPassword });
    expect((await logIn("ada@example.com", password)).status).toBe(302);
    expect((await logIn("bob@example.com", password)).status).toBe(429);
  });

  test("accepts the address in capitals and with surrounding spaces", async () => {
    await createUser(latchkey.em());
    const { token } = await resetLink(latchkey);
    expect((await reset({ email: " ADA@Example.com ", token, ...newPassword })).status).toBe(302);
  });
});

describe("an invalid link", () => {
  test("with any other spelling of the token is refused and changes nothing", async () => {
    await createUser(latchkey.em());
    const { email, token } = await resetLink(latchkey);
    const spellings = [
      token.toUpperCase(),
      token.slice(1),
      token.slice(0, -1),
      `${token}0`,
      `0${token}`,
      ` ${token}`,
      `${token} `,
      `${token}\n`,
      `${token}\0`,
      `0x${token}`,
      sha256(token),
      "0".repeat(64),
      "",
      "%",
    ];
    for (const other of spellings.filter((spelling) => spelling !== token))
      await expectInvalid({ email, token: other });
    expect((await reset({ email, token, ...newPassword })).status).toBe(302);
  });

  test("with a malformed token is refused before the password is validated", async () => {
    await createUser(latchkey.em());
    const { email, token } = await resetLink(latchkey);
    const before = await latchkey.snapshot();
    for (const link of [
      { email, token: token.toUpperCase() },
      { email: "%", token },
    ]) {
      const refused = await reset({ ...link, ...twice("short") });
      expect(refused.status).toBe(422);
      expect(refused.data).toEqual({ typed: link, invalidLink: invalidLinkMessage });
      expect(await resetPasswordOf(link, password, "en")).toBeNull();
    }
    expect(await latchkey.snapshot()).toEqual(before);
  });

  test.each([
    ["in capitals", "AB".repeat(32)],
    ["with a character before it", ` ${"ab".repeat(32)}`],
    ["with a character after it", `${"ab".repeat(32)}0`],
  ])("with a token %s is refused even when the hash of that spelling is stored", async (_how, token) => {
    await createUser(latchkey.em());
    await latchkey.execute(
      `insert into password_resets values ('${sha256(token)}', 'ada@example.com', now() + interval '1 hour')`,
    );
    await expectInvalid({ email: "ada@example.com", token });
  });

  test("with another address is refused, even one that has an account or a link", async () => {
    await createUser(latchkey.em());
    await createUser(latchkey.em(), { email: "bob@example.com" });
    const { token } = await resetLink(latchkey);
    await resetLink(latchkey, "bob@example.com");
    for (const email of ["bob@example.com", "nobody@example.com", "ada@examp\u212ae.com", "", "%"]) {
      await expectInvalid({ email, token });
    }
  });

  test("is refused after its expiry, and accepted in its last minute", async () => {
    await createUser(latchkey.em());
    const link = await resetLink(latchkey);
    await latchkey.execute("update password_resets set expires_at = now() - interval '1 millisecond'");
    await expectInvalid(link);
    await latchkey.execute("update password_resets set expires_at = now() + interval '1 minute'");
    expect((await reset({ ...link, ...newPassword })).status).toBe(302);
  });

  test("that expires between its check and its use is refused and changes nothing", async () => {
    await createUser(latchkey.em());
    const link = await resetLink(latchkey);
    await latchkey.execute("update password_resets set expires_at = now() - interval '1 millisecond'");
    const before = await latchkey.snapshot();
    expect(await resetPasswordOf(link, password, "en")).toBeNull();
    expect(await latchkey.snapshot()).toEqual(before);
    expect(log.events().at(-1)).toEqual({ event: "password_reset.refused", reason: "invalid_link" });
  });

  test("is refused before the password is validated", async () => {
    await createUser(latchkey.em());
    const answer = await reset({ email: "ada@example.com", token: "0".repeat(64), password: "x" });
    expect(answer.data).toEqual({
      typed: { email: "ada@example.com", token: "0".repeat(64) },
      invalidLink: invalidLinkMessage,
    });
  });

  test("with the token of a registration is refused", async () => {
    const link = await registrationLink(latchkey, "ada@example.com");
    await createUser(latchkey.em());
    await expectInvalid(link);
  });

  test("of a deleted account is refused and changes nothing", async () => {
    const token = "ab".repeat(32);
    await latchkey.execute(
      `insert into password_resets values ('${sha256(token)}', 'ada@example.com', now() + interval '1 hour')`,
    );
    await expectInvalid({ email: "ada@example.com", token });
  });

  test.each(["email", "token"])("with its %s repeated or missing is refused and changes nothing", async (field) => {
    await createUser(latchkey.em());
    const fields: Record<string, string> = { ...(await resetLink(latchkey)), ...newPassword };
    const before = await latchkey.snapshot();
    const twice: [string, string][] = [...Object.entries(fields), [field, fields[field] ?? ""]];
    const missing = Object.entries(fields).filter(([name]) => name !== field);
    for (const posted of [twice, missing]) {
      expect(await reset(posted)).toMatchObject({ status: 422, data: { invalidLink: invalidLinkMessage } });
    }
    expect(await latchkey.snapshot()).toEqual(before);
  });
});

describe("a password that breaks a rule", () => {
  const short = { password: "Use at least 8 characters." };
  const common = { password: "This password is among the most common ones. Choose another." };
  const own = { password: "Choose a password that is not your email address." };
  const service = { password: "Choose a password that is not the name or the address of this site." };
  const different = { passwordConfirmation: "The two passwords are not the same." };

  test.each([
    ["is missing", {}, short],
    ["is seven characters long", twice("zk4!qpw"), short],
    ["is seven characters long in 14 code units", twice("😀".repeat(7)), short],
    ["is 257 characters long", twice("x".repeat(257)), { password: "Use at most 256 characters." }],
    ["is a common password", twice("password1"), common],
    ["is a common password in mixed case", twice("PassWord1"), common],
    ["is the address", twice("ada.lovelace@example.com"), own],
    ["is the local part", twice("Ada.Lovelace"), own],
    ["is the host and port of the service", twice("LocalHost:3000"), service],
    ["is the host of the service", twice("LocalHost"), service],
    ["is not repeated", { password }, different],
    ["is repeated in capitals", { password, passwordConfirmation: password.toUpperCase() }, different],
    ["is repeated with a trailing space", { password, passwordConfirmation: `${password} ` }, different],
  ])("that %s is refused with its message, changes nothing and leaves the link valid", async (_why, fields, errors) => {
    await createUser(latchkey.em(), { email: "ada.lovelace@example.com" });
    const link = await resetLink(latchkey, "ada.lovelace@example.com");
    const before = await latchkey.snapshot();
    const refused = await reset({ ...link, ...fields });
    expect(refused.status).toBe(422);
    expect(refused.data).toEqual({ typed: { ...link }, errors });
    expect(await latchkey.snapshot()).toEqual(before);
    expect((await reset({ ...link, ...newPassword })).status).toBe(302);
  });

  test("that is among the 10,000 most common is refused, and the next one is not", async () => {
    const { dictionary } = await import("@zxcvbn-ts/language-common");
    const isLong = (word: string) => word.length >= 8;
    const last = dictionary.passwords.slice(0, 10_000).findLast(isLong)!;
    const next = dictionary.passwords.slice(10_000).find(isLong)!;
    const problemOf = (word: string) => passwordProblem({ email: "ada@example.com", ...twice(word) });
    expect([await problemOf(last), await problemOf(next)]).toEqual(["common", null]);
  });

  test("sent twice is refused with an error at its field", async () => {
    await createUser(latchkey.em());
    const link = await resetLink(latchkey);
    const fields: [string, string][] = [...Object.entries({ ...link, ...newPassword }), ["password", password]];
    expect(await reset(fields)).toMatchObject({ status: 422, data: { errors: short } });
  });

  test.each([
    ["eight characters in 16 code units", "😀🐢🐙🦊🐸🐳🦉🐝"],
    ["256 characters", `${"long ".repeat(51)}x`],
    ["spaces at both ends", "  spaces at both ends  "],
  ])("%s are accepted, neither trimmed nor truncated", async (_what, taken) => {
    await createUser(latchkey.em());
    const link = await resetLink(latchkey);
    expect((await reset({ ...link, ...twice(taken) })).status).toBe(302);
    expect((await logIn("ada@example.com", taken.trim().slice(0, -1))).status).toBe(422);
    expect((await logIn("ada@example.com", taken)).status).toBe(302);
  });

  test("is stored as Argon2id with 19 MiB, two passes and one lane", async () => {
    await createUser(latchkey.em());
    await reset({ ...(await resetLink(latchkey)), ...newPassword });
    const [user] = await latchkey.execute<{ password_hash: string }>("select password_hash from users");
    expect(user?.password_hash).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/);
  });
});

describe("simultaneous posts", () => {
  const rounds = [1, 2, 3, 4, 5];

  test.each(rounds)("of ten with one token, exactly one succeeds (round %i)", async () => {
    await createUser(latchkey.em());
    const link = await resetLink(latchkey);
    const passwords = Array.from({ length: 10 }, (_, index) => `a brand new password ${index}`);
    const answers = await Promise.all(passwords.map((each) => reset({ ...link, ...twice(each) })));
    const winners = passwords.filter((_, index) => answers[index]?.status === 302);
    expect(winners).toHaveLength(1);
    expect(
      answers.filter(({ status, data }) => status === 422 && data.invalidLink === invalidLinkMessage),
    ).toHaveLength(9);
    expect(await authenticate("ada@example.com", winners[0] ?? "")).not.toBeNull();
    expect(await latchkey.jobs()).toHaveLength(1);
  });

  test.each(rounds)("of two with two tokens of one account, one succeeds, without a deadlock (round %i)", async () => {
    await createUser(latchkey.em());
    const links = [await resetLink(latchkey), await resetLink(latchkey)];
    const answers = await Promise.all(links.map((link) => reset({ ...link, ...newPassword })));
    expect(answers.map(({ status }) => status).sort()).toEqual([302, 422]);
    expect(await latchkey.execute("select * from password_resets")).toEqual([]);
  });
});

test("a login verified before a reset but finished after it starts no session", async () => {
  await createUser(latchkey.em());
  const link = await resetLink(latchkey);
  const verified = await authenticate("ada@example.com", goodPassword);
  if (!verified) throw new Error("The password is right.");
  await reset({ ...link, ...newPassword });
  expect(await finishLogin(verified, [], unknownBrowser, unknownOrigin)).toBeNull();
  expect(log.events().at(-1)).toEqual({ event: "login.failed", reason: "password_changed" });
  expect(await latchkey.execute("select * from sessions")).toEqual([]);
});
