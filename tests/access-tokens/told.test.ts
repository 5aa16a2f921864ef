import { beforeEach, describe, expect, test } from "vitest";
import * as accountData from "~/routes/account.data";
import { accessTokens, app, bearer, madeToken, openTokens, remove, startVerify } from "../support/access-tokens";
import { failed } from "../support/command";
import { startLatchkey } from "../support/latchkey";
import { call, post } from "../support/route-calls";

const latchkey = startLatchkey(accessTokens);
const verify = startVerify();
const email = "ada@example.com";

let userId: string;
let session: string;

beforeEach(async () => {
  userId = await latchkey.createUser();
  session = await latchkey.signedIn(userId);
});

const history = () =>
  latchkey.execute("select type, actor, detail from account_events where type like 'token.%' order by at");
const idOf = async () => (await openTokens(session)).data.tokens[0].id;

describe("of a token that is made", () => {
  test("the owner is mailed, without the token and its name", async () => {
    const token = await madeToken(session, { name: "evil.example" });
    await latchkey.drain();
    const [mail, ...others] = latchkey.mails();
    expect(others).toEqual([]);
    expect(mail).toMatchObject({ to: email, subject: "A token for a program was made" });
    expect(mail?.text).toContain(`a program use ${app} as you until `);
    expect(mail?.text).toContain("https://login.example/forgot-password");
    for (const secret of [token, token.slice(9), "evil.example"]) {
      expect(latchkey.output()).not.toContain(secret);
      expect(JSON.stringify(await latchkey.jobs())).not.toContain(secret);
      expect(latchkey.logLines().join()).not.toContain(secret);
    }
  });

  test("the history and the log tell", async () => {
    await madeToken(session);
    expect(await history()).toEqual([{ type: "token.created", actor: "owner", detail: null }]);
    expect(latchkey.events()).toContainEqual({ event: "token.created" });
  });
});

test("the history and the log tell of a token that is removed", async () => {
  await madeToken(session);
  await remove(session, await idOf());
  expect(await history()).toMatchObject([{ type: "token.created" }, { type: "token.removed", actor: "owner" }]);
  expect(latchkey.events()).toContainEqual({ event: "token.removed" });
});

test("the owner's data have the tokens without their hashes", async () => {
  const token = await madeToken(session);
  const { data } = await call(accountData.action, post("/account/data", {}, { cookie: session }));
  expect(JSON.parse(data).tokens).toEqual([
    {
      id: await idOf(),
      name: "Build",
      origin: app,
      createdAt: expect.any(String),
      expiresAt: expect.any(String),
      lastUsedAt: null,
    },
  ]);
  expect(data).not.toContain(token.slice(9));
  expect(data).not.toMatch(/hash/i);
});

describe("`user show`", () => {
  test("lists the tokens", async () => {
    await verify([bearer(await madeToken(session))]);
    const { stdout } = await latchkey.command("user", "show", email);
    expect(stdout).toMatch(/^Access tokens: +1$/m);
    expect(stdout).toMatch(
      /^ {2}Access token: +Build, for https:\/\/app\.example, ends [\d-]+T[\d:]+Z, last used [\d-]+T/m,
    );
  });

  test("has them in JSON without their hashes", async () => {
    await madeToken(session);
    const { stdout } = await latchkey.command("user", "show", email, "--json");
    expect(JSON.parse(stdout).tokens).toMatchObject([{ name: "Build", origin: app }]);
    expect(stdout).not.toContain("tokenHash");
  });
});

test("`user export` has no token", async () => {
  const token = await madeToken(session);
  const { stdout } = await latchkey.command("user", "export");
  expect(stdout).toContain(email);
  expect(stdout).not.toMatch(/token/i);
  expect(stdout).not.toContain(token.slice(9));
});

describe("`user tokens`", () => {
  test("lists the tokens with their ids", async () => {
    await madeToken(session);
    const { stdout } = await latchkey.command("user", "tokens", email);
    expect(stdout).toMatch(
      new RegExp(`^${await idOf()}  Build, for https://app\\.example, ends .*, last used never\\n$`),
    );
  });

  test("lists them in JSON, and with the setting off", async () => {
    await madeToken(session);
    latchkey.configure({ ACCESS_TOKENS: "off" });
    const { stdout } = await latchkey.command("user", "tokens", email, "--json");
    expect(JSON.parse(stdout)).toMatchObject([{ name: "Build", origin: app, lastUsedAt: null }]);
    expect(stdout).not.toContain("tokenHash");
  });
});

describe("`user remove-token`", () => {
  test("removes a token, and tells of it", async () => {
    const token = await madeToken(session);
    const removed = await latchkey.command("user", "remove-token", email, await idOf());
    expect(removed).toMatchObject({ status: 0, stdout: "The token is removed.\n" });
    expect(removed.events).toEqual([{ event: "token.removed", actor: "cli", userId }]);
    expect(await history()).toMatchObject([{ type: "token.created" }, { type: "token.removed", actor: "operator" }]);
    expect((await verify([bearer(token)])).status).toBe(401);
  });

  test("removes it with the setting off", async () => {
    await madeToken(session);
    const id = await idOf();
    latchkey.configure({ ACCESS_TOKENS: "off" });
    expect(await latchkey.command("user", "remove-token", email, id)).toMatchObject({ status: 0 });
  });

  test("refuses an unknown token and somebody else's", async () => {
    await madeToken(session);
    const id = await idOf();
    await latchkey.createUser({ email: "bob@example.com" });
    const of = latchkey.unchanged(() => latchkey.command("user", "remove-token", "bob@example.com", id));
    expect(await of).toMatchObject(failed(`bob@example.com has no token ${id}.\n`));
    expect(await latchkey.command("user", "remove-token", email, "1")).toMatchObject(
      failed(`${email} has no token 1.\n`),
    );
  });
});

describe("`user create-token`", () => {
  const create = (...more: string[]) =>
    latchkey.command("user", "create-token", email, "--name", "Build", "--origin", app, ...more);
  const refused = (...more: string[]) => latchkey.unchanged(() => create(...more));

  test("prints a token that counts for 90 days", async () => {
    const { status, stdout, stderr, events } = await create();
    expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
    expect(stdout).toMatch(/^latchkey_[\w-]{43}\n$/);
    expect((await verify([bearer(stdout.trim())])).status).toBe(200);
    const days = "select round(extract(epoch from expires_at - created_at) / 86400)::int as days from access_tokens";
    expect(await latchkey.execute(days)).toEqual([{ days: 90 }]);
    expect(events).toEqual([{ event: "token.created", actor: "cli", userId }]);
    expect(await history()).toEqual([{ type: "token.created", actor: "operator", detail: null }]);
    expect(latchkey.logLines().join()).not.toContain("latchkey_");
  });

  test("mails the owner", async () => {
    await create();
    await latchkey.drain();
    expect(latchkey.mails()).toMatchObject([{ to: email, subject: "A token for a program was made" }]);
  });

  test("takes another time", async () => {
    await create("--days", "7");
    expect((await openTokens(session)).data.tokens).toHaveLength(1);
    expect(await refused("--days", "8")).toMatchObject(failed("The days are one of 7, 30, 90, 365.\n"));
  });

  test("has a shorter time by default where ACCESS_TOKEN_DAYS has", async () => {
    latchkey.configure({ ACCESS_TOKEN_DAYS: "30" });
    expect(await create()).toMatchObject({ status: 0 });
    expect(await refused("--days", "90")).toMatchObject(failed("The days are one of 7, 30.\n"));
  });

  test("refuses another name and origin", async () => {
    const words = ["user", "create-token", email, "--name", " ", "--origin", `${app}/path`];
    expect(await latchkey.unchanged(() => latchkey.command(...words))).toMatchObject({ status: 1, stdout: "" });
  });

  test("refuses with the setting off", async () => {
    latchkey.configure({ ACCESS_TOKENS: "off" });
    expect(await refused()).toMatchObject(failed("There are no access tokens: ACCESS_TOKENS is off.\n"));
  });

  test("refuses for a suspended account", async () => {
    await latchkey.command("user", "suspend", email);
    expect(await refused()).toMatchObject(failed(`The account ${email} is suspended.\n`));
  });

  test("refuses past the limit", async () => {
    for (let count = 0; count < 20; count++) await madeToken(session);
    expect(await refused()).toMatchObject(failed(`${email} has 20 tokens, and can have no more.\n`));
  });
});
