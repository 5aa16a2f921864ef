import { createLocalJWKSet, type JSONWebKeySet, jwtVerify } from "jose";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { failed, latchkey } from "../support/command";
import { send } from "../support/http";
import { identityTokens } from "../support/identity-key";
import { spawnServer, startServer, type TestDatabase } from "../support/server";
import { createDatabase } from "../support/template-copy";
import { registerByMail, Visitor } from "../support/visitor";

let database: TestDatabase;

beforeAll(async () => {
  database = await createDatabase();
});

afterAll(() => database.drop());

const moment = /(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z)/;

/** Runs `keys rotate`, whose key must sign after `delay` ms. */
async function rotate(settings: Record<string, string>, delay: number): Promise<void> {
  const before = Date.now();
  const { status, stdout, stderr } = await latchkey(["keys", "rotate"], { DATABASE_URL: database.url, ...settings });
  expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
  expect(stdout.replace(moment, "MOMENT")).toBe("The new key is published and signs from MOMENT on.\n");
  const rotated = Date.parse(moment.exec(stdout)?.[1] ?? "") - delay;
  expect(rotated).toBeGreaterThanOrEqual(before);
  expect(rotated).toBeLessThanOrEqual(Date.now());
}

/** The keys that a service publishes, and the one that signs its token of a session, which they verify. */
async function keysOf(settings: Record<string, string>, visit: (server: { url: string }) => Promise<Visitor>) {
  const server = await startServer({ DATABASE_URL: database.url, ...settings });
  try {
    const set: JSONWebKeySet = JSON.parse((await send(server.url, "/.well-known/jwks.json")).body);
    const answer = await (await visit(server)).get("/auth/verify");
    const { protectedHeader } = await jwtVerify(answer.headers.get("Remote-Token") ?? "", createLocalJWKSet(set));
    return { published: set.keys.map(({ kid }) => kid), signs: protectedHeader.kid };
  } finally {
    await server.stop();
  }
}

describe("latchkey keys rotate", () => {
  const settings = identityTokens();
  const tenMinutes = 600_000; // ms
  let session: [string, string][];
  let first: string | undefined;

  const again = async ({ url }: { url: string }) => {
    const visitor = new Visitor(url);
    for (const [name, value] of session) visitor.cookies.set(name, value);
    return visitor;
  };

  test("publishes a key beside the first one, which signs for ten minutes more", async () => {
    const before = await keysOf(settings, async (server) => {
      const visitor = new Visitor(server.url);
      await registerByMail(server as Awaited<ReturnType<typeof startServer>>, visitor, "ada@example.com");
      session = [...visitor.cookies];
      return visitor;
    });
    first = before.signs;
    expect(before.published).toEqual([first]);
    await rotate(settings, tenMinutes);
    const after = await keysOf(settings, again);
    expect(after).toEqual({ published: [first, expect.any(String)], signs: first });
  });

  test("makes a key that signs at once when IDENTITY_KEY is lost: without it a start with another one fails", async () => {
    const replaced = identityTokens();
    const refused = await spawnServer({ DATABASE_URL: database.url, ...replaced });
    expect(await refused.ended).toBe(1);
    expect(refused.output()).toBe(
      "IDENTITY_KEY does not decrypt the signing key: set the one that encrypted it, or run `latchkey keys rotate`.\n",
    );
    await rotate(replaced, 0);
    const { published, signs } = await keysOf(replaced, again);
    expect(published).toEqual([first, signs]);
    expect(signs).not.toBe(first);
  });

  test("needs IDENTITY_TOKENS", async () => {
    expect(await latchkey(["keys", "rotate"], { DATABASE_URL: database.url })).toEqual(
      failed("IDENTITY_TOKENS is off.\n"),
    );
  });
});

describe("latchkey doctor", () => {
  const examine = async (settings: Record<string, string>) => {
    const { stdout } = await latchkey(["doctor"], {
      DATABASE_URL: database.url,
      APP_URL: "http://localhost:1",
      ...settings,
    });
    return stdout.split("\n").filter((line) => /identity|IDENTITY/.test(line));
  };

  test("says how to make a key", async () => {
    expect(await examine({ IDENTITY_TOKENS: "on" })).toEqual([
      "fail  settings      IDENTITY_KEY is missing: IDENTITY_TOKENS is on. `openssl rand -base64 32` makes one. Mend: " +
        "correct it, then run the doctor again",
    ]);
  });

  test("says whether IDENTITY_KEY decrypts the key that signs, and nothing with IDENTITY_TOKENS off", async () => {
    const settings = identityTokens();
    await rotate(settings, 0);
    expect(await examine(settings)).toEqual(["ok    identity      IDENTITY_KEY fits the signing key"]);
    expect(await examine(identityTokens())).toEqual([
      "fail  identity      IDENTITY_KEY does not decrypt the signing key. Mend: set the one that encrypted it, or run " +
        "`latchkey keys rotate` and restart the service",
    ]);
    expect(await examine({})).toEqual([]);
  });
});
