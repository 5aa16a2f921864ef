import { beforeEach, expect, test } from "vitest";
import * as confirmEmail from "~/routes/account.email";
import * as completeRegistration from "~/routes/register_.complete";
import * as resetPassword from "~/routes/reset-password";
import { act, askForAccount, askForReset, logIn } from "../support/account-calls";
import { startLatchkey } from "../support/latchkey";
import { registrationLink, resetLink } from "../support/mailed-links";
import { call, get, type Outcome } from "../support/route-calls";
import { statementsOf } from "../support/statements";

const latchkey = startLatchkey();

const known = "ada@example.com";
const unknown = "nobody@example.com";

let owner: string;

beforeEach(async () => {
  owner = await latchkey.signedIn({ email: "owner@example.com" });
  await latchkey.createUser({ email: known });
  await latchkey.createUser({ email: "bob@example.com", password: null, idpId: "42" });
});

test.each<[string, (email: string) => Promise<Outcome>, number]>([
  ["/forgot-password", askForReset, 200],
  ["/register", askForAccount, 200],
  ["/login", (email) => logIn({ email, password: "not the right one" }), 422],
  ["/dashboard for another address", (email) => act(owner, "change-email", { email }), 200],
])("POST %s sends the same statements for an unknown address as for a known one", async (_path, post, status) => {
  const send = async (email: string) => {
    expect(await post(email)).toMatchObject({ status });
  };
  /** The statements without their values, some of which MikroORM writes into the text. */
  const statements = async (email: string) =>
    (await statementsOf(() => send(email))).map(({ text, values }) => [
      text.replaceAll(email, "").replaceAll(/'\d{4}-\d\d-\d\dT[\d:.]+Z'/g, ""),
      values?.length,
    ]);
  await send("the-first@example.com"); // The first job of a process also fills pg-boss's cache of queues.
  const sent = await statements(unknown);
  expect(sent).not.toEqual([]);
  expect(await statements(known)).toEqual(sent);
});

const ofAnotherAccount = async () => {
  await latchkey.createUser({ email: "eve@example.com" });
  return `device=${(await logIn({ email: "eve@example.com" })).cookies.device}`;
};

test.each<[string, () => Promise<string>]>([
  ["without a device cookie", async () => ""],
  ["with a malformed device cookie", async () => "device=x"],
  ["with a device cookie that is not stored", async () => `device=${"5".repeat(64)}`],
  ["with the device cookie of another account", ofAnotherAccount],
])("a failed login %s sends the same three statements whether there is an account or not", async (_what, cookieOf) => {
  const cookie = await cookieOf();
  expect((await logIn({ email: known })).cookies.device).toMatch(/^[0-9a-f]{64}$/);
  const fail = async (email: string) => expect((await logIn({ email, password: "wrong", cookie })).status).toBe(422);
  const sent = async (email: string) => (await statementsOf(() => fail(email))).map(({ text }) => text);
  const texts = await sent(known);
  expect(texts).toHaveLength(3);
  expect(texts[0]).toContain("from devices");
  expect(await sent(unknown)).toEqual(texts);
});

test("a request for a mail sends no statement on users", async () => {
  for (const ask of [askForReset, askForAccount]) {
    const sent = await statementsOf(() => ask(known));
    expect(sent).not.toEqual([]);
    for (const { text } of sent) expect(text).not.toMatch(/\busers\b/);
  }
});

test.each(["GET", "HEAD"])("a mailed link opened by %s is only read", async (method) => {
  for (const [path, loader, link] of [
    ["/reset-password", resetPassword.loader, await resetLink(latchkey, known)],
    ["/register/complete", completeRegistration.loader, await registrationLink(latchkey, unknown)],
    ["/account/email", confirmEmail.loader, { email: unknown, token: "0".repeat(64) }],
  ] as const) {
    const open = async () => {
      const opened = new Request(get(`${path}?${new URLSearchParams(link)}`), { method });
      expect(await call(loader, opened)).toMatchObject({ status: 200, data: link });
    };
    const sent = await statementsOf(() => latchkey.unchanged(open));
    for (const { text } of sent) expect(text).toMatch(/^select /);
  }
});
