import { randomUUID } from "node:crypto";
import { createLocalJWKSet, jwtVerify } from "jose";
import { expect, test } from "vitest";
import { latchkey } from "../support/command";
import { createFixtures, type Fixture } from "../support/fixture";
import { identityTokens } from "../support/identity-key";
import type { RunningServer } from "../support/server";
import { sha256 } from "../support/sha256";
import { Visitor } from "../support/visitor";

const { createFixture } = createFixtures();

async function publishedBy({ url }: RunningServer) {
  const answer = await new Visitor(url).get("/.well-known/jwks.json");
  expect(answer.status).toBe(200);
  return JSON.parse(answer.body);
}

async function signIn(fixture: Fixture, email = "ada@example.com"): Promise<string> {
  const userId = await fixture.addAccount(email);
  const token = randomUUID();
  await fixture.query(
    `insert into sessions (id, token_hash, user_id, created_at, last_seen_at, expires_at)
     values (gen_random_uuid(), $1, $2, now(), now(), now() + interval '1 day')`,
    [sha256(token), userId],
  );
  return token;
}

async function tokenOf({ url }: RunningServer, session: string): Promise<string> {
  const visitor = new Visitor(url);
  visitor.cookies.set("session", session);
  return (await visitor.get("/auth/verify")).headers.get("Remote-Token") ?? "";
}

/** Three servers, one of them of two processes, that start simultaneously on an empty database. */
const startServers = (fixture: Fixture, settings: Record<string, string>) =>
  Promise.all([fixture.server(settings), fixture.server(settings), fixture.server({ ...settings, PROCESSES: "2" })]);

test("processes that start simultaneously on an empty database make one key", async () => {
  await using fixture = await createFixture();
  const servers = await startServers(fixture, identityTokens());
  expect(await fixture.query("select count(*)::int from signing_keys")).toEqual([{ count: 1 }]);
  const session = await signIn(fixture);
  const [{ id: kid } = {}] = await fixture.query<{ id: string }>("select id from signing_keys");
  for (const server of servers) {
    const { protectedHeader } = await jwtVerify(
      await tokenOf(server, session),
      createLocalJWKSet(await publishedBy(server)),
    );
    expect(protectedHeader.kid).toBe(kid);
  }
});

test("all processes publish the same keys after a rotation", async () => {
  await using fixture = await createFixture();
  const settings = identityTokens();
  const servers = await startServers(fixture, settings);
  await Promise.all(servers.map(publishedBy));
  const rotated = await latchkey(["keys", "rotate"], { DATABASE_URL: fixture.databaseUrl, ...settings });
  expect(rotated.status).toBe(0);
  const [published, ...others] = await Promise.all(servers.map(publishedBy));
  expect(published.keys).toHaveLength(2);
  expect(others).toEqual([published, published]);
});

test("each process verifies the tokens of the others while IDENTITY_KEY is replaced", async () => {
  await using fixture = await createFixture();
  const older = await fixture.server(identityTokens());
  const session = await signIn(fixture);
  const replaced = identityTokens();
  const rotated = await latchkey(["keys", "rotate"], { DATABASE_URL: fixture.databaseUrl, ...replaced });
  expect(rotated.status).toBe(0);
  const newer = await fixture.server(replaced);
  const kids = [];
  for (const server of [older, newer]) {
    const token = await tokenOf(server, session);
    for (const publisher of [older, newer]) {
      const { protectedHeader } = await jwtVerify(token, createLocalJWKSet(await publishedBy(publisher)));
      kids.push(protectedHeader.kid);
    }
  }
  const [old, next] = (await publishedBy(older)).keys.map(({ kid }: { kid: string }) => kid);
  expect(kids).toEqual([old, old, next, next]);
});
