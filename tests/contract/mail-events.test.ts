import { Webhook } from "standardwebhooks";
import { beforeEach, describe, expect, test } from "vitest";
import { checkMailEvents } from "#server/commands/doctor/mail";
import { type ConfigurationError, loadConfig } from "#server/config";
import { tellingDrivers } from "#server/mail-services/services";
import { either } from "#server/settings/formats";
import * as route from "~/routes/mail.events";
import { askForReset, confirmAddress, logIn, openAccount, resetWith } from "../support/account-calls";
import { startLatchkey } from "../support/latchkey";
import { emailChangeLink, resetLink } from "../support/mailed-links";
import { newPassword } from "../support/passwords";
import { call, get, type Outcome } from "../support/route-calls";
import { sha256 } from "../support/sha256";

const secret = `whsec_${Buffer.alloc(24, "+/").toString("base64")}`;
const password = "a:password of postmark";
const shared = { APP_URL: "https://login.example.com", MAIL_FROM: "Latchkey <no-reply@example.com>" };
const resend = { ...shared, MAIL_DRIVER: "resend", RESEND_API_KEY: "re_key", MAIL_EVENTS_SECRET: secret };
const postmark = {
  ...shared,
  MAIL_DRIVER: "postmark",
  POSTMARK_SERVER_TOKEN: "token",
  MAIL_EVENTS_SECRET: "a-password:of-postmark",
};

const latchkey = startLatchkey(resend);
const email = "ada@example.com";

beforeEach(() => latchkey.createUser({ email }));

const sent = (body: string, headers: Record<string, string>) =>
  call(
    route.action,
    new Request("http://localhost:3000/mail/events", {
      method: "POST",
      body,
      headers: { "Content-Type": "application/json", ...headers },
    }),
  );

let count = 0;

function signed(body: string, { id = `msg_${++count}`, at = new Date(), by = secret } = {}): Promise<Outcome> {
  const signature = new Webhook(by).sign(id, at, body);
  const timestamp = String(Math.floor(at.getTime() / 1000));
  return sent(body, { "svix-id": id, "svix-timestamp": timestamp, "svix-signature": signature });
}

const basic = (secret: string, user = "postmark") => `Basic ${Buffer.from(`${user}:${secret}`).toString("base64")}`;

const authorized = (body: string) => sent(body, { Authorization: basic(postmark.MAIL_EVENTS_SECRET) });

/** As in https://resend.com/docs/webhooks/emails/bounced */
const resendEvent = (type: string, data: object = {}, at = new Date()) =>
  JSON.stringify({
    type,
    created_at: at.toISOString(),
    data: {
      broadcast_id: "8b146471-e88e-4322-86af-016cd36fd216",
      created_at: at.toISOString(),
      email_id: "56761188-7520-42d8-8898-ff6fc54ce618",
      from: "Latchkey <no-reply@example.com>",
      to: [email],
      subject: "Reset your password",
      ...data,
    },
  });

const hard = { bounce: { message: "The address does not exist.", subType: "General", type: "Permanent" } };
const soft = { bounce: { message: "The mailbox is full.", subType: "MailboxFull", type: "Transient" } };

/** As in https://postmarkapp.com/developer/webhooks/bounce-webhook */
const postmarkEvent = (changes: object = {}) =>
  JSON.stringify({
    RecordType: "Bounce",
    MessageStream: "outbound",
    ID: "an id",
    Type: "HardBounce",
    TypeCode: 1,
    Name: "Hard bounce",
    MessageID: "883953f4-6105-42a2-a16a-77a8eac79483",
    ServerID: 23,
    Description: "The server was unable to deliver your message (ex: unknown user, mailbox not found).",
    Details: "Test bounce details",
    Email: email,
    From: "no-reply@example.com",
    BouncedAt: new Date().toISOString().replace("Z", "4567Z"),
    DumpAvailable: true,
    Inactive: true,
    CanActivate: true,
    Subject: "Test subject",
    Content: 'A mail with "ID": 5 in it',
    ...changes,
  }).replace('"an id"', "4323372036854775807");

const account = async () => {
  const [user] = await latchkey.execute<{ undeliverable_at: Date | null; undeliverable_by: string | null }>(
    "select undeliverable_at, undeliverable_by from users where email = ?",
    [email],
  );
  return user;
};

const told = async () =>
  (await latchkey.execute<{ type: string }>("select type from account_events")).map(({ type }) => type);

async function expectNothing(outcome: Outcome) {
  expect(outcome).toMatchObject({ status: 200, data: "" });
  expect(await told()).toEqual([]);
  expect(await account()).toEqual({ undeliverable_at: null, undeliverable_by: null });
  expect(latchkey.events()).toEqual([]);
}

async function expectTold(outcome: Outcome, type: "mail.bounced" | "mail.complained") {
  expect(outcome).toMatchObject({ status: 200, data: "" });
  expect(await told()).toEqual([type]);
  expect(await account()).toEqual({ undeliverable_at: expect.anything(), undeliverable_by: type });
  expect(latchkey.events()).toEqual([{ event: type }]);
}

describe("Resend", () => {
  test.each([
    ["a hard bounce", "email.bounced", hard, "mail.bounced"],
    [
      "a suppressed mail",
      "email.suppressed",
      { suppressed: { message: "…", type: "OnAccountSuppressionList" } },
      "mail.bounced",
    ],
    ["a complaint", "email.complained", {}, "mail.complained"],
  ] as const)("%s is told of the account", async (_what, type, data, event) => {
    await expectTold(await signed(resendEvent(type, data)), event);
  });

  test.each([
    ["a bounce", "email.bounced", hard],
    ["a complaint", "email.complained", {}],
  ])("%s is told without the kind of the mail", async (_what, type, data) => {
    await signed(resendEvent(type, data));
    expect(await latchkey.execute("select detail from account_events")).toEqual([{ detail: null }]);
  });

  test.each([
    ["a soft bounce", resendEvent("email.bounced", soft)],
    ["a delivered mail", resendEvent("email.delivered")],
    ["a mail from another sender", resendEvent("email.bounced", { ...hard, from: "shop@example.com" })],
    ["a mail to two", resendEvent("email.bounced", { ...hard, to: [email, "b@example.com"] })],
    ["a mail to nobody", resendEvent("email.bounced", { ...hard, to: [] })],
    ["an address without an account", resendEvent("email.bounced", { ...hard, to: ["nobody@example.com"] })],
    ["an address that is an object", resendEvent("email.bounced", { ...hard, to: [{ $ne: null }] })],
    ["an event of last year", resendEvent("email.bounced", hard, new Date(Date.now() - 365 * 86_400_000))],
    [
      "an event without a date",
      resendEvent("email.bounced", hard).replace(/"created_at":"[^"]+"/, '"created_at":"never"'),
    ],
    ["JSON that is not an object", "null"],
    ["what is not JSON", "nonsense"],
    ["nothing", ""],
  ])("%s is answered by 200 without a change", async (_what, body) => {
    await expectNothing(await signed(body));
  });

  test("the address is matched as stored addresses are", async () => {
    const data = { ...hard, to: [" Ada@EXAMPLE.com"], from: "NO-REPLY@example.com" };
    await expectTold(await signed(resendEvent("email.bounced", data)), "mail.bounced");
  });

  test("the same event counts once", async () => {
    await signed(resendEvent("email.bounced", hard), { id: "msg_1" });
    await expectTold(await signed(resendEvent("email.bounced", hard), { id: "msg_1" }), "mail.bounced");
  });

  test.each([
    ["another secret", { by: `whsec_${Buffer.alloc(24, "x").toString("base64")}` }],
    ["a time of ten minutes ago", { at: new Date(Date.now() - 600_000) }],
  ])("a signature with %s is a 401", async (_what, changes) => {
    const refused = await latchkey.unchanged(() => signed(resendEvent("email.bounced", hard), changes));
    expect(refused.status).toBe(401);
    expect(refused.headers.get("WWW-Authenticate")).toBe('Webhook realm="Latchkey"');
  });

  test("no signature is a 401", async () => {
    expect(await sent(resendEvent("email.bounced", hard), {})).toMatchObject({ status: 401 });
  });
});

describe("Postmark", () => {
  beforeEach(() => void latchkey.configure(postmark));

  test.each([
    ["a hard bounce", {}, "mail.bounced"],
    ["a bad address", { Type: "BadEmailAddress", TypeCode: 100_000 }, "mail.bounced"],
    ["a complaint", { RecordType: "SpamComplaint", Type: "SpamComplaint", TypeCode: 100_001 }, "mail.complained"],
  ] as const)("%s is told of the account", async (_what, changes, event) => {
    await expectTold(await authorized(postmarkEvent(changes)), event);
  });

  test.each([
    ["a soft bounce", postmarkEvent({ Type: "SoftBounce" })],
    ["a delivered mail", postmarkEvent({ RecordType: "Delivery" })],
    ["a mail from another sender", postmarkEvent({ From: "shop@example.com" })],
    [
      "a sender with a name of 1,000 characters",
      postmarkEvent({ From: `${"a".repeat(1_000)} <no-reply@example.com>` }),
    ],
    ["an event of last year", postmarkEvent({ BouncedAt: "2025-01-05T16:33:54.9070259Z" })],
  ])("%s is answered by 200 without a change", async (_what, body) => {
    await expectNothing(await authorized(body));
  });

  test("two events count twice where their ids differ in the last of 19 digits alone", async () => {
    await authorized(postmarkEvent());
    await authorized(postmarkEvent().replace("775807", "775806"));
    expect(await told()).toEqual(["mail.bounced", "mail.bounced"]);
  });

  test("a bounce does not hide the complaint with its id", async () => {
    await authorized(postmarkEvent());
    await authorized(postmarkEvent({ RecordType: "SpamComplaint" }));
    expect((await told()).sort()).toEqual(["mail.bounced", "mail.complained"]);
  });

  test.each(["", "latchkey"])("the password counts with the user name “%s”", async (user) => {
    const Authorization = basic(postmark.MAIL_EVENTS_SECRET, user);
    await expectTold(await sent(postmarkEvent(), { Authorization }), "mail.bounced");
  });

  test("the same event counts once", async () => {
    await authorized(postmarkEvent());
    await expectTold(await authorized(postmarkEvent()), "mail.bounced");
  });

  test.each([
    ["another password", basic(password)],
    ["the password as the user", basic("", postmark.MAIL_EVENTS_SECRET)],
    ["another scheme", `Bearer ${postmark.MAIL_EVENTS_SECRET}`],
    ["no password", ""],
  ])("%s is a 401", async (_what, authorization) => {
    const refused = await latchkey.unchanged(() => sent(postmarkEvent(), { Authorization: authorization }));
    expect(refused.status).toBe(401);
    expect(refused.headers.get("WWW-Authenticate")).toBe('Basic realm="Latchkey"');
  });
});

describe("the endpoint", () => {
  test("is a 404 without the setting", async () => {
    latchkey.configure({ MAIL_EVENTS_SECRET: undefined });
    expect(await sent("{}", {})).toMatchObject({ status: 404 });
    expect(await call(route.loader, get("/mail/events"))).toMatchObject({ status: 404 });
  });

  test("takes POST alone", async () => {
    const refused = await call(route.loader, get("/mail/events"));
    expect([refused.status, refused.headers.get("Allow")]).toEqual([405, "POST"]);
  });

  test("takes JSON alone", async () => {
    expect(await sent("{}", { "Content-Type": "text/plain" })).toMatchObject({ status: 415 });
  });

  test("takes 256 KiB at most", async () => {
    const body = (size: number) => resendEvent("email.delivered").padEnd(size);
    expect(await signed(body(262_144))).toMatchObject({ status: 200 });
    expect(await signed(body(262_145))).toMatchObject({ status: 413 });
  });

  test("is a 503 where an event cannot be stored", async () => {
    const { orm, setOrm } = await import("#server/database/unit-of-work");
    const { DriverException } = await import("@mikro-orm/core");
    const before = orm();
    const gone = Object.assign(new DriverException(new Error("gone")), { code: "ECONNREFUSED" });
    const knex = { client: { config: {}, acquireConnection: () => Promise.reject(gone) } };
    setOrm({ em: { getKnex: () => knex } } as unknown as typeof before);
    try {
      expect(await signed(resendEvent("email.bounced", hard))).toMatchObject({ status: 503 });
    } finally {
      setOrm(before);
    }
  });
});

describe("an undeliverable address", () => {
  const bounce = () => signed(resendEvent("email.bounced", hard));

  test("is known by the first event that told so", async () => {
    await bounce();
    const first = await account();
    await signed(resendEvent("email.complained"));
    expect(await account()).toEqual(first);
  });

  test("is told on the account page", async () => {
    const cookie = await latchkey.signedIn((await latchkey.execute<{ id: string }>("select id from users"))[0]?.id);
    expect((await openAccount(cookie)).data.user.isUndeliverable).toBe(false);
    await bounce();
    expect((await openAccount(cookie)).data.user.isUndeliverable).toBe(true);
  });

  test("is one no longer after a reset", async () => {
    latchkey.configure({ ...resend, MAIL_DRIVER: "log", MAIL_EVENTS_SECRET: undefined });
    const link = await resetLink(latchkey);
    await latchkey.execute("update users set undeliverable_at = now(), undeliverable_by = 'mail.bounced'");
    await resetWith(link, newPassword);
    expect(await account()).toEqual({ undeliverable_at: null, undeliverable_by: null });
  });

  test("is none after a bounce that is older than a reset", async () => {
    const before = new Date();
    const token = "0".repeat(64);
    const row = [sha256(token), email, new Date(Date.now() + 60_000)];
    await latchkey.execute("insert into password_resets (token_hash, email, expires_at) values (?, ?, ?)", row);
    await resetWith({ email, token }, newPassword);
    await signed(resendEvent("email.bounced", hard, before));
    expect(await account()).toEqual({ undeliverable_at: null, undeliverable_by: null });
  });

  test("is none after a bounce that is older than the account", async () => {
    await signed(resendEvent("email.bounced", hard, new Date(Date.now() - 60_000)));
    expect(await account()).toEqual({ undeliverable_at: null, undeliverable_by: null });
    expect(await latchkey.execute("select type from account_events")).toEqual([]);
  });

  test("is no longer one once another address is confirmed", async () => {
    latchkey.configure({ ...resend, MAIL_DRIVER: "log", MAIL_EVENTS_SECRET: undefined });
    const link = await emailChangeLink(latchkey, `session=${(await logIn()).cookies.session}`, "new@example.com");
    await latchkey.execute("update users set undeliverable_at = now(), undeliverable_by = 'mail.bounced'");
    await confirmAddress(link);
    const rows = await latchkey.execute("select email, undeliverable_at, undeliverable_by from users");
    expect(rows).toEqual([{ email: link.email, undeliverable_at: null, undeliverable_by: null }]);
  });

  test.each([
    ["mail.refused", null],
    ["mail.bounced", "mail.bounced"],
  ])("by %s is one by %s after an accepted mail", async (by, after) => {
    latchkey.configure({ ...resend, MAIL_DRIVER: "log", MAIL_EVENTS_SECRET: undefined });
    await latchkey.execute("update users set undeliverable_at = now(), undeliverable_by = ?", [by]);
    await askForReset(email);
    await latchkey.drain();
    expect((await account())?.undeliverable_by).toBe(after);
  });

  test("changes no answer to a visitor", async () => {
    const before = await askForReset(email);
    await bounce();
    expect(await askForReset(email)).toEqual(before);
  });

  test("is listed by `user list --undeliverable`", async () => {
    await latchkey.createUser({ email: "grace@example.com" });
    await bounce();
    const { stdout } = await latchkey.command("user", "list", "--undeliverable");
    expect(stdout).toMatch(/^ada@example\.com {2}\S+ {2}-\n$/);
  });
});

describe("MAIL_EVENTS_SECRET", () => {
  const problemsOf = (settings: object) => {
    try {
      loadConfig({ ...settings });
      return [];
    } catch (error) {
      return (error as ConfigurationError).problems;
    }
  };

  test.each([
    [
      "of Resend must be the secret of its webhook",
      { ...resend, MAIL_EVENTS_SECRET: "whsec_short" },
      "must be whsec_ and the base64 of 24 to 64 bytes",
    ],
    [
      "of Postmark has 16 characters",
      { ...postmark, MAIL_EVENTS_SECRET: "fifteen-letters" },
      "must have 16 characters or more",
    ],
    [
      "needs a driver that has events",
      { ...shared, MAIL_EVENTS_SECRET: secret },
      `must not be set: MAIL_DRIVER is not ${either(tellingDrivers)}`,
    ],
  ])("%s", (_what, settings, problem) => {
    expect(problemsOf(settings)).toEqual([`MAIL_EVENTS_SECRET ${problem}`]);
  });

  test("that is missing is named by `doctor`", () => {
    expect(checkMailEvents(loadConfig({ ...resend, MAIL_EVENTS_SECRET: undefined }))).toEqual([
      {
        status: "warn",
        name: "mail events",
        found: "bounces are not reported: undeliverable addresses stay unknown",
        fix: "set MAIL_EVENTS_SECRET, and let the webhook of Resend call https://login.example.com/mail/events",
      },
    ]);
  });

  test("is in no way missing with a driver that has no events", () => {
    expect(checkMailEvents(loadConfig({}))).toEqual([]);
  });
});
