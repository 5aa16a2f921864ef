import { beforeEach, describe, expect, test } from "vitest";
import { changeEmail } from "#server/features/owner/email-change";
import { authenticate } from "#server/features/visitor/login";
import { resetPassword } from "#server/features/visitor/password-reset";
import { completeRegistration } from "#server/features/visitor/registration";
import * as confirmEmail from "~/routes/account.email";
import * as forgotPassword from "~/routes/forgot-password";
import * as register from "~/routes/register";
import * as complete from "~/routes/register_.complete";
import * as resetPasswordPage from "~/routes/reset-password";
import { unknownVisitor } from "../support/accounts";
import { startLatchkey } from "../support/latchkey";
import * as mailedLinks from "../support/mailed-links";
import { type MailedLink, mailSentOutcome } from "../support/mailed-links";
import { goodPassword, twice } from "../support/passwords";
import { call, post } from "../support/route-calls";
import { sha256 } from "../support/sha256";

const latchkey = startLatchkey();

const email = "ada.lovelace@example.com";
const password = "a brand new password";
const newPassword = twice(password);

/** An address of 254 characters, 64 of them before the `@`, with labels of 63. */
const longest = `${"a".repeat(64)}@${"b".repeat(63)}.${"c".repeat(63)}.${"d".repeat(57)}.com`;

type Fields = Record<string, string> | [string, string][];

/** The browser that asks for another address. */
let owner = "";
beforeEach(() => {
  owner = "";
});

const reset = {
  path: "/reset-password",
  action: resetPasswordPage.action as unknown,
  ask: (fields: Fields) => call(forgotPassword.action, post("/forgot-password", fields)),
  arrange: async (address: string) => void (await latchkey.createUser({ email: address })),
  linkOf: (address: string) => mailedLinks.resetLink(latchkey, address),
  use: (link: MailedLink): Promise<unknown> => resetPassword(unknownVisitor, link, password),
  refusal: null as unknown,
  fields: newPassword as Record<string, string>,
  task: "mail_password_reset",
  table: "password_resets",
  event: "password_reset.refused",
  message: "This reset link is invalid or has expired.",
  afterwards: { sessions: 0, jobs: 1 },
};

const registration: typeof reset = {
  path: "/register/complete",
  action: complete.action,
  ask: (fields) => call(register.action, post("/register", fields)),
  arrange: async () => {},
  linkOf: (address) => mailedLinks.registrationLink(latchkey, address),
  use: (link) => completeRegistration(unknownVisitor, link, password),
  refusal: null,
  fields: newPassword,
  task: "mail_registration",
  table: "registrations",
  event: "registration.refused",
  message: "This link is invalid or has expired.",
  afterwards: { sessions: 1, jobs: 0 },
};

const change: typeof reset = {
  ...registration,
  path: "/account/email",
  action: confirmEmail.action,
  arrange: async () => {
    owner ||= await latchkey.signedIn({ email: "owner@example.com" });
  },
  linkOf: (address) => mailedLinks.emailChangeLink(latchkey, owner, address),
  use: (link) => changeEmail(unknownVisitor, link),
  refusal: "invalid_link",
  fields: {},
  table: "email_changes",
  event: "email_change.refused",
  afterwards: { sessions: 0, jobs: 2 },
};

const newLinkOf = async (kind: typeof reset, address: string): Promise<MailedLink> => {
  await kind.arrange(address);
  return kind.linkOf(address);
};

describe.each([reset, registration])("the mail with the link to $path", (kind) => {
  const { ask } = kind;

  test("is asked for by one job with only the address, with and without an account", async () => {
    await latchkey.createUser();
    for (const typed of [" Ada@EXAMPLE.com ", "nobody@example.com"]) {
      expect(await ask({ email: typed })).toEqual(mailSentOutcome(typed));
    }
    expect(await latchkey.jobs()).toEqual([
      { task: kind.task, email: "ada@example.com", language: "en" },
      { task: kind.task, email: "nobody@example.com", language: "en" },
    ]);
    expect(await latchkey.execute(`select * from ${kind.table}`)).toEqual([]);
  });

  test.each(["a@b.c", "o'brien+tag.of.mine@a-b.c.example.co", longest])("is a job for %j", async (typed) => {
    expect(await ask({ email: typed })).toEqual(mailSentOutcome(typed));
    expect(await latchkey.jobs()).toEqual([{ task: kind.task, email: typed, language: "en" }]);
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
    "ad\u212a@example.com",
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
  ])("is not sent to %j, which is no address: the same page, no job, no change", async (typed) => {
    await latchkey.createUser();
    expect(await latchkey.unchanged(() => ask({ email: typed }))).toEqual(mailSentOutcome(typed));
  });

  test("is not sent without an address or with two: the same page, no job, no change", async () => {
    await latchkey.createUser();
    const repeated = ["ada@example.com", "eve@example.com"].map((typed): [string, string] => ["email", typed]);
    for (const fields of [{}, repeated]) {
      const asked = await latchkey.unchanged(() => ask(fields));
      expect(asked).toMatchObject({ status: 200, data: { status: "sent" } });
    }
  });
});

describe.each([reset, registration, change])("the mailed link to $path", (kind) => {
  const finish = (fields: Fields) => call(kind.action, post(kind.path, fields));
  const expectInvalid = (link: MailedLink) => mailedLinks.expectInvalidLink(latchkey, finish, link, kind.message);
  const expire = (from: string) => latchkey.execute(`update ${kind.table} set expires_at = now() ${from}`);
  const newLink = (address = email) => newLinkOf(kind, address);

  test("has a token of its own, stored as its SHA-256, for one hour", { tags: "6.4.1" }, async () => {
    const earliest = Date.now() + 3_600_000;
    const links = [await newLink(), await kind.linkOf(email), await kind.linkOf(email)];
    const latest = Date.now() + 3_600_000;
    const rows = await latchkey.execute<{ token_hash: string; expires_at: string }>(`select * from ${kind.table}`);
    expect(new Set(rows.map(({ token_hash }) => token_hash))).toEqual(new Set(links.map(({ token }) => sha256(token))));
    expect(rows).toHaveLength(3);
    for (const { token } of links) {
      expect(token).toMatch(/^[0-9a-f]{64}$/);
      expect(JSON.stringify(await latchkey.snapshot())).not.toContain(token);
    }
    for (const row of rows) {
      expect(row).toMatchObject({ email });
      expect(new Date(row.expires_at).getTime()).toBeGreaterThanOrEqual(earliest);
      expect(new Date(row.expires_at).getTime()).toBeLessThanOrEqual(latest);
    }
  });

  test("with any other spelling of the token is refused, also before the password is validated, and changes nothing", async () => {
    const { token } = await newLink();
    const padded = ["0", " ", "\n", "\0", "0x"].flatMap((more) => [`${token}${more}`, `${more}${token}`]);
    const others = [token.toUpperCase(), token.slice(1), token.slice(0, -1), sha256(token), "0".repeat(64), "", "%"];
    for (const other of [...padded, ...others]) await expectInvalid({ email, token: other });
    for (const other of [{ token: "0".repeat(64) }, { token: token.toUpperCase() }, { email: "%" }]) {
      const link = { email, token, ...other };
      const refused = await latchkey.unchanged(() => finish({ ...link, ...twice("short") }));
      expect(refused.status).toBe(422);
      expect(refused.data).toEqual({ typed: link, invalidLink: kind.message });
      expect(await latchkey.unchanged(() => kind.use(link))).toBe(kind.refusal);
    }
    expect((await finish({ email, token, ...kind.fields })).status).toBe(302);
  });

  test.each([
    ["in capitals", "AB".repeat(32)],
    ["with a character before it", ` ${"ab".repeat(32)}`],
    ["with a character after it", `${"ab".repeat(32)}0`],
  ])("with a token %s is refused even when its hash is stored", { tags: "2.2.1" }, async (_how, token) => {
    await newLink();
    await latchkey.execute(`update ${kind.table} set token_hash = ?`, [sha256(token)]);
    await expectInvalid({ email, token });
  });

  test("with another address is refused, even one with an account or link", { tags: "2.2.3" }, async () => {
    const { token } = await newLink();
    await newLink("bob@example.com");
    const others = ["bob", "owner", "eve"].map((name) => `${name}@example.com`);
    for (const other of [...others, "ada.lovelace@examp\u212ae.com", "", "%"]) {
      await expectInvalid({ email: other, token });
    }
  });

  test("accepts the address in capitals and with surrounding spaces", async () => {
    const { token } = await newLink();
    expect((await finish({ email: " ADA.Lovelace@Example.com ", token, ...kind.fields })).status).toBe(302);
  });

  test("is refused after its expiry, also between its check and its use", { tags: "6.4.1" }, async () => {
    const link = await newLink();
    await expire("- interval '1 millisecond'");
    await expectInvalid(link);
    expect(await latchkey.unchanged(() => kind.use(link))).toBe(kind.refusal);
    expect(latchkey.events().at(-1)).toEqual({ event: kind.event, reason: "invalid_link" });
    await expire("+ interval '1 minute'");
    expect((await finish({ ...link, ...kind.fields })).status).toBe(302);
  });

  test.each([reset, registration, change].filter((other) => other !== kind))(
    "of $path is refused",
    { tags: ["2.2.3", "CVE-2026-105785", "CVE-2026-114607"] },
    async (other) => {
      const { token } = await newLinkOf(other, other === reset ? "bob@example.com" : email);
      expect(token).toMatch(/^[0-9a-f]{64}$/);
      await kind.arrange(email);
      for (const address of [email, "bob@example.com"]) await expectInvalid({ email: address, token });
    },
  );

  test.each(["email", "token"])(
    "with its %s repeated or missing changes nothing",
    { tags: "CVE-2026-18963" },
    async (field) => {
      const fields: Record<string, string> = { ...(await newLink()), ...kind.fields };
      const repeated: [string, string][] = [...Object.entries(fields), [field, fields[field] ?? ""]];
      const missing = Object.entries(fields).filter(([name]) => name !== field);
      for (const posted of [repeated, missing]) {
        const refused = await latchkey.unchanged(() => finish(posted));
        expect(refused).toMatchObject({ status: 422, data: { invalidLink: kind.message } });
      }
    },
  );

  const rounds = [1, 2, 3, 4, 5];

  test.each(rounds)(
    "posted ten times at once succeeds once (%i)",
    { tags: ["2.3.1", "2.3.4", "6.5.1", "CVE-2026-28268"] },
    async () => {
      const link = await newLink();
      const passwords = Array.from({ length: 10 }, (_, at) => `${password} ${at}`);
      const answers = await Promise.all(passwords.map((each) => finish({ ...link, ...twice(each) })));
      const [winner = "", ...more] = passwords.filter((_, at) => answers[at]?.status === 302);
      expect(more).toEqual([]);
      const refused = answers.filter(({ status, data }) => status === 422 && data.invalidLink === kind.message);
      expect(refused).toHaveLength(9);
      expect(
        await authenticate(unknownVisitor, { email, password: kind === change ? goodPassword : winner }, []),
      ).not.toBeNull();
      expect(await latchkey.execute("select * from users")).toHaveLength(1);
      expect(await latchkey.execute("select * from sessions")).toHaveLength(kind.afterwards.sessions);
      expect(await latchkey.jobs()).toHaveLength(kind.afterwards.jobs);
    },
  );

  test.each(rounds)("posted at once with two tokens of one address succeeds with one (round %i)", async () => {
    const links = [await newLink(), await kind.linkOf(email)];
    const answers = await Promise.all(links.map((link) => finish({ ...link, ...kind.fields })));
    expect(answers.map(({ status }) => status).sort()).toEqual([302, 422]);
    expect(await latchkey.execute("select * from users")).toHaveLength(1);
    expect(await latchkey.execute(`select * from ${kind.table}`)).toEqual([]);
  });
});

describe.each([reset, registration])("the password chosen with the link to $path", (kind) => {
  const finish = (fields: Fields) => call(kind.action, post(kind.path, fields));

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
    ["is the address", twice(email), own],
    ["is the local part", twice("Ada.Lovelace"), own],
    ["is the host and port of the service", twice("LocalHost:3000"), service],
    ["is the host of the service", twice("LocalHost"), service],
    ["is not repeated", { password }, different],
    ["is repeated in capitals", { password, passwordConfirmation: password.toUpperCase() }, different],
    ["is repeated with a trailing space", { password, passwordConfirmation: `${password} ` }, different],
  ])(
    "is refused when it %s, and the link stays valid",
    { tags: ["2.2.2", "6.2.1", "6.2.11"] },
    async (_why, fields, errors) => {
      const link = await newLinkOf(kind, email);
      const refused = await latchkey.unchanged(() => finish({ ...link, ...fields }));
      expect(refused.status).toBe(422);
      expect(refused.cookies).toEqual({});
      expect(refused.data).toEqual({ typed: { ...link }, errors });
      expect((await finish({ ...link, ...kind.fields })).status).toBe(302);
    },
  );

  test("is refused when it is sent twice with an error at its field", async () => {
    const pairs = Object.entries({ ...(await newLinkOf(kind, email)), ...newPassword });
    expect(await finish([...pairs, ["password", password]])).toMatchObject({ status: 422, data: { errors: short } });
  });
});
