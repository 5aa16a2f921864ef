import { spawn } from "node:child_process";
import { text } from "node:stream/consumers";
import { compactDecrypt, decodeProtectedHeader, generateKeyPair, importPKCS8, type JWTPayload, SignJWT } from "jose";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openDatabase } from "#server/database/orm";
import { identityTokens } from "../support/identity-key";
import { type RunningServer, startServer, type TestDatabase } from "../support/server";
import { createDatabase } from "../support/template-copy";
import { Visitor } from "../support/visitor";
import { python } from "./example";

const issuer = "https://login.example";
const audience = "http://app.example";
const identity = identityTokens();

/** The private key that the database has. */
async function signingKeyIn(url: string): Promise<CryptoKey> {
  const { orm, close } = await openDatabase(url);
  const [row] = await orm.em.fork().execute<{ key: string }[]>("select encrypted_private_key as key from signing_keys");
  await close();
  const { plaintext } = await compactDecrypt(row?.key ?? "", Buffer.from(identity.IDENTITY_KEY, "base64"));
  return importPKCS8(new TextDecoder().decode(plaintext), "ES256");
}

let database: TestDatabase;
let server: RunningServer;
let key: CryptoKey;
let token: string;

beforeAll(async () => {
  database = await createDatabase();
  const settings = { ...identity, DATABASE_URL: database.url, APP_URL: issuer, RETURN_ORIGINS: audience };
  await (await startServer(settings)).stop();
  key = await signingKeyIn(database.url);
  server = await startServer({ ...settings, TRUST_PROXY: "true" });
  const visitor = new Visitor(server.url);
  await visitor.register(server, "ada@example.com");
  const { headers } = await visitor.get("/auth/verify", { "X-Forwarded-Host": "app.example" });
  token = headers.get("Remote-Token") ?? "";
});

afterAll(async () => {
  await server.stop();
  await database.drop();
});

const sign = (claims: JWTPayload, privateKey = key, { kid, alg = "ES256" } = decodeProtectedHeader(token)) =>
  new SignJWT({ iss: issuer, aud: audience, sub: "1", exp: Date.now() / 1000 + 60, ...claims })
    .setProtectedHeader({ alg, ...(kid && { kid }) })
    .sign(privateKey);

describe.each([
  ["PyJWT", [python, "examples/verify.py"], "refused: InvalidAudienceError", "refused: ExpiredSignatureError"],
  [
    "jose",
    [process.execPath, "examples/verify.mjs"],
    "refused: ERR_JWT_CLAIM_VALIDATION_FAILED",
    "refused: ERR_JWT_EXPIRED",
  ],
])("%s, with the keys that the service publishes", (_library, [program = "", ...words], ofAnother, expired) => {
  /** What the example prints of each token. */
  async function verify(tokens: string[], forAudience = audience): Promise<string[]> {
    const child = spawn(program, [...words, `${server.url}/.well-known/jwks.json`, issuer, forAudience]);
    child.stdin.end(tokens.map((each) => `${each}\n`).join(""));
    return (await text(child.stdout)).trim().split("\n");
  }

  test("tells the claims of the token of /auth/verify", async () => {
    const [line = ""] = await verify([token]);
    expect(JSON.parse(line)).toMatchObject({ iss: issuer, aud: audience, email: "ada@example.com", groups: [] });
  });

  test("refuses a token for another origin", async () => {
    expect(await verify([token], "https://other.example")).toEqual([ofAnother]);
  });

  test("accepts a token of another user", async () => {
    const [line = ""] = await verify([await sign({ sub: "2" })]);
    expect(JSON.parse(line)).toMatchObject({ sub: "2" });
  });

  test("refuses a token that has expired", async () => {
    expect(await verify([await sign({ exp: Math.floor(Date.now() / 1000) - 10 })])).toEqual([expired]);
  });

  const foreign = async () => (await generateKeyPair("ES256")).privateKey;

  test.each<[string, () => string | Promise<string>]>([
    ["that was signed by another", async () => sign({}, await foreign())],
    ["of an unknown key", async () => sign({}, await foreign(), { alg: "ES256", kid: "unknown" })],
    ["of another issuer", () => sign({ iss: "https://evil.example" })],
    [
      "that was signed with a secret",
      () =>
        new SignJWT({ iss: issuer, aud: audience, sub: "1" })
          .setProtectedHeader({ ...decodeProtectedHeader(token), alg: "HS256" })
          .setExpirationTime("1 minute")
          .sign(new Uint8Array(32)),
    ],
    ["without a signature", () => `${token.split(".").slice(0, 2).join(".")}.`],
    ["that is empty", () => ""],
  ])("refuses a token %s", async (_what, invalid) => {
    expect(await verify([await invalid()])).toEqual([expect.stringMatching(/^refused: \w+$/)]);
  });
});
