import { beforeEach, describe, expect, test } from "vitest";
import { changeEmail } from "#server/features/owner/email-change";
import { signInToAccount } from "#server/features/visitor/external-sign-in";
import { authenticate, startVerifiedSession } from "#server/features/visitor/login";
import * as confirmEmail from "~/routes/account.email";
import {
  act,
  askForAccount,
  confirmAddress,
  logIn,
  openAccount,
  registerWith,
  resetWith,
} from "../support/account-calls";
import { unknownVisitor } from "../support/accounts";
import { startLatchkey } from "../support/latchkey";
import {
  emailChangeLink,
  type MailedLink,
  mailSentOutcome,
  registrationLink,
  resetLink,
} from "../support/mailed-links";
import { goodPassword, newPassword } from "../support/passwords";
import { call, get, type Outcome, type RequestOptions } from "../support/route-calls";
import { sha256 } from "../support/sha256";

const latchkey = startLatchkey({ IDP_CLIENT_ID: "the-client", IDP_CLIENT_SECRET: "the-secret" });

const oldEmail = "ada@example.com";
const newEmail = "lovelace@example.com";
const invalidLink = "This link is invalid or has expired.";

let ada: string;
let cookie: string;

beforeEach(async () => {
  ada = await latchkey.createUser();
  cookie = await latchkey.signedIn(ada);
});

const ask = (email: string, from = cookie, options: RequestOptions = {}) =>
  act(from, "change-email", { email }, options);

const confirm = (link: MailedLink, from = "") => confirmAddress(link, { cookie: from });

const link = (email = newEmail, from = cookie) => emailChangeLink(latchkey, from, email);

const emails = async () =>
  (await latchkey.execute<{ email: string }>("select email from users order by email")).map(({ email }) => email);

const sent = () => latchkey.mails().map(({ to, subject }) => `${to}: ${subject}`);

/** The link that was confirmed in the owner's browser. */
async function confirmed(): Promise<MailedLink> {
  const one = await link();
  expect((await confirm(one, cookie)).status).toBe(302);
  return one;
}

async function expectInvalid(one: MailedLink, from = ""): Promise<void> {
  const refused = await latchkey.unchanged(() => confirm(one, from));
  expect(refused).toMatchObject({ status: 422, data: { typed: one, invalidLink } });
  expect(refused.cookies).toEqual({});
}

const answer = (email: string): Outcome => ({
  ...mailSentOutcome(email),
  data: {
    done: `If mail reaches ${email}, a link to confirm the address is on its way. Your address changes when you open it and confirm, within 60 minutes.`,
  },
});

describe("asking for another address", () => {
  test("is answered with where the link goes", async () => {
    expect(await ask(" Lovelace@Example.com ")).toEqual(answer("Lovelace@Example.com"));
    expect(latchkey.events()).toEqual([{ event: "email_change.requested" }]);
  });

  test("queues one mail for each of the two addresses", async () => {
    await ask(" Lovelace@Example.com ");
    expect(await latchkey.jobs()).toEqual([
      {
        task: "mail_email_change",
        userId: ada,
        sessionId: expect.any(String),
        currentEmail: oldEmail,
        email: newEmail,
        language: "en",
      },
      { task: "mail_email_changing", email: oldEmail, newEmail, language: "en" },
    ]);
  });

  test("mails a link to the new address", async () => {
    const { email, token } = await link();
    expect(email).toBe(newEmail);
    expect(token).toMatch(/^[0-9a-f]{64}$/);
    expect(sent()).toContain(`${newEmail}: Confirm your new email address`);
  });

  test("mails a notice to the old address", async () => {
    await link();
    expect(sent().sort()).toEqual([
      `${oldEmail}: Your email address is being changed`,
      `${newEmail}: Confirm your new email address`,
    ]);
  });

  test("stores the token as its SHA-256", async () => {
    const { token } = await link();
    expect(await latchkey.execute("select * from email_changes")).toEqual([
      { token_hash: sha256(token), user_id: ada, email: newEmail, expires_at: expect.anything() },
    ]);
  });

  test("does not change the address yet", async () => {
    await link();
    expect(await emails()).toEqual([oldEmail]);
  });

  describe("that has an account", () => {
    let asked: Outcome;

    beforeEach(async () => {
      await latchkey.createUser({ email: "bob@example.com" });
      asked = await ask("bob@example.com");
      await latchkey.drain();
    });

    test("is answered as for one without", async () => {
      expect(asked).toEqual(answer("bob@example.com"));
      const rows = await latchkey.execute<Record<string, string>>("select user_id, email from email_changes");
      expect(rows).toEqual([{ user_id: ada, email: "bob@example.com" }]);
    });

    test("tells the owner of the address", () => {
      expect(sent()).toContain("bob@example.com: You already have an account");
    });

    test("mails the same notice to the old address", () => {
      expect(sent().sort()).toEqual([
        `${oldEmail}: Your email address is being changed`,
        "bob@example.com: You already have an account",
      ]);
      expect(latchkey.mails().find(({ to }) => to === oldEmail)?.text).toContain("to bob@example.com.");
    });

    test("mails no link", () => {
      expect(latchkey.mails().map(({ link: one }) => one)).toEqual([null, null]);
    });
  });

  test.each([
    ...["ada@example.com", " ADA@example.com"].map((own) => [own, "This is the address of your account already."]),
    ...["", "ada", "a@b", "ad\u212a@example.com", "a@example.com,b@example.com", "a\r\nBcc: b@example.com"].map(
      (none) => [none, "Enter an email address."],
    ),
  ] as [string, string][])("to %j is refused at the field: %s", async (email, error) => {
    const data = { intent: "change-email", errors: { email: error }, typed: { email } };
    expect(await latchkey.unchanged(() => ask(email))).toMatchObject({ status: 422, data });
  });

  describe.each([
    ["domains", "lovelace@example.net", []],
    ["domains", newEmail, [`${newEmail}: Confirm your new email address`]],
    ["closed", newEmail, [`${newEmail}: Confirm your new email address`]],
  ])("with REGISTRATION=%s to %s", (mode, email, mails) => {
    let asked: Outcome;

    beforeEach(async () => {
      latchkey.configure({ REGISTRATION: mode, ...(mode === "domains" && { REGISTRATION_DOMAINS: "example.com" }) });
      asked = await ask(email);
      await latchkey.drain();
    });

    test("is answered as with open registration", async () => {
      expect(asked).toEqual(answer(email));
      expect(await latchkey.execute("select email from email_changes")).toEqual([{ email }]);
    });

    test(`mails the new address ${mails.length ? "the link" : "nothing"}`, () => {
      expect(sent().filter((mail) => mail.startsWith(email))).toEqual(mails);
    });
  });

  describe("after three registration mails to the address", () => {
    beforeEach(async () => {
      for (let at = 0; at < 3; at++) await askForAccount(newEmail);
    });

    test("mails it two links in 15 minutes", async () => {
      for (let at = 0; at < 4; at++) await ask(newEmail);
      await latchkey.drain();
      expect(sent().filter((mail) => mail.startsWith(newEmail))).toHaveLength(5);
    });

    test("mails no notice for a refused link", async () => {
      for (let at = 0; at < 4; at++) await ask(newEmail);
      await latchkey.drain();
      expect(sent().filter((mail) => mail.startsWith(oldEmail))).toHaveLength(2);
    });

    test("is answered alike past the limit", async () => {
      for (let at = 0; at < 4; at++) expect(await ask(newEmail)).toEqual(answer(newEmail));
    });

    test("logs each refusal", async () => {
      for (let at = 0; at < 4; at++) await ask(newEmail);
      const refused = { event: "email_change.refused", reason: "throttled" };
      expect(latchkey.events().filter(({ event }) => event === refused.event)).toEqual([refused, refused]);
    });
  });

  test("mails at most fifty links for a client in 15 minutes", async () => {
    const options = { facts: { client: "192.0.2.1" } };
    await latchkey.countUp("registration:client:192.0.2.1", 49);
    await ask("one@example.com", cookie, options);
    expect(await ask("two@example.com", cookie, options)).toEqual(answer("two@example.com"));
    expect(await latchkey.jobs()).toHaveLength(2);
  });
});

describe("confirming", () => {
  describe("in the browser that asked", () => {
    let other: string;
    let bobs: string;
    let confirmed: Outcome;

    beforeEach(async () => {
      other = await latchkey.signedIn(ada);
      bobs = await latchkey.signedIn({ email: "bob@example.com" });
      confirmed = await confirm(await link(), cookie);
    });

    test("sets the address", async () => {
      const { status, location } = confirmed;
      expect([status, location]).toEqual([302, "/dashboard?notice=email_changed"]);
      expect((await logIn({ email: oldEmail })).status).toBe(422);
      expect((await logIn({ email: newEmail })).status).toBe(302);
    });

    test("keeps its session", async () => {
      expect((await openAccount(`session=${confirmed.cookies.session}`)).data.user.email).toBe(newEmail);
    });

    test("ends every other session of the account", async () => {
      expect(await openAccount(other)).toMatchObject({ location: "/login" });
      expect(latchkey.events()).toEqual([
        { event: "email_change.requested" },
        { event: "session.ended", reason: "email_changed" },
        { event: "email_change.completed" },
      ]);
    });

    test("keeps the sessions of other accounts", async () => {
      expect((await openAccount(bobs)).status).toBe(200);
    });
  });

  describe("in a browser without a session", () => {
    let confirmed: Outcome;

    beforeEach(async () => {
      confirmed = await confirm(await link());
    });

    test("sets the address", async () => {
      expect(await emails()).toEqual([newEmail]);
    });

    test("ends every session of the account", async () => {
      expect(await latchkey.execute("select * from sessions")).toEqual([]);
    });

    test("signs nobody in", () => {
      const { status, location, cookies } = confirmed;
      expect([status, location, cookies]).toEqual([302, "/login?notice=email_changed", {}]);
    });
  });

  describe("in a browser of another user", () => {
    let one: MailedLink;
    let refused: Outcome;

    beforeEach(async () => {
      const bobs = await latchkey.signedIn({ email: "bob@example.com" });
      one = await link();
      refused = await latchkey.unchanged(() => confirm(one, bobs));
    });

    test("is refused", () => {
      expect(refused).toMatchObject({ status: 422, data: { typed: one, outcome: "another_account" } });
      expect(refused.cookies).toEqual({});
    });

    test("keeps the link valid", async () => {
      expect((await confirm(one)).status).toBe(302);
    });
  });

  test.each([
    ["without a session forgets every device", false],
    ["in the owner's browser keeps every device", true],
  ])("%s", async (_what, owns) => {
    const { cookies } = await logIn({ email: oldEmail });
    await confirm(await link(), owns ? cookie : "");
    expect(await latchkey.execute("select token_hash from devices")).toEqual(
      owns ? [{ token_hash: sha256(cookies.device ?? "") }] : [],
    );
  });

  describe("names the account by its present address", () => {
    let one: MailedLink;
    let bobs: string;

    beforeEach(async () => {
      one = await link();
      bobs = await latchkey.signedIn({ email: "bob@example.com" });
    });

    const browser = (whose: string) => ({ owner: cookie, "another user": bobs })[whose] ?? "";

    const show = (token: string, from = "") =>
      latchkey.unchanged(() => confirm({ ...one, token, intent: "show" }, from));

    test("in the mail", () => {
      expect(latchkey.mails().find(({ to }) => to === newEmail)?.text).toContain(
        `The account ${oldEmail} is to get this address. When you confirm it, you log in to that account with this address, and its mails come here.`,
      );
    });

    test.each(["owner", "another user", "nobody"])("not yet at the link in a browser of %s", async (whose) => {
      const path = `/account/email?${new URLSearchParams(one)}`;
      const { data } = await call(confirmEmail.loader, get(path, { cookie: browser(whose) }));
      expect(data).toEqual({ ...one, problem: null });
    });

    test.each(["owner", "nobody"])("after a form in a browser of %s", async (whose) => {
      const shown = await show(one.token, browser(whose));
      expect(shown).toMatchObject({ status: 200, data: { typed: one, account: oldEmail } });
    });

    test("never in a browser of another user", async () => {
      const refused = await show(one.token, bobs);
      expect([refused.status, refused.data]).toEqual([422, { typed: one, outcome: "another_account" }]);
    });

    test("never for an invalid token", async () => {
      expect(await show("0".repeat(64))).toMatchObject({ status: 422, data: { invalidLink } });
    });
  });

  describe("can be declined", () => {
    let one: MailedLink;

    beforeEach(async () => {
      one = await link();
    });

    const decline = (token = one.token) => confirm({ ...one, token, intent: "decline" });

    test("which makes the link invalid", async () => {
      expect(await decline()).toMatchObject({ status: 200, data: { outcome: "declined" } });
      await expectInvalid(one);
      expect(latchkey.events()).toContainEqual({ event: "email_change.refused", reason: "declined" });
    });

    test("which keeps the present address", async () => {
      await decline();
      expect(await emails()).toEqual([oldEmail]);
    });

    test("only with the token of the link", async () => {
      expect((await decline("0".repeat(64))).data).toMatchObject({ outcome: "declined" });
      expect(await latchkey.execute("select * from email_changes")).toHaveLength(1);
    });
  });

  test("ends every change to the new address", async () => {
    const bobsToNew = await link(newEmail, await latchkey.signedIn({ email: "bob@example.com" }));
    await confirmed();
    await expectInvalid(bobsToNew);
  });

  test("ends every change of the user", async () => {
    const own = await link("third@example.com");
    const one = await confirmed();
    for (const dead of [own, one]) await expectInvalid(dead);
    expect(await latchkey.execute("select * from email_changes")).toEqual([]);
  });

  test("ends every reset link of the old address", async () => {
    const reset = await resetLink(latchkey);
    await confirmed();
    for (const dead of [reset, { ...reset, email: newEmail }]) {
      expect((await resetWith(dead, newPassword)).status).toBe(422);
    }
    expect(await latchkey.execute("select * from password_resets")).toEqual([]);
  });

  test("ends every registration link of the new address", async () => {
    const registration = await registrationLink(latchkey, newEmail);
    await confirmed();
    expect((await registerWith(registration, newPassword)).status).toBe(422);
    expect(await latchkey.execute("select * from registrations")).toEqual([]);
  });

  test("ends no link of others", async () => {
    await link("robert@example.com", await latchkey.signedIn({ email: "bob@example.com" }));
    await resetLink(latchkey, "bob@example.com");
    await registrationLink(latchkey);
    await confirmed();
    expect(await latchkey.execute("select email from email_changes")).toEqual([{ email: "robert@example.com" }]);
    expect(await latchkey.execute("select email from password_resets")).toEqual([{ email: "bob@example.com" }]);
    expect(await latchkey.execute("select email from registrations")).toEqual([{ email: "grace@example.com" }]);
  });

  test("makes a reset mail for the old address dead that was still in the queue", async () => {
    const one = await link();
    await act(cookie, "send-password-link");
    await confirm(one, cookie);
    await latchkey.drain();
    expect(sent()).not.toContain(`${oldEmail}: Reset your password`);
    expect(await latchkey.execute("select * from password_resets")).toEqual([]);
  });

  describe("of an account that has only the provider", () => {
    let linus: string;
    let outcome: Outcome;

    beforeEach(async () => {
      linus = await latchkey.createUser({ email: "linus@example.com", password: null, idpId: "42" });
      const his = await latchkey.signedIn(linus);
      outcome = await confirm(await link("torvalds@example.com", his), his);
    });

    const signIn = () => {
      const profile = { id: "42", email: "linus@example.com", emailVerified: true, name: null, pictureUrl: null };
      return signInToAccount(unknownVisitor, profile);
    };

    test("sets the address", async () => {
      expect(outcome.location).toBe("/dashboard?notice=email_changed");
      expect(await emails()).toEqual([oldEmail, "torvalds@example.com"]);
    });

    test("keeps the sign-in at the provider", async () => {
      expect((await signIn()).userId).toBe(linus);
    });

    test("is not undone by a sign-in at the provider", async () => {
      await signIn();
      expect(await emails()).toEqual([oldEmail, "torvalds@example.com"]);
    });
  });

  test("frees the old address for a new account", async () => {
    await confirm(await link(), cookie);
    const registration = await registrationLink(latchkey, oldEmail);
    expect((await registerWith(registration, "the next owner's password")).status).toBe(302);
    expect(await emails()).toEqual([oldEmail, newEmail]);
  });
});

test("a link is invalid when its address now has an account", async () => {
  const one = await link();
  await latchkey.createUser({ email: newEmail });
  await expectInvalid(one, cookie);
});

describe("a failing database", () => {
  let one: MailedLink;

  beforeEach(async () => {
    one = await link();
    await latchkey.withoutTable("registrations", () =>
      expect(changeEmail(unknownVisitor, one)).rejects.toThrow("registrations"),
    );
  });

  test("changes no address", { tags: ["2.3.3", "16.5.3"] }, async () => {
    expect(await emails()).toEqual([oldEmail]);
  });

  test("leaves the link valid", { tags: ["2.3.3", "16.5.3"] }, async () => {
    expect((await confirm(one)).location).toBe("/login?notice=email_changed");
  });
});

describe("when it was not the owner", () => {
  test("a reset makes the mailed link invalid", async () => {
    const mailed = await link();
    expect((await resetWith(await resetLink(latchkey), "the owner's own password")).status).toBe(302);
    expect(await latchkey.execute("select * from email_changes")).toEqual([]);
    await expectInvalid(mailed);
  });

  test("a reset stops a link that still waits in the queue", async () => {
    await ask("second@example.com");
    await latchkey.execute("update pgboss.job set start_after = now() + interval '1 hour'");
    expect((await resetWith(await resetLink(latchkey), "the owner's own password")).status).toBe(302);
    await latchkey.execute("update pgboss.job set start_after = now() - interval '1 second'");
    await latchkey.drain();
    expect(sent()).not.toContain("second@example.com: Confirm your new email address");
    expect(await latchkey.execute("select * from email_changes")).toEqual([]);
  });

  describe.each([
    ["end-other-sessions", 302],
    ["end-session", 200],
    ["unlink-provider", 302],
  ])("%s", (intent, status) => {
    async function endSession(thief: string): Promise<void> {
      await latchkey.execute("update users set idp_id = '42' where email = ?", [oldEmail]);
      const find = "select id from sessions where token_hash = ?";
      const [session] = await latchkey.execute<{ id: string }>(find, [sha256(thief.replace("session=", ""))]);
      expect((await act(cookie, intent, { sessionId: session?.id ?? "" })).status).toBe(status);
    }

    test("ends what the ended session asked for", async () => {
      const thief = await latchkey.signedIn(ada);
      const mailed = await link(newEmail, thief);
      await endSession(thief);
      await expectInvalid(mailed, thief);
    });

    test("keeps what another account asked for", async () => {
      const bob = await latchkey.signedIn({ email: "bob@example.com" });
      const bobs = await link("robert@example.com", bob);
      await endSession(await latchkey.signedIn(ada));
      expect((await confirm(bobs, bob)).location).toBe("/dashboard?notice=email_changed");
    });
  });

  test("ending the session that asked stops a mail that still waits in the queue", async () => {
    const thief = await latchkey.signedIn(ada);
    await ask(newEmail, thief);
    await act(cookie, "end-other-sessions");
    await latchkey.drain();
    expect(sent()).toEqual([`${oldEmail}: Your email address is being changed`]);
    expect(await latchkey.execute("select * from email_changes")).toEqual([]);
    expect(await latchkey.jobs()).toEqual([]);
  });

  test("a confirmed change stops a mail to a second address that still waits in the queue", async () => {
    const first = await link();
    await ask("second@example.com");
    expect((await confirm(first, cookie)).location).toBe("/dashboard?notice=email_changed");
    await latchkey.drain();
    expect(sent()).not.toContain("second@example.com: Confirm your new email address");
    expect(await latchkey.jobs()).toEqual([]);
  });

  const notOwner = "If it was not you, ";
  const disconnect =
    "remove every passkey and disconnect every external sign-in that you did not add yourself:\n\nhttp://localhost:3000/dashboard\n\n";

  test.each([
    [
      oldEmail,
      `${notOwner}log in at once, with ${newEmail} and your password or with an external sign-in, and change the address back. That signs every other browser out. Then change your password, and ${disconnect}If you cannot log in, tell the people who run this service.\n\n`,
    ],
    [
      newEmail,
      `${notOwner}somebody can read your mail: change the password of your mailbox, and then reset the password of this account:\n\nhttp://localhost:3000/forgot-password\n\nThen log in, and ${disconnect}`,
    ],
  ])("the notice to %s says what to do about it", async (address, advice) => {
    await confirm(await link());
    await latchkey.drain();
    expect(latchkey.mails().findLast(({ to }) => to === address)).toMatchObject({
      subject: "Your email address was changed",
      text: `The email address of your account was changed from ${oldEmail} to ${newEmail}, and every other browser was signed out. You log in with ${newEmail} now.\n\n${advice}This mail was sent by Latchkey.`,
    });
  });
});

describe("deleting the account", () => {
  let bobs: string;
  let kept: MailedLink;

  beforeEach(async () => {
    await link();
    bobs = await latchkey.signedIn({ email: "bob@example.com" });
    await latchkey.execute(
      "insert into email_changes select 'x', id, ?, now() + interval '1 hour' from users where email = 'bob@example.com'",
      [oldEmail],
    );
    kept = await link("robert@example.com", bobs);
    expect((await act(cookie, "delete-account", { email: oldEmail })).location).toBe("/account-deleted");
  });

  test("removes its email changes", async () => {
    expect(await latchkey.execute("select * from email_changes where user_id = ?", [ada])).toEqual([]);
  });

  test("removes changes of others to its address", async () => {
    expect(await latchkey.execute("select email from email_changes")).toEqual([{ email: "robert@example.com" }]);
  });

  test("keeps changes of others to another address", async () => {
    expect((await confirm(kept, bobs)).location).toBe("/dashboard?notice=email_changed");
  });
});

test("a login that is being processed during a change of the address starts no session", async () => {
  const verified = await authenticate(unknownVisitor, { email: oldEmail, password: goodPassword });
  await confirm(await link());
  expect(await startVerifiedSession(unknownVisitor, verified!)).toBeNull();
  expect(await latchkey.execute("select * from sessions")).toEqual([]);
});
