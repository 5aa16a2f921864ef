import { rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { invite } from "#server/features/operator/invitations";
import { purgeExpired } from "#server/features/operator/purge";
import * as passkeyRoute from "~/routes/auth.passkey";
import * as login from "~/routes/login";
import * as complete from "~/routes/register_.complete";
import { askForAccount, confirmAddress, logIn } from "../support/account-calls";
import { Authenticator } from "../support/authenticator";
import { failed } from "../support/command";
import { google, signInWithGoogle } from "../support/google-sign-in";
import { startLatchkey } from "../support/latchkey";
import {
  emailChangeLink,
  expectInvalidLink,
  type MailedLink,
  mailSentOutcome,
  registrationLink,
} from "../support/mailed-links";
import { goodPassword, twice } from "../support/passwords";
import { call, get, post } from "../support/route-calls";

const webhook = {
  WEBHOOK_URL: "http://127.0.0.1:9/",
  WEBHOOK_SECRET: `whsec_${Buffer.alloc(24).toString("base64")}`,
};
const latchkey = startLatchkey({ ...google, ...webhook, REGISTRATION: "closed" });

const email = "grace@example.com";
const options = { groups: ["admins", "staff"], name: "Grace", days: 7 };
const invalidLink = "This link is invalid or has expired.";

const linkIn = (url: string): MailedLink => {
  const { searchParams } = new URL(url);
  return { email: searchParams.get("email") ?? "", token: searchParams.get("token") ?? "" };
};
const invited = async (address = email, more = {}) => linkIn((await invite(address, { ...options, ...more })) ?? "");
const open = (link: MailedLink) => call(complete.loader, get(`/register/complete?${new URLSearchParams(link)}`));
const finish = (link: MailedLink, name = "Grace H.") =>
  call(complete.action, post("/register/complete", { ...link, name, ...twice(goodPassword) }));
const users = () => latchkey.execute("select email, name, groups from users order by email");
const invitations = () => latchkey.execute("select email from invitations");
const account = (name: string | null) => ({ email, name, groups: ["admins", "staff"] });
const webhooks = async () =>
  (
    await latchkey.execute<{ data: { type: string; data: object } }>(
      "select data from pgboss.job where name = 'latchkey-webhooks' order by created_on",
    )
  ).map(({ data }) => data);
const command = (...words: string[]) => latchkey.command("user", ...words);

describe.each([
  ["closed", {}],
  ["limited to other domains", { REGISTRATION: "domains", REGISTRATION_DOMAINS: "example.org" }],
  ["open", { REGISTRATION: "open" }],
])("with a registration that is %s", (_how, settings) => {
  beforeEach(() => void latchkey.configure(settings));

  test("the link makes the account with the groups and the name that is posted", async () => {
    const done = await finish(await invited());
    expect(done).toMatchObject({ status: 302, location: "/dashboard" });
    expect(Object.keys(done.cookies).sort()).toEqual(["device", "last_sign_in", "notice", "session"]);
    expect(await users()).toEqual([account("Grace H.")]);
    expect((await logIn({ email })).status).toBe(302);
  });

  test("the link works once", async () => {
    const link = await invited();
    await finish(link);
    await expectInvalidLink(latchkey, (fields) => finish(fields as MailedLink), link, invalidLink);
  });

  test("a sign-in at the provider with the verified address accepts it", async () => {
    await invited();
    expect(await signInWithGoogle({ sub: "1", email, email_verified: true, name: "G." })).toMatchObject({
      location: "/dashboard",
    });
    expect(await users()).toEqual([account("Grace")]);
    expect(await invitations()).toEqual([]);
  });

  test("the registration's own mail accepts it, and ends the link", async () => {
    const link = await invited();
    const own = await registrationLink(latchkey, email);
    expect(latchkey.mails().at(-1)?.subject).toBe("Finish creating your account");
    expect(await finish(own)).toMatchObject({ status: 302 });
    expect(await users()).toEqual([account("Grace H.")]);
    await expectInvalidLink(latchkey, (fields) => finish(fields as MailedLink), link, invalidLink);
  });

  test("the link ends the registration's own", async () => {
    const link = await invited();
    const own = await registrationLink(latchkey, email);
    await finish(link);
    await expectInvalidLink(latchkey, (fields) => finish(fields as MailedLink), own, invalidLink);
  });
});

describe("the page of the link", () => {
  test("says that one was invited, has the name, and offers the provider", async () => {
    const { data } = await open(await invited());
    expect(data).toMatchObject({ problem: null, name: "Grace", invited: { provider: "Google", inApp: null } });
  });

  test("changes nothing by being opened", async () => {
    const link = await invited();
    await latchkey.unchanged(() => open(link));
  });

  test("says nothing of it where the link is dead", async () => {
    const link = await invited();
    const { data } = await open({ email, token: link.token.replace(/^./, (digit) => (digit === "0" ? "1" : "0")) });
    expect(data).not.toHaveProperty("invited");
    expect(data).toMatchObject({ problem: "dead" });
  });

  test("says nothing of it after the invitation has ended", async () => {
    const link = await invited();
    await latchkey.execute("update invitations set expires_at = now() - interval '1 millisecond'");
    expect((await open(link)).data).toMatchObject({ problem: "dead" });
    await expectInvalidLink(latchkey, (fields) => finish(fields as MailedLink), link, invalidLink);
  });
});

describe("acceptance", () => {
  test("is told to the application as a registration with the groups", async () => {
    await finish(await invited());
    expect(await webhooks()).toMatchObject([
      { type: "user.created", data: { email, name: "Grace H.", groups: ["admins", "staff"] } },
    ]);
  });

  test("is logged", async () => {
    await finish(await invited());
    expect(latchkey.events().map(({ event }) => event)).toEqual([
      "invitation.created",
      "invitation.accepted",
      "registration.completed",
    ]);
  });

  test("with a passkey in place of a password makes the account with the groups", async () => {
    const link = await invited();
    const asked = await call(passkeyRoute.action, post("/auth/passkey", { purpose: "register", ...link }));
    const passkey = new Authenticator().create(JSON.parse(asked.data));
    const options = { cookie: `passkey=${asked.cookies.passkey}` };
    const done = await call(
      complete.action,
      post("/register/complete", { ...link, name: "Grace H.", passkey }, options),
    );
    expect(done).toMatchObject({ status: 302, location: "/dashboard" });
    expect(await users()).toEqual([account("Grace H.")]);
    expect(await latchkey.execute("select password_hash from users")).toEqual([{ password_hash: null }]);
  });

  test("by a provider that has not verified the address is refused", async () => {
    await invited();
    await signInWithGoogle({ sub: "1", email, email_verified: false });
    expect(await users()).toEqual([]);
    expect(await invitations()).toHaveLength(1);
  });

  test("by an account with another address, found by the provider's id, does not happen", async () => {
    await latchkey.createUser({ email: "ada@example.com", idpId: "1" });
    await invited();
    expect(await signInWithGoogle({ sub: "1", email, email_verified: true })).toMatchObject({ location: "/dashboard" });
    expect(await users()).toEqual([{ email: "ada@example.com", name: null, groups: [] }]);
    expect(await invitations()).toHaveLength(1);
  });

  test("by a change of address adds as many groups as the account has room for", async () => {
    await invited(email, { groups: ["admins", "staff"] });
    const own = Array.from({ length: 31 }, (_, at) => `team-${at + 10}`);
    const cookie = await latchkey.signedIn(await latchkey.createUser());
    await latchkey.execute("update users set groups = string_to_array(?, ',')", [own.join()]);
    await confirmAddress(await emailChangeLink(latchkey, cookie, email), { cookie });
    expect(await users()).toEqual([{ email, name: null, groups: ["admins", ...own] }]);
  });

  test("by a change of address adds the groups", async () => {
    const cookie = await latchkey.signedIn(await latchkey.createUser());
    await latchkey.execute("update users set groups = '{dev,staff}'");
    await invited();
    await confirmAddress(await emailChangeLink(latchkey, cookie, email), { cookie });
    expect(await users()).toEqual([{ email, name: null, groups: ["admins", "dev", "staff"] }]);
    expect((await webhooks()).map(({ type }) => type)).toEqual(["user.email_changed", "user.groups_changed"]);
    expect(await invitations()).toEqual([]);
    expect(latchkey.events()).toContainEqual({ event: "invitation.accepted" });
  });

  test("by the mail of a registration ends with the invitation", async () => {
    await invited();
    const own = await registrationLink(latchkey, email);
    await command("uninvite", email);
    await expectInvalidLink(latchkey, (fields) => finish(fields as MailedLink), own, invalidLink);
  });

  test("by the mail of a registration has no more time than is left", async () => {
    await invited();
    await latchkey.execute("update invitations set expires_at = now() + interval '10 minutes'");
    await registrationLink(latchkey, email);
    const [left] = await latchkey.execute<{ seconds: number }>(
      "select extract(epoch from expires_at - now())::float as seconds from registrations",
    );
    expect(left?.seconds).toBeLessThanOrEqual(600);
  });
});

describe("POST /register where registration is closed", () => {
  test.each([email, "bob@example.com"])("answers %s as every address", async (address) => {
    await invited();
    expect(await askForAccount(address)).toEqual(mailSentOutcome(address));
    expect(await latchkey.jobs()).toEqual([{ task: "mail_registration", email: address, language: "en" }]);
  });

  test("leaves the invitation's own link alive", async () => {
    const link = await invited();
    await registrationLink(latchkey, email);
    expect((await finish(link)).status).toBe(302);
  });

  test("mails nothing to an address whose invitation has ended", async () => {
    await invited();
    await latchkey.execute("update invitations set expires_at = now() - interval '1 millisecond'");
    await askForAccount(email);
    await latchkey.drain();
    expect(latchkey.mails()).toEqual([]);
  });
});

describe("`invite`", () => {
  test("prints the link", async () => {
    const { status, stdout, events } = await command("invite", "Grace@Example.com", "--group", "staff", "--days", "30");
    expect(status).toBe(0);
    expect(stdout).toMatch(
      /^http:\/\/localhost:3000\/register\/complete\?email=grace%40example.com&token=[0-9a-f]{64}\n$/,
    );
    expect(events).toEqual([{ event: "invitation.created", actor: "cli" }]);
    const [row] = await latchkey.execute(
      "select groups, name, round(extract(epoch from expires_at - created_at))::int as s from invitations",
    );
    expect(row).toEqual({ groups: ["staff"], name: null, s: 30 * 86_400 });
  });

  test("mails the link, and queues no token", async () => {
    latchkey.configure({ DEFAULT_LOCALE: "de" });
    expect(await command("invite", email, "--name", "Grace", "--mail")).toMatchObject({
      stdout: "The invitation is on its way.\n",
    });
    const [job] = await latchkey.jobs();
    expect(Object.keys(job ?? {}).sort()).toEqual(["email", "invitedAt", "language", "task"]);
    await latchkey.drain();
    const mail = latchkey.mails().at(-1);
    expect(mail).toMatchObject({ to: email, subject: "Sie sind eingeladen" });
    expect(mail?.text).not.toContain("Grace");
    expect((await finish(linkIn(String(mail?.link)))).status).toBe(302);
  });

  test("has the subject of its mail in English", async () => {
    await command("invite", email, "--mail");
    await latchkey.drain();
    expect(latchkey.mails().at(-1)?.subject).toBe("You are invited");
  });

  test("takes the place of an earlier invitation, of its mail, too", async () => {
    const first = await invited();
    await command("invite", email, "--mail");
    const last = await invited(email, { groups: [] });
    await latchkey.drain();
    expect(latchkey.mails()).toEqual([]);
    await expectInvalidLink(latchkey, (fields) => finish(fields as MailedLink), first, invalidLink);
    await finish(last, "");
    expect(await users()).toEqual([{ email, name: null, groups: [] }]);
  });

  test("refuses an address with an account", async () => {
    await latchkey.createUser({ email });
    expect(await latchkey.unchanged(() => command("invite", email))).toEqual(
      failed(`The address ${email} has an account already: \`latchkey user groups\` changes its groups.\n`),
    );
  });

  test.each(["0", "31", "1.5", "-1", "a"])("refuses %s days", async (days) => {
    expect((await latchkey.unchanged(() => command("invite", email, `--days=${days}`))).status).toBe(2);
  });

  test("refuses a wrong name", async () => {
    expect((await latchkey.unchanged(() => command("invite", email, "--name", "a\nb"))).status).toBe(1);
  });
});

describe("`invitations`", () => {
  test("lists those that are valid", async () => {
    await invited("old@example.com");
    await latchkey.execute("update invitations set expires_at = now() - interval '1 millisecond'");
    await invited();
    await invited("bob@example.com", { groups: [] });
    const { stdout } = await command("invitations");
    expect(stdout).toMatch(/^bob@example\.com {2}- {2}until .*Z\ngrace@example\.com {2}admins,staff {2}until .*Z\n$/);
  });

  test("prints JSON", async () => {
    await invited();
    const line = JSON.parse((await command("invitations", "--json")).stdout);
    const times = { createdAt: expect.any(String), expiresAt: expect.any(String) };
    expect(line).toEqual({ email, groups: ["admins", "staff"], name: "Grace", ...times });
  });
});

describe("`uninvite`", () => {
  test("ends the link", async () => {
    const link = await invited();
    expect(await command("uninvite", email)).toMatchObject({
      stdout: "The invitation is removed.\n",
      events: [{ event: "invitation.removed", actor: "cli" }],
    });
    await expectInvalidLink(latchkey, (fields) => finish(fields as MailedLink), link, invalidLink);
  });

  test("refuses an address without an invitation", async () => {
    expect(await command("uninvite", email)).toEqual(failed(`There is no invitation of ${email}.\n`));
  });
});

const removed = "The invitation of the address was removed. The account does not get its groups.\n";

test("`create` removes the invitation without its groups, and says so", async () => {
  await invited();
  expect(await command("create", email)).toMatchObject({ status: 0, stderr: removed });
  expect(await users()).toEqual([{ email, name: null, groups: [] }]);
  expect(await invitations()).toEqual([]);
});

test("`set-email` removes the invitation without its groups, and says so", async () => {
  await latchkey.createUser();
  await invited();
  expect(await command("set-email", "ada@example.com", email)).toMatchObject({ status: 0, stderr: removed });
  expect(await users()).toEqual([{ email, name: null, groups: [] }]);
  expect(await invitations()).toEqual([]);
});

test("`import` removes the invitations of its addresses without their groups, and counts them", async () => {
  await invited();
  await invited("bob@example.com");
  const file = join(tmpdir(), `${crypto.randomUUID()}.jsonl`);
  await writeFile(file, JSON.stringify({ email }));
  onTestFinished(() => rm(file));
  expect(await command("import", file)).toMatchObject({
    status: 0,
    stdout: "1 account created, 0 skipped because the address has an account.\n",
    stderr: expect.stringContaining("1 invitation of these addresses removed. The accounts do not get their groups.\n"),
  });
  expect(await users()).toEqual([{ email, name: null, groups: [] }]);
  expect(await invitations()).toEqual([{ email: "bob@example.com" }]);
  expect(latchkey.events().map(({ event }) => event)).toContain("invitation.removed");
});

describe("with PASSWORDS=off", () => {
  beforeEach(() => void latchkey.configure({ PASSWORDS: "off" }));

  test("the link leads to the login page, without the address", async () => {
    expect((await command("invite", email)).stdout).toBe("http://localhost:3000/login?notice=invited\n");
  });

  test("the mail leads there, too", async () => {
    await command("invite", email, "--mail");
    await latchkey.drain();
    expect(latchkey.mails().at(-1)?.text).toContain("\nhttp://localhost:3000/login?notice=invited\n");
  });

  test("the login page has the notice, and redirects nowhere", async () => {
    latchkey.configure({ PASSWORDS: "off", SIGN_IN_REDIRECT: "on" });
    expect((await call(login.loader, get("/login?notice=invited"))).data).toMatchObject({ notice: "invited" });
  });

  test("a link that was printed before makes no account", async () => {
    latchkey.configure({});
    const link = await invited();
    latchkey.configure({ PASSWORDS: "off" });
    await finish(link);
    expect(await users()).toEqual([]);
  });
});

test("the purge removes what has ended", async () => {
  await invited("old@example.com");
  await latchkey.execute("update invitations set expires_at = now() - interval '1 millisecond'");
  await invited();
  await purgeExpired();
  expect(await invitations()).toEqual([{ email }]);
});
