import { beforeEach, describe, expect, test } from "vitest";
import * as dashboard from "~/routes/dashboard";
import {
  accessTokens,
  app,
  bearer,
  madeToken,
  make,
  openTokens,
  postTokens,
  remove,
  startVerify,
} from "../support/access-tokens";
import { act, logOut, openAccount } from "../support/account-calls";
import { startLatchkey } from "../support/latchkey";
import { goodPassword, newPassword, twice } from "../support/passwords";
import { call, get } from "../support/route-calls";
import { sha256 } from "../support/sha256";

const latchkey = startLatchkey(accessTokens);
const verify = startVerify();

let userId: string;
let session: string;

beforeEach(async () => {
  userId = await latchkey.createUser();
  session = await latchkey.signedIn(userId);
});

interface Row {
  id: string;
  name: string;
  token_hash: string;
  origin: string;
  days: number;
  last_used_at: string | null;
}

const stored = () =>
  latchkey.execute<Row>(
    "select *, round(extract(epoch from expires_at - created_at) / 86400)::int as days from access_tokens order by created_at, id",
  );

const listed = async (cookie = session) => (await openTokens(cookie)).data.tokens;

describe("a token that is made", () => {
  test("begins latchkey_, and has 256 random bits", async () => {
    const tokens = [await madeToken(session), await madeToken(session)];
    for (const token of tokens) expect(token).toMatch(/^latchkey_[A-Za-z0-9_-]{43}$/);
    expect(tokens[0]).not.toBe(tokens[1]);
  });

  test("is stored as its hash", async () => {
    const token = await madeToken(session);
    expect(await stored()).toMatchObject([
      { name: "Build", token_hash: sha256(token), origin: app, days: 90, last_used_at: null },
    ]);
    expect(JSON.stringify(await latchkey.snapshot())).not.toContain(token.slice(9));
  });

  test("is in the answer alone, which nobody stores", async () => {
    const { status, headers, data, cookies, location } = await make(session);
    expect({ status, cookies, location }).toEqual({ status: 200, cookies: {}, location: null });
    expect(headers.get("Cache-Control")).toBe("no-store");
    expect(data.made).toMatchObject({ name: "Build" });
    expect(JSON.stringify((await openTokens(session)).data)).not.toContain("latchkey_");
  });

  test("counts", async () => {
    expect((await verify([bearer(await madeToken(session))])).status).toBe(200);
  });

  test("has a trimmed name in NFC, and the origin as URL has it", async () => {
    await make(session, { name: "  E\u0301t\u00e9 ", origin: " HTTPS://APP.example:443/ " });
    expect(await stored()).toMatchObject([{ name: "\u00c9t\u00e9", origin: app }]);
  });

  test("is made once by a form that is sent twice", async () => {
    const { newId } = (await openTokens(session)).data;
    await make(session, { token: newId });
    const again = await make(session, { token: newId });
    expect(again).toMatchObject({ status: 302, location: "/account/tokens" });
    expect(await stored()).toHaveLength(1);
  });
});

describe("what is wrong is refused at its field", () => {
  const refused = (fields: Record<string, string>) => latchkey.unchanged(() => make(session, fields));

  test.each([
    ["none", "  "],
    ["more than 64 characters", "x".repeat(65)],
    ["a line break", "a\nb"],
    ["a line separator", "a\u2028b"],
    ["a character that turns the direction of text", "a\u202eb"],
    ["a mark of direction", "a\u200fb"],
  ])("a name: %s", async (_, name) => {
    const { status, data } = await refused({ name });
    expect({ status, errors: Object.keys(data.errors) }).toEqual({ status: 422, errors: ["name"] });
    expect(data.typed).toMatchObject({ origin: app, days: "90" });
  });

  test("a name of 64 characters outside the Basic Multilingual Plane is taken", async () => {
    expect((await make(session, { name: "𝒳".repeat(64) })).status).toBe(200);
  });

  test.each([
    "",
    "app.example",
    "https://another.example",
    `${app}/path`,
    `${app}?query`,
    `${app}#hash`,
    "https://ada@app.example",
    "http://app.example",
    "https://app.example:8443",
    "https://*.example",
    "javascript:alert(1)",
  ])("an origin: %s", async (origin) => {
    const { status, data } = await refused({ origin });
    expect({ status, errors: Object.keys(data.errors) }).toEqual({ status: 422, errors: ["origin"] });
  });

  test.each(["", "1", "8", "366", "-7", "7.0", "07", "90 "])("a time: %s days", async (days) => {
    const { status, data } = await refused({ days });
    expect({ status, errors: Object.keys(data.errors) }).toEqual({ status: 422, errors: ["days"] });
  });

  test("another action", async () => {
    const { status, data } = await latchkey.unchanged(() => postTokens(session, { intent: "rename-token" }));
    expect({ status, errors: Object.keys(data.errors) }).toEqual({ status: 422, errors: ["intent"] });
  });
});

describe("the page offers", () => {
  const offered = async () => (await openTokens(session)).data;

  test("the origins of APP_URL and RETURN_ORIGINS", async () => {
    expect(await offered()).toMatchObject({
      origins: [app, "https://other.example", "https://login.example"],
      hasWildcard: false,
    });
  });

  test("with a wildcard, a host below it", async () => {
    latchkey.configure({ RETURN_ORIGINS: `${app},https://*.login.example`, SESSION_DOMAIN: "login.example" });
    expect(await offered()).toMatchObject({ origins: [app, "https://login.example"], hasWildcard: true });
    await make(session, { origin: "https://git.login.example" });
    expect(await stored()).toMatchObject([{ origin: "https://git.login.example" }]);
    for (const origin of ["https://*.login.example", "https://loginXexample"]) {
      expect((await make(session, { origin })).status).toBe(422);
    }
  });

  test.each([
    ["365", [7, 30, 90, 365]],
    ["90", [7, 30, 90]],
    ["60", [7, 30]],
    ["3", [3]],
  ])("at ACCESS_TOKEN_DAYS=%s the days %j", async (ACCESS_TOKEN_DAYS, days) => {
    latchkey.configure({ ACCESS_TOKEN_DAYS });
    expect((await offered()).days).toEqual(days);
    expect((await make(session, { days: String(days.at(-1)) })).status).toBe(200);
    expect(await stored()).toMatchObject([{ days: days.at(-1) }]);
    expect((await make(session, { days: String(Number(ACCESS_TOKEN_DAYS) + 1) })).status).toBe(422);
  });
});

test("an account has at most twenty live tokens", async () => {
  for (let count = 0; count < 20; count++) await madeToken(session);
  const { status, data } = await latchkey.unchanged(() => make(session));
  expect({ status, errors: Object.keys(data.errors) }).toEqual({ status: 422, errors: ["intent"] });
  await latchkey.execute(
    "update access_tokens set expires_at = now() - interval '1 millisecond' where id = (select id from access_tokens limit 1)",
  );
  expect((await make(session)).status).toBe(200);
});

describe("the list", () => {
  test("has the live tokens, the latest first", async () => {
    for (const name of ["First", "Second", "Ended"]) await make(session, { name });
    await latchkey.execute("update access_tokens set created_at = created_at - interval '1 hour' where name = 'First'");
    await latchkey.execute(
      "update access_tokens set expires_at = now() - interval '1 millisecond' where name = 'Ended'",
    );
    expect(await listed()).toMatchObject([
      { name: "Second", origin: app, lastUsed: null },
      { name: "First", origin: app, lastUsed: null },
    ]);
  });

  test("says when a token was used", async () => {
    await verify([bearer(await madeToken(session))]);
    expect(await listed()).toMatchObject([{ lastUsed: { at: expect.any(String) } }]);
  });

  test("has no token of somebody else", async () => {
    await madeToken(session);
    expect(await listed(await latchkey.signedIn({ email: "bob@example.com" }))).toEqual([]);
  });

  test("is not read by the account page, which links to it", async () => {
    await latchkey.withoutTable("access_tokens", async () => {
      expect((await openAccount(session)).data).toMatchObject({ hasTokens: true });
    });
  });
});

describe("a token that is removed", () => {
  test("counts no more", async () => {
    const token = await madeToken(session);
    const [{ id }] = await listed();
    expect(await remove(session, id)).toMatchObject({ status: 200, data: { done: expect.any(String) } });
    expect((await verify([bearer(token)])).status).toBe(401);
  });

  test("needs no recent sign-in", async () => {
    await madeToken(session);
    const [{ id }] = await listed();
    await latchkey.execute("update sessions set created_at = now() - interval '1 day'");
    expect((await remove(session, id)).status).toBe(200);
    expect(await stored()).toEqual([]);
  });

  test("of somebody else is answered as an unknown one", async () => {
    await madeToken(session);
    const [{ id }] = await listed();
    const bob = await latchkey.signedIn({ email: "bob@example.com" });
    const answers = [id, crypto.randomUUID(), "", "'"].map((one) => latchkey.unchanged(() => remove(bob, one)));
    const [of, ...others] = await Promise.all(answers);
    expect(of).toMatchObject({ status: 422 });
    for (const answer of others) expect(answer).toEqual(of);
  });
});

describe("who is not signed in", () => {
  test("goes to the login page, which leads back", async () => {
    const login = { status: 302, location: "/login?return_to=%2Faccount%2Ftokens" };
    expect(await openTokens("")).toMatchObject(login);
    expect(await latchkey.unchanged(() => make(""))).toMatchObject(login);
    expect(await remove("", crypto.randomUUID())).toMatchObject(login);
  });

  test("recently makes no token, and signs in again", async () => {
    await latchkey.execute("update sessions set created_at = now() - interval '16 minutes'");
    expect(await make(session)).toMatchObject({ status: 302, location: "/login?notice=sign_in_again" });
    expect(await stored()).toEqual([]);
  });
});

test("the form of another site makes none", async () => {
  const fields = { intent: "make-token", name: "Build", origin: app, days: "90" };
  const sent = postTokens(session, fields, { facts: { crossSite: true } });
  expect(await latchkey.unchanged(() => sent)).toMatchObject({ status: 403 });
});

describe("a session that a thief may have started makes none", () => {
  const question = (at: string) =>
    latchkey.execute(`update users set idp_id = '1', idp_issuer = 'google', idp_questioned_at = ${at}`);

  test("one that is older than a question", async () => {
    await question("now() + interval '1 second'");
    const { status, data } = await latchkey.unchanged(() => make(session));
    expect({ status, errors: Object.keys(data.errors) }).toEqual({ status: 422, errors: ["intent"] });
    expect(data.errors.intent).toMatch(/^This session cannot make a token\./);
  });

  test("one that began by a way in question", async () => {
    await question("now() - interval '1 minute'");
    await latchkey.execute("update sessions set way = 'provider'");
    expect(await latchkey.unchanged(() => make(session))).toMatchObject({ status: 422 });
  });

  test("a newer one by another way does", async () => {
    await question("now() - interval '1 minute'");
    expect((await make(session)).status).toBe(200);
  });
});

describe("with the setting off", () => {
  test("there is no page", async () => {
    latchkey.configure({ ACCESS_TOKENS: "off" });
    for (const answer of [openTokens(session), make(session), remove(session, crypto.randomUUID())]) {
      expect((await answer).status).toBe(404);
    }
    expect((await openAccount(session)).data.hasTokens).toBe(false);
  });
});

describe("tokens go on", () => {
  let token: string;

  beforeEach(async () => {
    token = await madeToken(session);
  });

  const goesOn = async () => expect((await verify([bearer(token)])).status).toBe(200);

  test("after a logout, which does not say so", async () => {
    expect(await logOut(session)).toMatchObject({ location: "/login" });
    await goesOn();
  });

  test("after the end of other sessions, which says so", async () => {
    expect(await act(session, "end-other-sessions")).toMatchObject({
      location: "/dashboard?notice=sessions_ended&tokens",
    });
    await goesOn();
  });

  test("after a changed password, which says so", async () => {
    const changed = await act(session, "change-password", { currentPassword: goodPassword, ...twice(newPassword) });
    expect(changed).toMatchObject({ location: "/dashboard?notice=password_changed&tokens" });
    await goesOn();
  });

  test("after a disconnected provider", async () => {
    await latchkey.execute("update users set idp_id = '1', idp_issuer = 'google'");
    expect(await act(session, "unlink-provider")).toMatchObject({ location: "/dashboard?notice=idp_disconnected" });
    await goesOn();
  });

  test("after `user unlink`", async () => {
    await latchkey.execute("update users set idp_id = '1', idp_issuer = 'google'");
    expect(await latchkey.command("user", "unlink", "ada@example.com")).toMatchObject({ status: 0 });
    await goesOn();
  });
});

test("where there are no tokens, nothing is said of them", async () => {
  const token = await madeToken(session);
  await latchkey.execute("update access_tokens set expires_at = now() - interval '1 millisecond'");
  expect(token).toBeDefined();
  expect(await act(session, "end-other-sessions")).toMatchObject({ location: "/dashboard?notice=sessions_ended" });
});

test("with the setting off, nothing is said of stored tokens", async () => {
  await madeToken(session);
  latchkey.configure({ ACCESS_TOKENS: "off" });
  expect(await act(session, "end-other-sessions")).toMatchObject({ location: "/dashboard?notice=sessions_ended" });
});

test("the account page says that tokens go on, and nothing of it with the setting off", async () => {
  const opened = async () =>
    (await call(dashboard.loader, get("/dashboard?notice=sessions_ended&tokens", { cookie: session }))).data;
  expect(await opened()).toMatchObject({ tokensGoOn: true });
  latchkey.configure({ ACCESS_TOKENS: "off" });
  expect(await opened()).toMatchObject({ tokensGoOn: false });
});

test("a form of another account's page neither makes nor removes a token", async () => {
  await madeToken(session);
  const account = await latchkey.createUser({ email: "bob@example.com" });
  const forms = [
    { ...make, account },
    { intent: "remove-token", token: (await listed())[0].id, account },
  ];
  for (const form of forms)
    expect(await postTokens(session, form)).toMatchObject({
      location: "/dashboard",
      cookies: { notice: expect.stringContaining("another_account") },
    });
  expect(await stored()).toHaveLength(1);
});
