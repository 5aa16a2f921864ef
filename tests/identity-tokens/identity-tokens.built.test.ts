import { createLocalJWKSet, createRemoteJWKSet, decodeJwt, jwtVerify } from "jose";
import { beforeAll, describe, expect, test } from "vitest";
import { identityTokens } from "../support/identity-key";
import { runLatchkey } from "../support/running-latchkey";
import type { Visitor } from "../support/visitor";

const proxied = runLatchkey({
  ...identityTokens(),
  APP_URL: "https://login.example",
  RETURN_ORIGINS: "https://app.example,https://app.example:8443,http://app.example",
});
const siblings = runLatchkey({
  ...identityTokens(),
  APP_URL: "https://login.example.org",
  SESSION_DOMAIN: "example.org",
  RETURN_ORIGINS: "https://*.example.org",
});
const direct = runLatchkey({ ...identityTokens(), TRUST_PROXY: "false" });

const verify = "/auth/verify";
const jwks = "/.well-known/jwks.json";
const app = { "X-Forwarded-Proto": "https", "X-Forwarded-Host": "app.example" };
const audience = "https://app.example";

const overHttps = ({ cookie }: Visitor) => cookie.replace(/\b(?=session=)/, "__Host-");

async function tokenOf(visitor: Visitor, headers: Record<string, string> = app): Promise<string> {
  const cookie = headers["X-Forwarded-Proto"] === "https" ? overHttps(visitor) : visitor.cookie;
  const answer = await proxied.send(verify, { cookie, headers });
  expect(answer).toMatchObject({ status: 200, body: "" });
  return answer.headers.get("Remote-Token") ?? "";
}

describe("the published keys", () => {
  test("are a JSON Web Key Set of public keys, which may be kept for five minutes", async () => {
    const answer = await proxied.send(jwks);
    expect(answer).toMatchObject({ status: 200, contentType: "application/jwk-set+json", setCookies: [] });
    expect(answer.headers.get("Cache-Control")).toBe("max-age=300");
    expect(answer.headers.get("X-Content-Type-Options")).toBe("nosniff");
    const coordinate = expect.stringMatching(/^[\w-]{43}$/);
    const key = { kty: "EC", crv: "P-256", x: coordinate, y: coordinate, kid: coordinate, alg: "ES256", use: "sig" };
    expect(JSON.parse(answer.body)).toEqual({ keys: [key] });
    expect(await proxied.send(jwks, { method: "HEAD" })).toMatchObject({ status: 200, body: "" });
    expect((await proxied.send(jwks, { form: {} })).status).toBe(405);
  });
});

describe("Remote-Token", () => {
  let ada: Visitor;

  beforeAll(async () => {
    ada = await proxied.register("ada@example.com");
  });

  test("is verified by jose with the keys that the service publishes", { tags: ["9.2.1", "11.6.1"] }, async () => {
    const keys = createRemoteJWKSet(new URL(jwks, proxied.url()));
    const options = { issuer: "https://login.example", audience, algorithms: ["ES256"] };
    const { payload } = await jwtVerify(await tokenOf(ada), keys, options);
    expect(payload.email).toBe("ada@example.com");
    const { headers } = await proxied.send(verify, { cookie: overHttps(ada), headers: app });
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

  test.each([
    ["another host", "https", "other.example"],
    ["another port", "https", "app.example:8444"],
    ["another scheme", "http", "login.example"],
    ["a host below it", "https", "x.app.example"],
    ["localhost", "http", "localhost"],
  ])("is not for an origin that RETURN_ORIGINS does not allow, and the log says so: %s", async (_what, proto, host) => {
    await proxied.flushed();
    const before = proxied.output().length;
    const cookie = proto === "https" ? overHttps(ada) : ada.cookie;
    const headers = { "X-Forwarded-Proto": proto, "X-Forwarded-Host": host };
    const answer = await proxied.send(verify, { cookie, headers });
    expect([answer.status, answer.headers.has("Remote-User"), answer.headers.has("Remote-Token")]).toEqual([
      200,
      true,
      false,
    ]);
    await proxied.flushed();
    const lines = proxied
      .output()
      .slice(before)
      .split("\n")
      .filter((text) => text.startsWith("{"));
    expect(lines.map((text) => JSON.parse(text))).toEqual([
      {
        level: 40,
        time: expect.any(String),
        origin: `${proto}://${host}`,
        msg: "No Remote-Token: neither APP_URL nor RETURN_ORIGINS has this origin.",
      },
    ]);
  });

  test("is for the hosts that a wildcard of RETURN_ORIGINS covers, and for no other", async () => {
    const visitor = await siblings.register("siblings@example.com");
    const cookie = visitor.cookie.replace(/\b(?=session=)/, "__Secure-");
    const of = async (host: string) => {
      const headers = { "X-Forwarded-Proto": "https", "X-Forwarded-Host": host };
      const token = (await siblings.send(verify, { cookie, headers })).headers.get("Remote-Token");
      return token && decodeJwt(token).aud;
    };
    expect(await of("a.b.example.org")).toBe("https://a.b.example.org");
    expect([await of("example.org"), await of("evilexample.org"), await of("a.example.org:8443")]).toEqual([
      null,
      null,
      null,
    ]);
  });

  test("is for the host of the connection without TRUST_PROXY", async () => {
    const visitor = await direct.register("direct@example.com");
    const token = (await visitor.get(verify, app)).headers.get("Remote-Token") ?? "";
    const keys = createLocalJWKSet(JSON.parse((await direct.send(jwks)).body));
    expect((await jwtVerify(token, keys)).payload.aud).toBe(direct.url());
    await expect(jwtVerify(token, createRemoteJWKSet(new URL(jwks, proxied.url())))).rejects.toMatchObject({
      code: "ERR_JWKS_NO_MATCHING_KEY",
    });
  });

  test("a forged one is never passed on, and without a session or the asked group there is none", async () => {
    const forged = { ...app, "Remote-Token": "forged" };
    const cookie = overHttps(ada);
    for (const [path, sent, status] of [
      [verify, { headers: forged }, 401],
      [`${verify}?group=staff`, { headers: forged, cookie }, 403],
    ] as const) {
      const answer = await proxied.send(path, sent);
      expect([answer.status, answer.headers.has("Remote-Token")]).toEqual([status, false]);
    }
    expect(await tokenOf(ada, forged)).not.toBe("forged");
  });

  test("is not in the log", async () => {
    const token = await tokenOf(ada);
    await proxied.flushed();
    expect(proxied.output()).not.toContain(token.slice(0, 20));
  });
});
