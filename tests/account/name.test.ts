import { beforeEach, describe, expect, test } from "vitest";
import * as complete from "~/routes/register_.complete";
import { act, openAccount } from "../support/account-calls";
import { callEndpoint } from "../support/endpoint-calls";
import { google, signInWithGoogle } from "../support/google-sign-in";
import { startLatchkey } from "../support/latchkey";
import { registrationLink } from "../support/mailed-links";
import { goodPassword, twice } from "../support/passwords";
import { call, post } from "../support/route-calls";

const latchkey = startLatchkey({
  ...google,
  WEBHOOK_URL: "http://127.0.0.1:9/",
  WEBHOOK_SECRET: `whsec_${"A".repeat(32)}`,
});

const stored = async () =>
  (await latchkey.execute<{ name: string | null }>("select name from users")).map(({ name }) => name);
const webhooks = async () =>
  (
    await latchkey.execute<{ data: { type: string; data: { name: string | null } } }>(
      "select data from pgboss.job where name = 'latchkey-webhooks' order by created_on",
    )
  ).map(({ data }) => [data.type, data.data.name]);
const wrong = "Use one line of plain text, of at most 100 characters.";

const valid: [what: string, typed: string, name: string][] = [
  ["white space around it", "  Ada Lovelace\n", "Ada Lovelace"],
  ["a decomposed letter", "Zoe\u0308", "Zo\u00eb"],
  ["100 characters outside the basic plane", "\u{1f600}".repeat(100), "\u{1f600}".repeat(100)],
  [
    "the joiners of Persian and of emoji",
    "می\u200cخواهم \u{1f469}\u200d\u{1f680}",
    "می\u200cخواهم \u{1f469}\u200d\u{1f680}",
  ],
  ["letters of Hebrew", "עדה", "עדה"],
  ["markup", "<b>Ada</b>", "<b>Ada</b>"],
];

const invalid: [what: string, typed: string][] = [
  ["a line break", "Ada\nLovelace"],
  ["U+2028", "Ada\u2028Lovelace"],
  ["U+2029", "Ada\u2029Lovelace"],
  ["U+0085", "Ada\u0085Lovelace"],
  ["a NUL", "Ada\0"],
  ["an override of the direction", "Ada \u202eecalevoL"],
  ["an isolate", "\u2066Ada"],
  ["a mark of the direction", "Ada\u200f"],
  ["the Arabic letter mark", "Ada\u061c"],
  ["101 characters", "x".repeat(101)],
];

describe("a name in a registration", () => {
  const finish = async (name: string) =>
    call(
      complete.action,
      post("/register/complete", { ...(await registrationLink(latchkey)), name, ...twice(goodPassword) }),
    );

  test.each(valid)("with %s is stored", async (_what, typed, name) => {
    expect(await finish(typed)).toMatchObject({ status: 302, location: "/dashboard" });
    expect(await stored()).toEqual([name]);
  });

  test("is in the webhook of the account", async () => {
    await finish("Ada");
    expect(await webhooks()).toEqual([["user.created", "Ada"]]);
  });

  test("need not be given", async () => {
    expect(await finish(" ")).toMatchObject({ status: 302 });
    expect(await stored()).toEqual([null]);
  });

  test.each(invalid)("with %s is refused at its field, and the link goes on", async (_what, typed) => {
    const link = await registrationLink(latchkey);
    const send = (name: string) =>
      call(complete.action, post("/register/complete", { ...link, name, ...twice(goodPassword) }));
    const refused = await latchkey.unchanged(() => send(typed));
    expect(refused.status).toBe(422);
    expect(refused.data).toEqual({ typed: { ...link, name: expect.any(String) }, errors: { name: wrong } });
    expect(await send("Ada")).toMatchObject({ status: 302 });
  });
});

describe("the action change-name", () => {
  let cookie: string;

  beforeEach(async () => {
    cookie = await latchkey.signedIn(await latchkey.createUser());
  });

  const change = (name: string) => act(cookie, "change-name", { name });

  test.each(valid)("stores a name with %s", async (_what, typed, name) => {
    expect((await change(typed)).data).toEqual({ done: "Your name was saved." });
    expect(await stored()).toEqual([name]);
  });

  test.each(invalid)("refuses a name with %s", async (_what, name) => {
    const refused = await latchkey.unchanged(() => change(name));
    expect(refused.status).toBe(422);
    expect(refused.data).toMatchObject({ intent: "change-name", errors: { name: wrong } });
  });

  test("is told at once to the account page and to scripts", async () => {
    await change("Ada");
    expect((await openAccount(cookie)).data.user).toMatchObject({ name: "Ada" });
    expect(JSON.parse(String((await callEndpoint("/auth/session", { cookie }))?.body)).user).toMatchObject({
      name: "Ada",
    });
  });

  test("is told to the application, and mailed to nobody", async () => {
    await latchkey.drain();
    const mailed = latchkey.mails().length;
    await change("Ada");
    await latchkey.drain();
    expect(await webhooks()).toEqual([["user.name_changed", "Ada"]]);
    expect(latchkey.mails()).toHaveLength(mailed);
  });

  test("is logged and in the history", async () => {
    await change("Ada");
    expect(latchkey.events()).toContainEqual({ event: "name.changed" });
    expect(await latchkey.execute("select type, actor from account_events where type like 'name%'")).toEqual([
      { type: "name.changed", actor: "owner" },
    ]);
  });

  test("takes the name away with an empty field", async () => {
    await change("Ada");
    await change(" ");
    expect(await stored()).toEqual([null]);
    expect(await webhooks()).toEqual([
      ["user.name_changed", "Ada"],
      ["user.name_changed", null],
    ]);
  });

  test("answers the same, and tells nobody, when nothing changes", async () => {
    await change("Ada");
    const answer = await latchkey.unchanged(() => change(" Ada "));
    expect(answer.data).toEqual({ done: "Your name was saved." });
    expect(await webhooks()).toHaveLength(1);
  });

  test("needs no recent sign-in", async () => {
    await latchkey.execute("update sessions set created_at = now() - interval '16 minutes'");
    expect((await change("Ada")).status).toBe(200);
    expect(await stored()).toEqual(["Ada"]);
  });

  test("without the field changes nothing", async () => {
    await change("Ada");
    const refused = await latchkey.unchanged(() => act(cookie, "change-name"));
    expect(refused.data).toMatchObject({ errors: { name: "This field is missing, or was sent twice." } });
  });
});

describe("a provider's name", () => {
  const signIn = (name?: string) =>
    signInWithGoogle({ sub: "1", email: "grace@example.com", email_verified: true, ...(name && { name }) });

  test("counts where the account is made", async () => {
    await signIn("Grace");
    expect(await stored()).toEqual(["Grace"]);
  });

  test("that breaks the rule is left out", async () => {
    await signIn("Grace\u202e");
    expect(await stored()).toEqual([null]);
  });

  test("changes no name at a later sign-in", async () => {
    await signIn();
    await signIn("Grace");
    expect(await stored()).toEqual([null]);
  });

  test("counts at a connection where there is none", async () => {
    await latchkey.createUser({ email: "grace@example.com" });
    await signIn("Grace");
    expect(await stored()).toEqual(["Grace"]);
  });

  test("changes no name at a connection", async () => {
    await latchkey.createUser({ email: "grace@example.com" });
    await latchkey.execute("update users set name = 'Grace\u202e'");
    await signIn("Hopper");
    expect(await stored()).toEqual(["Grace\u202e"]);
  });
});
