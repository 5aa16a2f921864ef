import { Argon2id } from "oslo/password";
import { describe, expect, test, vi } from "vitest";
import { authenticate } from "#server/features/visitor/login";
import { storeWayIn } from "#server/features/visitor/password-reset";
import * as confirmEmail from "~/routes/account.email";
import * as forgotPassword from "~/routes/forgot-password";
import * as register from "~/routes/register";
import * as complete from "~/routes/register_.complete";
import * as reset from "~/routes/reset-password";
import { askForAccount, askForReset, registerWith, resetWith } from "../support/account-calls";
import { unknownVisitor } from "../support/accounts";
import { startLatchkey } from "../support/latchkey";
import {
  emailChangeLink,
  expectInvalidLink,
  type MailedLink,
  mailSentOutcome,
  registrationLink,
  resetLink,
} from "../support/mailed-links";
import { goodPassword, newPassword, twice } from "../support/passwords";
import { call, post } from "../support/route-calls";
import { sha256 } from "../support/sha256";

const latchkey = startLatchkey();

const email = "ada.lovelace@example.com";

/** An address of 254 characters, 64 of them before the `@`, with labels of 63. */
const longest = `${"a".repeat(64)}@${"b".repeat(63)}.${"c".repeat(63)}.${"d".repeat(57)}.com`;

const asked = [
  ["a reset", askForReset, "mail_password_reset"],
  ["a registration", askForAccount, "mail_registration"],
] as const;

describe("a mail with a link", () => {
  test.each(asked)(
    "of %s is asked for by one job with only the address, with and without an account",
    async (_what, ask, task) => {
      await latchkey.createUser();
      for (const typed of [" Ada@EXAMPLE.com ", "nobody@example.com"]) {
        expect(await ask(typed)).toEqual(mailSentOutcome(typed));
      }
      expect(await latchkey.jobs()).toEqual([
        { task, email: "ada@example.com", language: "en" },
        { task, email: "nobody@example.com", language: "en" },
      ]);
      for (const table of ["password_resets", "registrations"]) {
        expect(await latchkey.execute(`select * from ${table}`)).toEqual([]);
      }
    },
  );

  test.each(["a@b.c", "o'brien+tag.of.mine@a-b.c.example.co", longest])("is a job for %j", async (typed) => {
    expect(await askForReset(typed)).toEqual(mailSentOutcome(typed));
    expect(await latchkey.jobs()).toMatchObject([{ email: typed }]);
  });

  test.each([
    "",
    "ada@example.com\r\nBcc: eve@example.com",
    "ada@example.com%0abcc:eve@example.com",
    ".ada@example.com",
    "ada.@example.com",
    "ada@-example.com",
    "ada@example-.com",
    "ada@example.c-",
    `ada@${"a".repeat(64)}.com`,
    `ada@example.${"a".repeat(64)}`,
    `${"a".repeat(65)}@example.com`,
    `${longest}m`,
    "ada@b\u00fccher.example/x",
    "ada@b\u00fccher.example:80",
    "ada@b\u00fc%63her.example",
    "ada@b\u00fccher.example\uff0fx",
    "ada@xn--b\u00fccher.example",
    "gr\u00e2ce@example.com",
    "\u212a@example.com",
  ])("is not sent to the invalid address %j: the same page, no job, no change", async (typed) => {
    await latchkey.createUser();
    expect(await latchkey.unchanged(() => askForReset(typed))).toEqual(mailSentOutcome(typed));
  });

  test.each([
    ["/forgot-password", forgotPassword.action],
    ["/register", register.action],
  ])("is not sent by %s without an address or with two: the same page, no job, no change", async (path, action) => {
    await latchkey.createUser();
    const repeated = ["ada@example.com", "eve@example.com"].map((typed): [string, string] => ["email", typed]);
    for (const fields of [{}, repeated]) {
      const asked = await latchkey.unchanged(() => call(action, post(path, fields)));
      expect(asked).toMatchObject({ status: 200, data: { status: "sent" } });
    }
  });
});

const invalidLink = "This link is invalid or has expired.";

const links = {
  reset: {
    path: "/reset-password",
    action: reset.action,
    table: "password_resets",
    invalidLink: "This reset link is invalid or has expired.",
    async create(address = email) {
      const accounts = await latchkey.execute("select from users where email = ?", [address]);
      if (accounts.length === 0) await latchkey.createUser({ email: address });
      return resetLink(latchkey, address);
    },
  },
  registration: {
    path: "/register/complete",
    action: complete.action,
    table: "registrations",
    invalidLink,
    create: (address = email) => registrationLink(latchkey, address),
  },
  change: {
    path: "/account/email",
    action: confirmEmail.action,
    table: "email_changes",
    invalidLink,
    async create(address = email) {
      const [owner] = await latchkey.execute<{ id: string }>("select id from users where email = 'owner@example.com'");
      const session = await latchkey.signedIn(owner?.id ?? { email: "owner@example.com" });
      return emailChangeLink(latchkey, session, address);
    },
  },
};

type Purpose = keyof typeof links;

const purposes = Object.keys(links) as Purpose[];

const finish = (purpose: Purpose, fields: Record<string, string> | [string, string][]) =>
  call(links[purpose].action, post(links[purpose].path, fields));
const use = (purpose: Purpose, link: MailedLink, password = newPassword) =>
  finish(purpose, { ...link, ...twice(password) });
const expectInvalid = (purpose: Purpose, link: MailedLink) =>
  expectInvalidLink(latchkey, (fields) => finish(purpose, fields), link, links[purpose].invalidLink);

describe.each(purposes)("the mailed link of a %s", (purpose) => {
  test("is valid for an hour, for its own address in any spelling", { tags: ["2.2.3", "6.4.1"] }, async () => {
    const link = await links[purpose].create();
    const expire = (when: string) => latchkey.execute(`update ${links[purpose].table} set expires_at = now() ${when}`);
    await expire("- interval '1 millisecond'");
    await expectInvalid(purpose, link);
    await expire("+ interval '1 minute'");
    for (const other of ["bob@example.com", "ada.lovelace@examp\u212ae.com", "", "%"]) {
      await expectInvalid(purpose, { ...link, email: other });
    }
    expect(await use(purpose, { ...link, email: " ADA.Lovelace@Example.com " })).toMatchObject({ status: 302 });
    expect(await use(purpose, link)).toMatchObject({ status: 422 });
  });

  test.each(purposes.filter((other) => other !== purpose))(
    "is not that of a %s",
    { tags: ["2.2.3", "CVE-2026-105785", "CVE-2026-114607"] },
    async (other) => {
      const address = other === "reset" ? "bob@example.com" : email;
      const { token } = await links[other].create(address);
      expect(token).toMatch(/^[0-9a-f]{64}$/);
      if (purpose === "reset") await latchkey.createUser({ email });
      for (const each of [email, "bob@example.com"]) await expectInvalid(purpose, { email: each, token });
    },
  );

  test.each(["email", "token"])(
    "with its %s repeated or missing changes nothing",
    { tags: "CVE-2026-18963" },
    async (field) => {
      const fields: Record<string, string> = { ...(await links[purpose].create()), ...twice(newPassword) };
      const repeated: [string, string][] = [...Object.entries(fields), [field, fields[field] ?? ""]];
      const missing = Object.entries(fields).filter(([name]) => name !== field);
      for (const posted of [repeated, missing]) {
        const refused = await latchkey.unchanged(() => finish(purpose, posted));
        expect(refused).toMatchObject({ status: 422, data: { invalidLink: links[purpose].invalidLink } });
      }
    },
  );

  const rounds = [1, 2, 3, 4, 5];

  test.each(rounds)(
    "posted ten times at once succeeds once (round %i)",
    { tags: ["2.3.1", "2.3.4", "6.5.1", "CVE-2026-28268"] },
    async () => {
      const link = await links[purpose].create();
      const passwords = Array.from({ length: 10 }, (_, at) => `${newPassword} ${at}`);
      const answers = await Promise.all(passwords.map((each) => use(purpose, link, each)));
      const [winner = "", ...more] = passwords.filter((_, at) => answers[at]?.status === 302);
      expect(more).toEqual([]);
      const refused = answers.filter(({ data }) => data.invalidLink === links[purpose].invalidLink);
      expect(refused).toHaveLength(9);
      const password = purpose === "change" ? goodPassword : winner;
      expect(await authenticate(unknownVisitor, { email, password })).not.toBeNull();
      expect(await latchkey.execute("select * from users")).toHaveLength(1);
      expect(await latchkey.execute("select * from sessions")).toHaveLength(purpose === "registration" ? 1 : 0);
      expect(await latchkey.jobs()).toHaveLength({ reset: 1, registration: 0, change: 2 }[purpose]);
    },
  );

  test.each(rounds)("posted at once with two tokens of one address succeeds with one (round %i)", async () => {
    const both = [await links[purpose].create(), await links[purpose].create()];
    const answers = await Promise.all(both.map((link) => use(purpose, link)));
    expect(answers.map(({ status }) => status).sort()).toEqual([302, 422]);
    expect(await latchkey.execute("select * from users")).toHaveLength(1);
    expect(await latchkey.execute(`select * from ${links[purpose].table}`)).toEqual([]);
  });
});

test.each([
  ["reset", "password_reset"],
  ["registration", "registration"],
] as const)(
  "a %s link that expires while the password is hashed changes nothing",
  { tags: "6.4.1" },
  async (name, flow) => {
    const link = await links[name].create(name === "reset" ? email : "grace@example.com");
    vi.spyOn(Argon2id.prototype, "hash").mockImplementationOnce(async () => {
      await latchkey.execute(`update ${links[name].table} set expires_at = now() - interval '1 millisecond'`);
      return "a hash";
    });
    expect(await use(name, link)).toMatchObject({ status: 422, data: { invalidLink: links[name].invalidLink } });
    expect(latchkey.events().at(-1)).toEqual({ event: `${flow}.refused`, reason: "invalid_link" });
    expect(await latchkey.execute("select * from users where password_hash = 'a hash'")).toEqual([]);
  },
);

describe("the token", () => {
  test("is a new one for each mail, stored as its SHA-256, for one hour", { tags: "6.4.1" }, async () => {
    const earliest = Date.now() + 3_600_000;
    const mailed = [await links.reset.create(), await links.reset.create(), await links.reset.create()];
    const latest = Date.now() + 3_600_000;
    const rows = await latchkey.execute<{ token_hash: string; expires_at: string }>("select * from password_resets");
    expect(new Set(rows.map(({ token_hash }) => token_hash))).toEqual(
      new Set(mailed.map(({ token }) => sha256(token))),
    );
    expect(rows).toHaveLength(3);
    for (const { token } of mailed) {
      expect(token).toMatch(/^[0-9a-f]{64}$/);
      expect(JSON.stringify(await latchkey.snapshot())).not.toContain(token);
    }
    for (const row of rows) {
      expect(row).toMatchObject({ email });
      expect(new Date(row.expires_at).getTime()).toBeGreaterThanOrEqual(earliest);
      expect(new Date(row.expires_at).getTime()).toBeLessThanOrEqual(latest);
    }
  });

  test("in any other spelling is refused, also before the password is validated, and changes nothing", async () => {
    const link = await links.reset.create();
    const { token } = link;
    const padded = ["0", " ", "\n", "\0", "0x"].flatMap((more) => [`${token}${more}`, `${more}${token}`]);
    const others = [token.toUpperCase(), token.slice(1), token.slice(0, -1), sha256(token), "0".repeat(64), "", "%"];
    for (const other of [...padded, ...others]) await expectInvalid("reset", { email, token: other });
    for (const other of [{ token: "0".repeat(64) }, { token: token.toUpperCase() }, { email: "%" }]) {
      const typed = { ...link, ...other };
      const refused = await latchkey.unchanged(() => use("reset", typed, "short"));
      expect(refused).toMatchObject({ status: 422, data: { typed, invalidLink: links.reset.invalidLink } });
      expect(await latchkey.unchanged(() => storeWayIn(unknownVisitor, typed, { passwordHash: "a hash" }))).toBeNull();
    }
    expect((await use("reset", link)).status).toBe(302);
  });

  test.each([
    ["in capitals", "AB".repeat(32)],
    ["with a character before it", ` ${"ab".repeat(32)}`],
    ["with a character after it", `${"ab".repeat(32)}0`],
  ])("%s is refused even when its hash is stored", { tags: "2.2.1" }, async (_how, token) => {
    await links.reset.create();
    await latchkey.execute("update password_resets set token_hash = ?", [sha256(token)]);
    await expectInvalid("reset", { email, token });
  });
});

describe("the password chosen with a mailed link", () => {
  const short = { password: "Use at least 8 characters." };
  const common = { password: "This password is among the most common ones. Choose another." };
  const own = { password: "Choose a password that is not your email address." };
  const service = { password: "Choose a password that is not the name or the address of this site." };
  const different = { passwordConfirmation: "The two passwords are not the same." };
  const again = (passwordConfirmation: string) => ({ password: newPassword, passwordConfirmation });

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
    ["is the name of the service", twice("LATCHKEY"), service],
    ["is not repeated", { password: newPassword }, different],
    ["is repeated in capitals", again(newPassword.toUpperCase()), different],
    ["is repeated with a trailing space", again(`${newPassword} `), different],
  ])(
    "is refused when it %s, and the link stays valid",
    { tags: ["2.2.2", "6.2.1", "6.2.11"] },
    async (_why, fields, errors) => {
      const link = await links.reset.create();
      const refused = await latchkey.unchanged(() => finish("reset", { ...link, ...fields }));
      expect([refused.status, refused.cookies]).toEqual([422, {}]);
      expect(refused.data).toEqual({ typed: { ...link }, errors });
      expect((await resetWith(link, newPassword)).status).toBe(302);
    },
  );

  test("is refused when it is sent twice, with an error at its field", async () => {
    const pairs = Object.entries({ ...(await links.reset.create()), ...twice(newPassword) });
    const refused = await finish("reset", [...pairs, ["password", newPassword]]);
    expect(refused).toMatchObject({ status: 422, data: { errors: short } });
  });

  test("has the same rules in a registration", async () => {
    const link = await links.registration.create();
    for (const [password, errors] of [
      ["short", short],
      [email, own],
    ] as const) {
      const refused = await latchkey.unchanged(() => registerWith(link, password));
      expect(refused).toMatchObject({ status: 422, data: { typed: link, errors } });
    }
    const containsName = "Latchkey and more";
    expect((await registerWith(link, containsName)).status).toBe(302);
  });
});
