import { Argon2id } from "oslo/password";
import { beforeEach, describe, expect, test, vi } from "vitest";
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
  describe.each(asked)("of %s", (_what, ask, task) => {
    beforeEach(() => latchkey.createUser());

    test.each([
      ["with", " Ada@EXAMPLE.com ", "ada@example.com"],
      ["without", "nobody@example.com", "nobody@example.com"],
    ])("is asked for by one job for an address %s an account", async (_has, typed, address) => {
      expect(await ask(typed)).toEqual(mailSentOutcome(typed));
      expect(await latchkey.jobs()).toEqual([{ task, email: address, language: "en" }]);
    });

    test.each(["password_resets", "registrations"])("stores nothing in %s before it is sent", async (table) => {
      for (const typed of ["ada@example.com", "nobody@example.com"]) await ask(typed);
      expect(await latchkey.execute(`select * from ${table}`)).toEqual([]);
    });
  });

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
  ])("is not sent to the invalid address %j", async (typed) => {
    await latchkey.createUser();
    expect(await latchkey.unchanged(() => askForReset(typed))).toEqual(mailSentOutcome(typed));
  });

  describe.each([
    ["/forgot-password", forgotPassword.action],
    ["/register", register.action],
  ])("is not sent by %s", (path, action) => {
    test.each<[string, [string, string][]]>([
      ["without an address", []],
      ["with two addresses", ["ada@example.com", "eve@example.com"].map((typed) => ["email", typed])],
    ])("%s", async (_what, fields) => {
      await latchkey.createUser();
      const asked = await latchkey.unchanged(() => call(action, post(path, fields)));
      expect(asked).toMatchObject({ status: 200, data: { status: "sent" } });
    });
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
  const expire = (end: string) => latchkey.execute(`update ${links[purpose].table} set expires_at = now() ${end}`);

  test("is valid until its hour has passed", { tags: "6.4.1" }, async () => {
    const link = await links[purpose].create();
    await expire("+ interval '1 minute'");
    expect(await use(purpose, link)).toMatchObject({ status: 302 });
  });

  test("is invalid when its hour has passed", { tags: "6.4.1" }, async () => {
    const link = await links[purpose].create();
    await expire("- interval '1 millisecond'");
    await expectInvalid(purpose, link);
  });

  test.each(["bob@example.com", "ada.lovelace@examp\u212ae.com", "", "%"])(
    "is invalid for the address %j",
    { tags: "2.2.3" },
    async (other) => {
      await expectInvalid(purpose, { ...(await links[purpose].create()), email: other });
    },
  );

  test("is valid for another spelling of its address", { tags: "2.2.3" }, async () => {
    const link = await links[purpose].create();
    expect(await use(purpose, { ...link, email: " ADA.Lovelace@Example.com " })).toMatchObject({ status: 302 });
  });

  test("is invalid once it was used", { tags: "6.4.1" }, async () => {
    const link = await links[purpose].create();
    expect(await use(purpose, link)).toMatchObject({ status: 302 });
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
  const mailThree = async () => [await links.reset.create(), await links.reset.create(), await links.reset.create()];

  const storedResets = () =>
    latchkey.execute<{ token_hash: string; expires_at: string }>("select * from password_resets");

  test("is a new random one for each mail", { tags: "6.4.1" }, async () => {
    const tokens = (await mailThree()).map(({ token }) => token);
    for (const token of tokens) expect(token).toMatch(/^[0-9a-f]{64}$/);
    expect(new Set(tokens).size).toBe(3);
  });

  test("is stored as its SHA-256", { tags: "6.4.1" }, async () => {
    const mailed = await mailThree();
    const rows = await storedResets();
    expect(rows).toHaveLength(3);
    expect(new Set(rows.map(({ token_hash }) => token_hash))).toEqual(
      new Set(mailed.map(({ token }) => sha256(token))),
    );
    for (const row of rows) expect(row).toMatchObject({ email });
    for (const { token } of mailed) expect(JSON.stringify(await latchkey.snapshot())).not.toContain(token);
  });

  test("is stored for one hour", { tags: "6.4.1" }, async () => {
    const earliest = Date.now() + 3_600_000;
    await mailThree();
    const latest = Date.now() + 3_600_000;
    for (const row of await storedResets()) {
      expect(new Date(row.expires_at).getTime()).toBeGreaterThanOrEqual(earliest);
      expect(new Date(row.expires_at).getTime()).toBeLessThanOrEqual(latest);
    }
  });

  test("in any other spelling is refused", async () => {
    const { token } = await links.reset.create();
    const padded = ["0", " ", "\n", "\0", "0x"].flatMap((more) => [`${token}${more}`, `${more}${token}`]);
    const others = [token.toUpperCase(), token.slice(1), token.slice(0, -1), sha256(token), "0".repeat(64), "", "%"];
    for (const other of [...padded, ...others]) await expectInvalid("reset", { email, token: other });
  });

  test("stays valid after a refused spelling", async () => {
    const link = await links.reset.create();
    await expectInvalid("reset", { email, token: link.token.toUpperCase() });
    expect((await use("reset", link)).status).toBe(302);
  });

  describe.each<[string, (link: MailedLink) => MailedLink]>([
    ["an unknown token", (link) => ({ ...link, token: "0".repeat(64) })],
    ["the token in capitals", (link) => ({ ...link, token: link.token.toUpperCase() })],
    ["a malformed address", (link) => ({ ...link, email: "%" })],
  ])("in a link with %s", (_what, changed) => {
    test("is refused before the password is validated", async () => {
      const typed = changed(await links.reset.create());
      const refused = await latchkey.unchanged(() => use("reset", typed, "short"));
      expect(refused).toMatchObject({ status: 422, data: { typed, invalidLink: links.reset.invalidLink } });
    });

    test("stores no password", async () => {
      const typed = changed(await links.reset.create());
      expect(await latchkey.unchanged(() => storeWayIn(unknownVisitor, typed, { passwordHash: "a hash" }))).toBeNull();
    });
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

  describe.each([
    ["is missing", {}, short],
    ["is seven characters long", twice("zk4!qpw"), short],
    ["is seven characters long in 14 code units", twice("😀".repeat(7)), short],
    ["is 257 characters long", twice("x".repeat(257)), { password: "Use at most 256 characters." }],
    ["is a common password", twice("password1"), common],
    ["is a common password in mixed case", twice("PassWord1"), common],
    ["is the address", twice(email), own],
    ["is the address with an ideographic full stop", twice("ada.lovelace@example。com"), own],
    ["is the address in full-width letters", twice("ａda.lovelace＠example.com"), own],
    ["is the address between spaces", twice(` ${email} `), own],
    ["is the local part", twice("Ada.Lovelace"), own],
    ["is the host and port of the service", twice("LocalHost:3000"), service],
    ["is the host of the service", twice("LocalHost"), service],
    ["is the name of the service", twice("LATCHKEY"), service],
    ["is not repeated", { password: newPassword }, different],
    ["is repeated in capitals", again(newPassword.toUpperCase()), different],
    ["is repeated with a trailing space", again(`${newPassword} `), different],
  ])("when it %s", (_why, fields, errors) => {
    let link: MailedLink;

    beforeEach(async () => {
      link = await links.reset.create();
    });

    test("is refused", { tags: ["2.2.2", "6.2.1", "6.2.11"] }, async () => {
      const refused = await latchkey.unchanged(() => finish("reset", { ...link, ...fields }));
      expect([refused.status, refused.cookies]).toEqual([422, {}]);
      expect(refused.data).toEqual({ typed: { ...link }, errors });
    });

    test("leaves the link valid", async () => {
      await finish("reset", { ...link, ...fields });
      expect((await resetWith(link, newPassword)).status).toBe(302);
    });
  });

  test("is refused at its field when it is sent twice", async () => {
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
