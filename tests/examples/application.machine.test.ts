import { createServer } from "node:http";
import { exportJWK, generateKeyPair, SignJWT } from "jose";
import { Webhook } from "standardwebhooks";
import { describe, expect, onTestFinished, test } from "vitest";
import { temporaryFolder } from "../deploy/host";
import { type Sent, send } from "../support/http";
import { listen } from "../support/listen";
import { freePort } from "../support/server";
import { newWebhookSecret, startApplication } from "./example";

const secret = newWebhookSecret();

async function startAlone(env: Record<string, string> = {}) {
  const [port, place] = await Promise.all([freePort(), temporaryFolder()]);
  const database = { DATABASE: `${place.folder}/application.sqlite` };
  const application = await startApplication(port, { ...database, ...env });
  onTestFinished(async () => {
    await application.stop();
    await place.remove();
  });
  return (path: string, sent: Sent) => send(`http://127.0.0.1:${port}`, path, sent);
}

const visitOf = (user: string, email: string) => ({ headers: { "Remote-User": user, "Remote-Email": email } });

test("a request that does not say who is signed in is refused", async () => {
  const ask = await startAlone();
  const headers = { "Remote-Email": "ada@example.com" };
  expect((await ask("/", { headers })).status).toBe(403);
  expect((await ask("/", { headers: { ...headers, "Remote-User": "" } })).status).toBe(403);
  expect((await ask("/", { headers: { ...headers, "Remote-User": "1" } })).status).toBe(200);
});

test("the row of a user follows each visit", async () => {
  const ask = await startAlone();
  await ask("/", visitOf("1", "ada@example.com"));
  const { headers } = visitOf("1", "lovelace@example.com");
  const more = { "Remote-Name": "%3CAda%3E%20%E3%82%A2", "Remote-Groups": "admins,staff" };
  const { body } = await ask("/", { headers: { ...headers, ...more } });
  expect(body).toContain("<dt>Name<dd>&lt;Ada&gt; ア<dt>Groups<dd>admins,staff<dt>Verified<dd>no: set JWKS_URL");
  expect(body).toContain("<ul><li>lovelace@example.com</ul>");
});

describe("webhooks", () => {
  const ada = { id: "1", email: "ada@example.com", name: null, pictureUrl: null, groups: [] as string[] };
  const bob = visitOf("2", "bob@example.com");

  async function startWithAda() {
    const ask = await startAlone({ WEBHOOK_SECRET: secret });
    await ask("/", visitOf(ada.id, ada.email));
    const post = async (id: string, type: string, data: object, change: object = {}, at = new Date()) => {
      const body = JSON.stringify({ type, timestamp: at.toISOString(), data });
      const headers = {
        "webhook-id": id,
        "webhook-timestamp": String(Math.floor(at.getTime() / 1000)),
        "webhook-signature": new Webhook(secret).sign(id, at, body),
        ...change,
      };
      return (await ask("/webhooks", { method: "POST", headers, body })).status;
    };
    const users = async () => /<ul>(.*)<\/ul>/.exec((await ask("/", bob)).body)?.[1];
    return { post, users, ask };
  }

  describe("of a user", () => {
    const moved = { ...ada, email: "a@example.com", previousEmail: ada.email };

    test("change the row", async () => {
      const { post, users } = await startWithAda();
      expect(await post("msg_1", "user.email_changed", moved)).toBe(204);
      expect(await users()).toBe("<li>a@example.com<li>bob@example.com");
    });

    test("change nothing a second time", async () => {
      const { post, users } = await startWithAda();
      await post("msg_1", "user.email_changed", moved);
      expect(await post("msg_1", "user.email_changed", ada)).toBe(204);
      expect(await users()).toBe("<li>a@example.com<li>bob@example.com");
    });

    test("remove the row", async () => {
      const { post, users } = await startWithAda();
      expect(await post("msg_2", "user.deleted", ada)).toBe(204);
      expect(await post("msg_2", "user.deleted", ada)).toBe(204);
      expect(await users()).toBe("<li>bob@example.com");
    });

    test("make no row again when they are late", async () => {
      const { post, users } = await startWithAda();
      await post("msg_2", "user.deleted", ada);
      expect(await post("msg_3", "user.groups_changed", ada)).toBe(204);
      expect(await users()).toBe("<li>bob@example.com");
    });
  });

  test("of a test are accepted", async () => {
    const { post } = await startWithAda();
    expect(await post("msg_4", "latchkey.test", {})).toBe(204);
  });

  const old = new Date(Date.now() - 6 * 60_000);
  const early = new Date(Date.now() + 6 * 60_000);
  test.each<[string, Record<string, string>, Date?]>([
    ["without a signature", { "webhook-signature": "" }],
    ["of another secret", { "webhook-signature": new Webhook(newWebhookSecret()).sign("msg_1", new Date(), "{}") }],
    ["of another version", { "webhook-signature": `v1a,${"A".repeat(43)}=` }],
    ["with characters outside ASCII", { "webhook-signature": "v1,é" }],
    ["of another message", { "webhook-id": "msg_2" }],
    ["of another time", { "webhook-timestamp": String(Math.floor(Date.now() / 1000) - 10) }],
    ["with a time that is no number", { "webhook-timestamp": "now" }],
    ["with a time of 5,000 digits", { "webhook-timestamp": "1".repeat(5_000) }],
    ["older than five minutes", {}, old],
    ["of the future", {}, early],
  ])("that are forged are refused: %s", async (_how, change, at) => {
    const { post, users } = await startWithAda();
    expect(await post("msg_1", "user.deleted", ada, change, at)).toBe(401);
    expect(await users()).toBe("<li>ada@example.com<li>bob@example.com");
  });

  test("are accepted after a forged one with their id", async () => {
    const { post, users } = await startWithAda();
    await post("msg_1", "user.deleted", ada, { "webhook-signature": "" });
    expect(await post("msg_1", "user.deleted", ada)).toBe(204);
    expect(await users()).toBe("<li>bob@example.com");
  });

  test("of 100,000 bytes are refused", async () => {
    const { ask } = await startWithAda();
    expect((await ask("/webhooks", { method: "POST", body: "x".repeat(100_000) })).status).toBe(413);
  });

  test("are not taken at another path", async () => {
    const { ask } = await startWithAda();
    expect((await ask("/elsewhere", { method: "POST", body: "{}" })).status).toBe(404);
  });

  test("are not taken without a secret", async () => {
    const ask = await startAlone();
    expect((await ask("/webhooks", { method: "POST", body: "{}" })).status).toBe(404);
  });
});

describe("Remote-Token with configured keys", () => {
  const origin = "https://app.example";
  const claims = { sub: "1", email: "token@example.com", groups: ["staff"] };

  async function startWithKeys() {
    const { publicKey, privateKey } = await generateKeyPair("ES256");
    const key = { ...(await exportJWK(publicKey)), kid: "1", use: "sig", alg: "ES256" };
    const keys = await listen(createServer((_, response) => response.end(JSON.stringify({ keys: [key] }))));
    onTestFinished(keys.stop);
    const ask = await startAlone({ JWKS_URL: `http://127.0.0.1:${keys.port}/`, ISSUER: origin, AUDIENCE: origin });
    const tokenOf = (more: object) =>
      new SignJWT({ iss: origin, aud: origin, ...claims, ...more })
        .setProtectedHeader({ alg: "ES256", kid: "1" })
        .setExpirationTime("1 minute")
        .sign(privateKey);
    const visit = async (token?: string) =>
      ask("/", { headers: { ...visitOf("1", "header@example.com").headers, ...(token && { "Remote-Token": token }) } });

    return { tokenOf, visit };
  }

  test("decides who the user is", async () => {
    const { tokenOf, visit } = await startWithKeys();
    const { status, body } = await visit(await tokenOf({}));
    expect(status).toBe(200);
    expect(body).toContain("<h1>Notes of token@example.com</h1>");
    expect(body).toContain("<dt>Groups<dd>staff<dt>Verified<dd>yes");
  });

  type TokenOf = (more: object) => Promise<string>;

  test.each<[string, (tokenOf: TokenOf) => string | Promise<string> | undefined]>([
    ["no token", () => undefined],
    ["a forged token", () => "forged"],
    ["the token of another user", (tokenOf) => tokenOf({ sub: "2" })],
    ["a token for another origin", (tokenOf) => tokenOf({ aud: "https://other.example" })],
  ])("is needed: a request with %s is refused", async (_what, tokenFrom) => {
    const { tokenOf, visit } = await startWithKeys();
    expect((await visit(await tokenFrom(tokenOf))).status).toBe(403);
  });
});
