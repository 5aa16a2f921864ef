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
  test("mails a link to the new address and a notice to the old one, and changes nothing yet", async () => {
    expect(await ask(" Lovelace@Example.com ")).toEqual(answer("Lovelace@Example.com"));
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
    await latchkey.drain();
    expect(sent().sort()).toEqual([
      `${oldEmail}: Your email address is being changed`,
      `${newEmail}: Confirm your new email address`,
    ]);
    const { email, token } = Object.fromEntries(latchkey.mails().find(({ to }) => to === newEmail)!.link!.searchParams);
    expect(email).toBe(newEmail);
    expect(token).toMatch(/^[0-9a-f]{64}$/);
    expect(await latchkey.execute("select * from email_changes")).toEqual([
      { token_hash: sha256(token ?? ""), user_id: ada, email: newEmail, expires_at: expect.anything() },
    ]);
    expect(await emails()).toEqual([oldEmail]);
    expect(latchkey.events()).toEqual([{ event: "email_change.requested" }]);
  });

  test("is answered alike for an address with an account, which is told; the owner gets the same notice", async () => {
    await latchkey.createUser({ email: "bob@example.com" });
    expect(await ask("bob@example.com")).toEqual(answer("bob@example.com"));
    await latchkey.drain();
    expect(sent().sort()).toEqual([
      `${oldEmail}: Your email address is being changed`,
      "bob@example.com: You already have an account",
    ]);
    expect(latchkey.mails().find(({ to }) => to === oldEmail)?.text).toContain("to bob@example.com.");
    expect(latchkey.mails().map(({ link: one }) => one)).toEqual([null, null]);
    const rows = await latchkey.execute<Record<string, string>>("select user_id, email from email_changes");
    expect(rows).toEqual([{ user_id: ada, email: "bob@example.com" }]);
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

  test.each([
    ["domains", "lovelace@example.net", []],
    ["domains", newEmail, [`${newEmail}: Confirm your new email address`]],
    ["closed", newEmail, [`${newEmail}: Confirm your new email address`]],
  ])("with REGISTRATION=%s to %s is answered alike, and the new address is sent %j", async (mode, email, mails) => {
    latchkey.configure({ REGISTRATION: mode, ...(mode === "domains" && { REGISTRATION_DOMAINS: "example.com" }) });
    expect(await ask(email)).toEqual(answer(email));
    await latchkey.drain();
    expect(sent().filter((mail) => mail.startsWith(email))).toEqual(mails);
    expect(await latchkey.execute("select email from email_changes")).toEqual([{ email }]);
  });

  test("counts with the registration mails of the address: past five in 15 minutes the answer is the same and no mail goes", async () => {
    for (let at = 0; at < 3; at++) await askForAccount(newEmail);
    for (let at = 0; at < 4; at++) expect(await ask(newEmail)).toEqual(answer(newEmail));
    await latchkey.drain();
    expect(sent().filter((mail) => mail.startsWith(newEmail))).toHaveLength(5);
    expect(sent().filter((mail) => mail.startsWith(oldEmail))).toHaveLength(2);
    const refused = { event: "email_change.refused", reason: "throttled" };
    expect(latchkey.events().filter(({ event }) => event === refused.event)).toEqual([refused, refused]);
  });

  test("counts for the client: at most fifty mails in 15 minutes", async () => {
    const options = { facts: { client: "192.0.2.1" } };
    await latchkey.execute(
      "insert into rate_limits values ('registration:client:192.0.2.1', 49, extract(epoch from now()) * 1000 + 900000)",
    );
    await ask("one@example.com", cookie, options);
    expect(await ask("two@example.com", cookie, options)).toEqual(answer("two@example.com"));
    expect(await latchkey.jobs()).toHaveLength(2);
  });
});

describe("confirming", () => {
  test("in the browser that asked sets the address, keeps its session and ends every other one", async () => {
    const other = await latchkey.signedIn(ada);
    const bobs = await latchkey.signedIn({ email: "bob@example.com" });
    const { status, location, cookies } = await confirm(await link(), cookie);
    expect([status, location]).toEqual([302, "/dashboard?notice=email_changed"]);
    expect((await openAccount(`session=${cookies.session}`)).data.user.email).toBe(newEmail);
    expect(await openAccount(other)).toMatchObject({ location: "/login" });
    expect((await openAccount(bobs)).status).toBe(200);
    expect((await logIn({ email: oldEmail })).status).toBe(422);
    expect((await logIn({ email: newEmail })).status).toBe(302);
    expect(latchkey.events().slice(0, 3)).toEqual([
      { event: "email_change.requested" },
      { event: "session.ended", reason: "email_changed" },
      { event: "email_change.completed" },
    ]);
  });

  test("in a browser without a session ends every session and signs nobody in", async () => {
    const { status, location, cookies } = await confirm(await link());
    expect([status, location, cookies]).toEqual([302, "/login?notice=email_changed", {}]);
    expect(await latchkey.execute("select * from sessions")).toEqual([]);
    expect(await emails()).toEqual([newEmail]);
  });

  test("in a browser of another user is refused, and the link stays valid", async () => {
    const bobs = await latchkey.signedIn({ email: "bob@example.com" });
    const one = await link();
    const refused = await latchkey.unchanged(() => confirm(one, bobs));
    expect(refused).toMatchObject({ status: 422, data: { typed: one, outcome: "another_account" } });
    expect(refused.cookies).toEqual({});
    expect((await confirm(one)).status).toBe(302);
  });

  test.each([
    ["without a session forgets every device, so that the next login is told", false],
    ["in the owner's browser keeps every device", true],
  ])("%s", async (_what, owns) => {
    const { cookies } = await logIn({ email: oldEmail });
    await confirm(await link(), owns ? cookie : "");
    expect(await latchkey.execute("select token_hash from devices")).toEqual(
      owns ? [{ token_hash: sha256(cookies.device ?? "") }] : [],
    );
  });

  test("names the account by its present address before it: in the mail, and after a form, in every browser but another account's", async () => {
    const one = await link();
    expect(latchkey.mails().find(({ to }) => to === newEmail)?.text).toContain(
      `The account ${oldEmail} is to get this address. When you confirm it, you log in to that account with this address, and its mails come here.`,
    );
    const path = `/account/email?${new URLSearchParams(one)}`;
    const bobs = await latchkey.signedIn({ email: "bob@example.com" });
    for (const from of [cookie, bobs, ""]) {
      expect((await call(confirmEmail.loader, get(path, { cookie: from }))).data).toEqual(one);
    }
    const show = (token: string, from = "") =>
      latchkey.unchanged(() => confirm({ ...one, token, intent: "show" }, from));
    for (const from of [cookie, ""]) {
      expect(await show(one.token, from)).toMatchObject({ status: 200, data: { typed: one, account: oldEmail } });
    }
    const refused = await show(one.token, bobs);
    expect([refused.status, refused.data]).toEqual([422, { typed: one, outcome: "another_account" }]);
    expect(await show("0".repeat(64))).toMatchObject({ status: 422, data: { invalidLink } });
  });

  test("can be declined: the link is invalid then, and nothing was changed", async () => {
    const one = await link();
    const decline = (token: string) => confirm({ ...one, token, intent: "decline" });
    expect((await decline("0".repeat(64))).data).toMatchObject({ outcome: "declined" });
    expect(await latchkey.execute("select * from email_changes")).toHaveLength(1);
    expect(await decline(one.token)).toMatchObject({ status: 200, data: { outcome: "declined" } });
    await expectInvalid(one);
    expect(await emails()).toEqual([oldEmail]);
    expect(latchkey.events()).toContainEqual({ event: "email_change.refused", reason: "declined" });
  });

  test("ends every link of both addresses and of the user, and no other link", async () => {
    const registrationOfNew = await registrationLink(latchkey, newEmail);
    const bob = await latchkey.createUser({ email: "bob@example.com" });
    const bobs = await latchkey.signedIn(bob);
    const bobsToNew = await link(newEmail, bobs);
    await link("robert@example.com", bobs);
    const own = await link("third@example.com");
    const reset = await resetLink(latchkey);
    await resetLink(latchkey, "bob@example.com");
    await registrationLink(latchkey);
    const one = await link();
    expect(await latchkey.execute("select * from email_changes")).toHaveLength(4);

    expect((await confirm(one, cookie)).status).toBe(302);

    for (const dead of [bobsToNew, own, one]) await expectInvalid(dead);
    for (const dead of [reset, { ...reset, email: newEmail }]) {
      expect((await resetWith(dead, newPassword)).status).toBe(422);
    }
    expect((await registerWith(registrationOfNew, newPassword)).status).toBe(422);
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

  test("of an account that has only the provider works, and the provider still signs in and does not change the address", async () => {
    const linus = await latchkey.createUser({ email: "linus@example.com", password: null, idpId: "42" });
    const his = await latchkey.signedIn(linus);
    expect((await confirm(await link("torvalds@example.com", his), his)).location).toBe(
      "/dashboard?notice=email_changed",
    );
    const profile = { id: "42", email: "linus@example.com", emailVerified: true, name: null, pictureUrl: null };
    const session = await signInToAccount(unknownVisitor, profile);
    expect(session.userId).toBe(linus);
    expect(await emails()).toEqual([oldEmail, "torvalds@example.com"]);
  });

  test("frees the old address for a new account", async () => {
    await confirm(await link(), cookie);
    const registration = await registrationLink(latchkey, oldEmail);
    expect((await registerWith(registration, "the next owner's password")).status).toBe(302);
    expect(await emails()).toEqual([oldEmail, newEmail]);
  });
});

describe("a link is invalid and changes nothing", () => {
  test("when the address now has an account", async () => {
    const one = await link();
    await latchkey.createUser({ email: newEmail });
    await expectInvalid(one, cookie);
  });

  test("but a failing database is an error, and changes nothing", { tags: ["2.3.3", "16.5.3"] }, async () => {
    const one = await link();
    await latchkey.withoutTable("registrations", () =>
      expect(changeEmail(unknownVisitor, one)).rejects.toThrow("registrations"),
    );
    expect(await emails()).toEqual([oldEmail]);
    expect((await confirm(one)).location).toBe("/login?notice=email_changed");
  });
});

describe("when it was not the owner", () => {
  test("a reset, as the notice says, stops the change: the mailed link and one that still waits in the queue", async () => {
    const mailed = await link();
    await ask("second@example.com");
    await latchkey.execute("update pgboss.job set start_after = now() + interval '1 hour'");
    expect((await resetWith(await resetLink(latchkey), "the owner's own password")).status).toBe(302);
    await latchkey.execute("update pgboss.job set start_after = now() - interval '1 second'");
    await latchkey.drain();
    expect(sent()).not.toContain("second@example.com: Confirm your new email address");
    expect(await latchkey.execute("select * from email_changes")).toEqual([]);
    await expectInvalid(mailed);
  });

  test.each([
    ["end-other-sessions", 302],
    ["end-session", 200],
    ["unlink-provider", 302],
  ])("%s ends what the ended session asked for, and nothing of another account", async (intent, status) => {
    await latchkey.execute("update users set idp_id = '42'");
    const thief = await latchkey.signedIn(ada);
    const mailed = await link(newEmail, thief);
    const bob = await latchkey.signedIn({ email: "bob@example.com" });
    const bobs = await link("robert@example.com", bob);
    const find = "select id from sessions where token_hash = ?";
    const [session] = await latchkey.execute<{ id: string }>(find, [sha256(thief.replace("session=", ""))]);
    expect((await act(cookie, intent, { sessionId: session?.id ?? "" })).status).toBe(status);
    await expectInvalid(mailed, thief);
    expect((await confirm(bobs, bob)).location).toBe("/dashboard?notice=email_changed");
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
  ])("the notice to %s says what happened and what to do", async (address, advice) => {
    await confirm(await link());
    await latchkey.drain();
    expect(latchkey.mails().findLast(({ to }) => to === address)).toMatchObject({
      subject: "Your email address was changed",
      text: `The email address of your account was changed from ${oldEmail} to ${newEmail}, and every other browser was signed out. You log in with ${newEmail} now.\n\n${advice}This mail was sent by Latchkey.`,
    });
  });
});

test("deleting the account removes its email changes and those of others to its address", async () => {
  await link();
  const bobs = await latchkey.signedIn({ email: "bob@example.com" });
  await latchkey.execute(
    "insert into email_changes select 'x', id, ?, now() + interval '1 hour' from users where email = 'bob@example.com'",
    [oldEmail],
  );
  const kept = await link("robert@example.com", bobs);
  expect((await act(cookie, "delete-account", { email: oldEmail })).location).toBe("/account-deleted");
  expect(await latchkey.execute("select email from email_changes")).toEqual([{ email: "robert@example.com" }]);
  expect((await confirm(kept, bobs)).location).toBe("/dashboard?notice=email_changed");
});

test("a login that is being processed during a change of the address starts no session", async () => {
  const verified = await authenticate(unknownVisitor, { email: oldEmail, password: goodPassword });
  await confirm(await link());
  expect(await startVerifiedSession(unknownVisitor, verified!)).toBeNull();
  expect(await latchkey.execute("select * from sessions")).toEqual([]);
});
