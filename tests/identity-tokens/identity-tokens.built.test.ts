import { createRemoteJWKSet, decodeJwt, jwtVerify } from "jose";
import { beforeAll, describe, expect, test } from "vitest";
import { identityTokens } from "../support/identity-key";
import { runLatchkey } from "../support/running-latchkey";
import type { Visitor } from "../support/visitor";

const latchkey = runLatchkey({
  ...identityTokens(),
  APP_URL: "https://login.example",
  RETURN_ORIGINS: "https://app.example,https://app.example:8443,http://app.example",
});

const verify = "/auth/verify";
const jwks = "/.well-known/jwks.json";
const app = { "X-Forwarded-Proto": "https", "X-Forwarded-Host": "app.example" };
const audience = "https://app.example";

const overHttps = ({ cookie }: Visitor) => cookie.replace(/\b(?=session=)/, "__Host-");

async function tokenOf(visitor: Visitor, headers: Record<string, string> = app): Promise<string> {
  const cookie = headers["X-Forwarded-Proto"] === "https" ? overHttps(visitor) : visitor.cookie;
  const answer = await latchkey.send(verify, { cookie, headers });
  expect(answer).toMatchObject({ status: 200, body: "" });
  return answer.headers.get("Remote-Token") ?? "";
}

describe("the published keys", () => {
  test("are a JSON Web Key Set", async () => {
    const answer = await latchkey.send(jwks);
    expect(answer).toMatchObject({ status: 200, contentType: "application/jwk-set+json", setCookies: [] });
    expect(answer.headers.get("X-Content-Type-Options")).toBe("nosniff");
    const coordinate = expect.stringMatching(/^[\w-]{43}$/);
    const key = { kty: "EC", crv: "P-256", x: coordinate, y: coordinate, kid: coordinate, alg: "ES256", use: "sig" };
    expect(JSON.parse(answer.body)).toEqual({ keys: [key] });
  });

  test("may be kept for five minutes", async () => {
    expect((await latchkey.send(jwks)).headers.get("Cache-Control")).toBe("max-age=300");
  });

  test("answer HEAD", async () => {
    expect(await latchkey.send(jwks, { method: "HEAD" })).toMatchObject({ status: 200, body: "" });
  });

  test("refuse POST", async () => {
    expect((await latchkey.send(jwks, { form: {} })).status).toBe(405);
  });
});

describe("Remote-Token", () => {
  let ada: Visitor;

  beforeAll(async () => {
    ada = await latchkey.register("ada@example.com");
  });

  test("is verified by jose with the keys that the service publishes", { tags: ["9.2.1", "11.6.1"] }, async () => {
    const keys = createRemoteJWKSet(new URL(jwks, latchkey.url()));
    const options = { issuer: "https://login.example", audience, algorithms: ["ES256"] };
    const { payload } = await jwtVerify(await tokenOf(ada), keys, options);
    expect(payload.email).toBe("ada@example.com");
    const { headers } = await latchkey.send(verify, { cookie: overHttps(ada), headers: app });
    expect(headers.get("Remote-User")).toBe(payload.sub);
  });

  test.each([
    ["APP_URL's", { ...app, "X-Forwarded-Host": "login.example" }, "https://login.example"],
    ["a port", { ...app, "X-Forwarded-Host": "app.example:8443" }, "https://app.example:8443"],
    ["http", { ...app, "X-Forwarded-Proto": "http" }, "http://app.example"],
    [
      "the one that the outermost trusted proxy names",
      { ...app, "X-Forwarded-Host": "evil.example, app.example" },
      audience,
    ],
    ["a malformed host", { ...app, "X-Forwarded-Host": "evil.example/path" }, "https://login.example"],
    ["a host that no name is as long as", { ...app, "X-Forwarded-Host": "a".repeat(260) }, "https://login.example"],
  ])("is for the origin that the proxy names: %s", { tags: ["9.2.3", "9.2.4"] }, async (_what, headers, expected) => {
    expect(decodeJwt(await tokenOf(ada, headers)).aud).toBe(expected);
  });

  test("is not in the log", async () => {
    const token = await tokenOf(ada);
    await latchkey.flushed();
    expect(latchkey.output()).not.toContain(token.slice(0, 20));
  });
});
