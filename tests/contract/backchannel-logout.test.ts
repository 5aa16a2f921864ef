import { createPublicKey, generateKeyPairSync, type KeyObject } from "node:crypto";
import { SignJWT } from "jose";
import { beforeEach, describe, expect, test, vi } from "vitest";
import { ExternalSignInError } from "#server/errors";
import { identityFinders } from "#server/features/application/identity";
import { purgeExpired } from "#server/features/operator/purge";
import { logExternalSignInFailure, signInToAccount } from "#server/features/visitor/external-sign-in";
import * as route from "~/routes/auth.idp_.backchannel-logout";
import { make } from "../support/access-tokens";
import { unknownVisitor } from "../support/accounts";
import { startLatchkey } from "../support/latchkey";
import { recordOutgoingCalls } from "../support/outgoing-calls";
import { call, get } from "../support/route-calls";

const outgoing = recordOutgoingCalls();
const latchkey = startLatchkey();

const event = "http://schemas.openid.net/event/backchannel-logout";
const path = "/auth/idp/backchannel-logout";
const now = () => Math.floor(Date.now() / 1000);

const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
const { privateKey: keyOfAnother } = generateKeyPairSync("ec", { namedCurve: "P-256" });
const { privateKey: newKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
const jwk = (key: KeyObject, kid: string) => ({ ...createPublicKey(key).export({ format: "jwk" }), kid, use: "sig" });

let issuer = "";

const settings = () => ({
  IDP_CLIENT_ID: "latchkey",
  IDP_CLIENT_SECRET: "secret",
  IDP_PROVIDER: "oidc",
  IDP_ISSUER: issuer,
});

const discoveryUrl = () => `${issuer}/.well-known/openid-configuration`;
const answerDiscovery = (members = {}) => {
  const document = {
    issuer,
    authorization_endpoint: `${issuer}/authorize`,
    token_endpoint: `${issuer}/token`,
    userinfo_endpoint: `${issuer}/me`,
    jwks_uri: `${issuer}/keys`,
  };
  outgoing.answer("GET", discoveryUrl(), { body: JSON.stringify({ ...document, ...members }) });
};
const answerKeys = (...keys: object[]) => outgoing.answer("GET", `${issuer}/keys`, { body: JSON.stringify({ keys }) });

function answerProvider(): void {
  answerDiscovery();
  answerKeys(jwk(privateKey, "one"));
}

beforeEach(() => {
  issuer = `https://${crypto.randomUUID()}.example`; // discovery and key sets are cached for a day
  latchkey.configure(settings());
});

const claims = () => ({
  iss: issuer,
  aud: "latchkey",
  sub: "ada",
  iat: now(),
  exp: now() + 120,
  jti: crypto.randomUUID(),
  events: { [event]: {} },
});

function sign(changes: object = {}, header: object = {}, key: KeyObject | Uint8Array = privateKey) {
  const protectedHeader = { alg: "ES256", kid: "one", typ: "logout+jwt", ...header };
  return new SignJWT({ ...claims(), ...changes }).setProtectedHeader(protectedHeader).sign(key);
}

const postBody = (body: string | URLSearchParams, headers: Record<string, string> = {}) =>
  call(route.action, new Request(`http://localhost:3000${path}`, { method: "POST", headers, body }));
const send = async (token: string | Promise<string>) => postBody(new URLSearchParams({ logout_token: await token }));

const isSignedIn = async (cookie: string) =>
  (await identityFinders().findUser(cookie.replace("session=", ""), () => issuer, null)) !== null;
const ada = () => latchkey.createUser({ idpId: "ada", idpIssuer: issuer });
const signedInAda = async () => latchkey.signedIn(await ada());
const lastEvent = () => latchkey.events().at(-1);

function passSeconds(seconds: number): void {
  const real = Date.now.bind(Date);
  vi.spyOn(Date, "now").mockImplementation(() => real() + seconds * 1000);
}

describe("a logout token of the provider", () => {
  test("ends every session of the account with its sub", async () => {
    const id = await ada();
    const cookies = [await latchkey.signedIn(id), await latchkey.signedIn(id)];
    answerProvider();
    const answer = await send(sign());
    expect([answer.status, answer.data, answer.headers.get("Cache-Control")]).toEqual([200, "", "no-store"]);
    expect(await Promise.all(cookies.map(isSignedIn))).toEqual([false, false]);
  });

  test("ends every access token of the account with its sub", async () => {
    latchkey.configure({ ...settings(), ACCESS_TOKENS: "on" });
    for (const cookie of [await signedInAda(), await latchkey.signedIn({ email: "bob@example.com" })]) {
      expect(await make(cookie, { origin: "http://localhost:3000" })).toMatchObject({ status: 200 });
    }
    await latchkey.execute("delete from sessions");
    answerProvider();
    await send(sign());
    const left = await latchkey.execute("select email from access_tokens join users on users.id = user_id");
    expect(left).toEqual([{ email: "bob@example.com" }]);
  });

  test.each([
    ["with another sub", { email: "bob@example.com", idpId: "bob", idpIssuer: issuer }],
    ["of another issuer", { email: "ada@other.example", idpId: "ada", idpIssuer: "https://other.example" }],
  ])("ends no session of an account %s", async (_what, account) => {
    await ada();
    const cookie = await latchkey.signedIn(account);
    answerProvider();
    expect((await send(sign())).status).toBe(200);
    expect(await isSignedIn(cookie)).toBe(true);
  });

  test("is logged without the token", async () => {
    await signedInAda();
    answerProvider();
    await send(sign());
    expect(lastEvent()).toEqual({ event: "session.ended", reason: "provider_logout" });
    expect(latchkey.logLines().join()).not.toContain("eyJ");
  });

  test.each([undefined, "JWT", "logout+jwt", "application/logout+jwt"])(
    "may have the type %s",
    { tags: "10.5.5" },
    async (typ) => {
      const cookie = await signedInAda();
      answerProvider();
      expect((await send(sign({}, { typ }))).status).toBe(200);
      expect(await isSignedIn(cookie)).toBe(false);
    },
  );

  test("is used once by simultaneous requests", async () => {
    await ada();
    answerProvider();
    const token = await sign();
    const answers = await Promise.all([send(token), send(token), send(token)]);
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 400, 400]);
  });

  async function spend() {
    const id = await ada();
    answerProvider();
    const token = await sign();
    expect((await send(token)).status).toBe(200);
    return { id, token };
  }

  test("ends no later session when it is sent again", async () => {
    const { id, token } = await spend();
    const cookie = await latchkey.signedIn(id);
    expect((await latchkey.unchanged(() => send(token))).status).toBe(400);
    expect(lastEvent()).toEqual({ event: "idp.logout_refused", reason: "used" });
    expect(await isSignedIn(cookie)).toBe(true);
  });

  test("is remembered as long as it could be valid", async () => {
    await spend();
    await purgeExpired();
    expect(await latchkey.execute("select * from logout_tokens")).toHaveLength(1);
  });

  test("is forgotten when it has expired", async () => {
    await spend();
    await latchkey.execute("update logout_tokens set expires_at = now() - interval '1 millisecond'");
    await purgeExpired();
    expect(await latchkey.execute("select * from logout_tokens")).toEqual([]);
  });
});

test("the account's history tells that the provider has ended its sessions", async () => {
  const id = await ada();
  await latchkey.signedIn(id);
  answerProvider();
  await send(sign());
  const told = await latchkey.execute(
    "select user_id, actor, type, detail from account_events where actor = 'provider'",
  );
  expect(told).toEqual([{ user_id: id, actor: "provider", type: "session.ended", detail: "provider_logout" }]);
});

describe("a sign-in that is under way when the token is accepted", () => {
  const profile = { id: "ada", email: "ada@example.com", emailVerified: true, name: null, pictureUrl: null };
  const signIn = (arrivedAt: Date) => signInToAccount({ ...unknownVisitor, arrivedAt }, profile);
  const later = () => new Date(Date.now() + 1_000);

  const people: [string, () => Promise<unknown>][] = [
    ["of somebody who has signed in before", ada],
    ["of somebody whose account is not linked", () => latchkey.createUser()],
    ["of somebody without an account", async () => {}],
  ];

  test.each(people)("%s changes nothing", async (_who, prepare) => {
    await prepare();
    const arrivedAt = new Date();
    answerProvider();
    expect((await send(sign())).status).toBe(200);
    const refused = () => expect(signIn(arrivedAt)).rejects.toMatchObject({ reason: "logged_out" });
    await latchkey.unchanged(refused, "account_events");
  });

  test.each(people)("%s: one that arrives afterwards signs in", async (_who, prepare) => {
    await prepare();
    answerProvider();
    await send(sign());
    expect(await signIn(later())).toMatchObject({ userId: expect.any(String) });
  });

  test("counts each logout of somebody without an account", async () => {
    answerProvider();
    await send(sign());
    const arrivedAt = new Date();
    await send(sign());
    await expect(signIn(arrivedAt)).rejects.toMatchObject({ reason: "logged_out" });
  });

  test("of another person starts its session", async () => {
    const arrivedAt = new Date();
    answerProvider();
    await send(sign({ sub: "bob" }));
    expect(await signIn(arrivedAt)).toMatchObject({ userId: expect.any(String) });
  });

  test("is logged with its reason", () => {
    logExternalSignInFailure(new ExternalSignInError("logged_out"));
    expect(lastEvent()).toEqual({ event: "idp.failed", reason: "logged_out" });
  });
});

const hour = 3_600;
const encoded = (part: object) => Buffer.from(JSON.stringify(part)).toString("base64url");
const refused: [string, () => Promise<string> | string][] = [
  ["no token", () => "abc"],
  ["of another issuer", () => sign({ iss: "https://other.example" })],
  ["for another client", () => sign({ aud: "another" })],
  ["without aud", () => sign({ aud: undefined })],
  ["without iat", () => sign({ iat: undefined })],
  ["of the future", () => sign({ iat: now() + hour, exp: now() + 2 * hour })],
  ["of long ago", () => sign({ iat: now() - hour })],
  ["without exp", () => sign({ exp: undefined })],
  ["expired", () => sign({ iat: now() - 240, exp: now() - 60 })],
  ["without jti", () => sign({ jti: undefined })],
  ["with a jti that is no string", () => sign({ jti: 1 })],
  ["with a nonce", () => sign({ nonce: "n" })],
  ["with an empty nonce", () => sign({ nonce: null })],
  ["without events", () => sign({ events: undefined })],
  ["of another event", () => sign({ events: { "http://schemas.openid.net/event/other": {} } })],
  ["with an event that is not an object", () => sign({ events: { [event]: true } })],
  ["with a sub that is no id", () => sign({ sub: " " })],
  ["of a type that is a list", () => sign({}, { typ: ["jwt"] })],
  ["of another type", () => sign({}, { typ: "at+jwt" })],
  ["signed with a key of another", () => sign({}, {}, keyOfAnother)],
  ["with a secret that is the client's", () => sign({}, { alg: "HS256" }, Buffer.from("secret".repeat(6)))],
  ["unsigned", () => `${encoded({ alg: "none" })}.${encoded(claims())}.`],
  ["whose claims were changed", async () => (await sign()).replace(/\.[^.]+\./, `.${encoded(claims())}.`)],
];

test.each(refused)(
  "a token %s is refused with 400",
  { tags: ["9.1.1", "9.1.2", "9.1.3", "9.2.1", "9.2.2", "9.2.3", "10.5.5", "CVE-2026-18569"] },
  async (_what, token) => {
    const cookie = await signedInAda();
    answerProvider();
    expect((await send(sign({ sub: "nobody" }))).status).toBe(200); // an unknown sub ends nothing, either

    const answer = await latchkey.unchanged(async () => send(token()));

    expect([answer.status, answer.data, answer.headers.get("Cache-Control")]).toEqual([400, "", "no-store"]);
    expect(lastEvent()).toEqual({ event: "idp.logout_refused", reason: "invalid" });
    expect(await isSignedIn(cookie)).toBe(true);
  },
);

test("a token with a sid alone is refused with that reason", async () => {
  answerProvider();
  expect((await latchkey.unchanged(() => send(sign({ sub: undefined, sid: "a session there" })))).status).toBe(400);
  expect(lastEvent()).toEqual({ event: "idp.logout_refused", reason: "no_sub" });
});

test.each([
  ["two tokens", (token: string) => `logout_token=${token}&logout_token=${token}`],
  ["no token", () => ""],
])("%s are 400 without a call", async (_what, bodyOf) => {
  expect((await postBody(new URLSearchParams(bodyOf(await sign())))).status).toBe(400);
  expect(outgoing.calls()).toEqual([]);
});

test.each([{ IDP_PROVIDER: "google" }, { IDP_CLIENT_ID: "", IDP_CLIENT_SECRET: "" }])(
  "with %o every token is 400",
  async (settings) => {
    latchkey.configure({ IDP_CLIENT_ID: "latchkey", IDP_CLIENT_SECRET: "secret", IDP_ISSUER: issuer, ...settings });
    expect((await send(sign())).status).toBe(400);
    expect(outgoing.calls()).toEqual([]);
  },
);

test.each(["GET", "PUT"])("%s is 405", async (method) => {
  const { status, headers } = await (method === "GET"
    ? call(route.loader, get(path))
    : call(route.action, new Request(`http://localhost:3000${path}`, { method, body: "" })));
  expect([status, headers.get("Allow")]).toEqual([405, "POST"]);
});

test.each(["application/json", "application/jwt", "multipart/form-data; boundary=x"])(
  "the content type %s is 415",
  async (type) => {
    expect((await postBody("{}", { "Content-Type": type })).status).toBe(415);
  },
);

test("a large body is 413", async () => {
  expect((await send("a".repeat(16_384))).status).toBe(413);
});

describe("the key set", () => {
  test("is fetched once for two tokens", async () => {
    await ada();
    answerProvider();
    expect((await send(sign())).status).toBe(200);
    expect((await send(sign())).status).toBe(200);
    expect(outgoing.calls()).toHaveLength(2);
  });

  test("is fetched again for a key that it does not have", async () => {
    const cookie = await signedInAda();
    answerProvider();
    expect((await send(sign({ sub: "nobody" }))).status).toBe(200);
    const token = await sign({}, { alg: "RS256", kid: "two" }, newKey);
    passSeconds(60);
    answerKeys(jwk(privateKey, "one"), jwk(newKey, "two"));
    expect((await send(token)).status).toBe(200);
    expect(await isSignedIn(cookie)).toBe(false);
    expect(outgoing.calls()).toHaveLength(3);
  });

  test("is not fetched for each token with an unknown key", async () => {
    answerProvider();
    expect((await send(sign())).status).toBe(200);
    const unknown = await Promise.all(["x", "y", "z"].map((kid) => sign({}, { kid })));
    let time = Date.now() + 60_000;
    vi.spyOn(Date, "now").mockImplementation(() => ++time); // no two requests in one millisecond
    answerKeys(jwk(privateKey, "one"));
    const statuses: number[] = [];
    for (const token of unknown) statuses.push((await send(token)).status);
    expect(statuses).toEqual([400, 503, 503]);
    expect(outgoing.calls()).toHaveLength(3);
  });

  describe("just after a forged key", () => {
    const newToken = () => sign({}, { alg: "RS256", kid: "two" }, newKey);

    beforeEach(async () => {
      answerProvider();
      expect((await send(sign({}, { kid: "forged" }))).status).toBe(400);
    });

    test("makes a new key wait: 503", async () => {
      await ada();
      const token = await newToken();
      expect((await latchkey.unchanged(() => send(token))).status).toBe(503);
      expect(lastEvent()).toEqual({ event: "idp.logout_refused", reason: "key_set" });
    });

    test("is fetched for a new key eleven seconds later", async () => {
      const cookie = await signedInAda();
      const token = await newToken();
      expect((await send(token)).status).toBe(503);
      passSeconds(11);
      answerKeys(jwk(privateKey, "one"), jwk(newKey, "two"));
      expect((await send(token)).status).toBe(200);
      expect(await isSignedIn(cookie)).toBe(false);
    });
  });

  describe("that cannot be replaced", () => {
    let token: string;
    let unknown: string[];

    beforeEach(async () => {
      answerProvider();
      expect((await send(sign())).status).toBe(200);
      [token, ...unknown] = await Promise.all([sign(), sign({}, { kid: "x" }), sign({}, { kid: "y" })]);
      passSeconds(25 * hour);
      outgoing.answer("GET", discoveryUrl(), { status: 500 });
      outgoing.answer("GET", `${issuer}/keys`, { status: 500 });
    });

    test("stays", async () => {
      expect((await send(token)).status).toBe(200);
    });

    test("is not asked for again by each new key: 503", async () => {
      await send(token);
      const calls = outgoing.calls().length;
      for (const other of unknown) expect((await send(other)).status).toBe(503);
      expect(outgoing.calls()).toHaveLength(calls);
    });
  });

  describe.each([
    ["fails", () => outgoing.answer("GET", `${issuer}/keys`, { status: 500 })],
    ["is no key set", () => outgoing.answer("GET", `${issuer}/keys`, { body: "[]" })],
    ["does not end", () => outgoing.answer("GET", `${issuer}/keys`, { stall: "before the headers" })],
  ])("that %s", (_how, fail) => {
    let cookie: string;
    let token: string;

    beforeEach(async () => {
      cookie = await signedInAda();
      answerDiscovery();
      fail();
      token = await sign();
    });

    test("is 503 within six seconds", async () => {
      const answer = await latchkey.unchanged(() => send(token));
      expect([answer.status, answer.headers.get("Cache-Control")]).toEqual([503, "no-store"]);
      expect(lastEvent()).toEqual({ event: "idp.logout_refused", reason: "key_set" });
      expect(outgoing.deadlines()[1]).toBeLessThanOrEqual(5_500);
    });

    test("does not use the token up", async () => {
      await send(token);
      answerKeys(jwk(privateKey, "one"));
      expect((await send(token)).status).toBe(200);
      expect(await isSignedIn(cookie)).toBe(false);
    });
  });

  test.each([undefined, "http://plain.example/keys", "no url"])("at %s cannot be had: 503", async (jwks_uri) => {
    answerDiscovery({ jwks_uri });
    expect((await send(sign())).status).toBe(503);
    expect(outgoing.calls()).toHaveLength(1);
  });
});
