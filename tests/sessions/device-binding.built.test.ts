import { expect, test } from "vitest";
import { openDatabase } from "#server/database/orm";
import { challengeIn, createKey, proofOf, registrationProof } from "../support/bound-browser";
import { runLatchkey } from "../support/running-latchkey";
import { sha256 } from "../support/sha256";
import { createDatabase } from "../support/template-copy";

const sessionCookie = `session=${"ab".repeat(32)}`;
const boundCookie = `bound=${"cd".repeat(32)}`;

/** With a session that is bound, as one is thirty seconds after its first refresh. */
async function databaseWithBoundSession() {
  const database = await createDatabase();
  const { orm, close } = await openDatabase(database.url);
  const cookies = [{ hash: sha256("cd".repeat(32)), until: Date.now() + 600_000 }];
  await orm.em.fork().execute(
    `with account as (insert into users (id, email, created_at) values (gen_random_uuid(), 'bob@example.com', now()) returning id),
       started as (insert into sessions (id, token_hash, user_id, created_at, last_seen_at, expires_at)
         select gen_random_uuid(), ?, id, now(), now(), now() + interval '1 day' from account returning id)
     insert into session_bindings (id, session_id, offered_until, challenges, cookies, bound_from)
       select 'bound', id, now(), '[]', ?, now() from started`,
    [sha256("ab".repeat(32)), JSON.stringify(cookies)],
  );
  await close();
  return database;
}

const latchkey = runLatchkey({ DEVICE_BOUND_SESSIONS: "on" }, databaseWithBoundSession);

const key = createKey();

/** As Chromium asks: an empty POST without cookies, `Origin` and `Sec-Fetch-*`. */
const ask = (path: string, headers: Record<string, string>) =>
  latchkey.send(`/auth/device/${path}`, { method: "POST", headers });

async function register() {
  const ada = await latchkey.register("ada@example.com");
  const { headers } = await ada.logIn();
  const answer = await ask("register", { "Secure-Session-Response": registrationProof(key, challengeIn(headers)) });
  const id: string = JSON.parse(answer.body).session_identifier;
  return { ada, id, proof: proofOf(key, challengeIn(answer.headers)) };
}

test("a browser binds its session over HTTP", async () => {
  const { ada, id, proof } = await register();
  const refreshed = await ask("refresh", { "Sec-Secure-Session-Id": id, "Secure-Session-Response": proof });
  expect([refreshed.status, refreshed.headers.get("Cache-Control")]).toEqual([200, "no-store"]);
  const bound = /bound=(\w+)/.exec(refreshed.setCookies.join())?.[1] ?? "";
  ada.cookies.set("bound", bound);
  expect((await ada.get("/auth/verify")).status).toBe(200);
  const again = await ask("refresh", { "Sec-Secure-Session-Id": id, "Secure-Session-Response": proof });
  expect([again.status, challengeIn(again.headers)]).toEqual([403, expect.stringMatching(/^[0-9a-f]{64}$/)]);
});

test.each(["register", "refresh"])("GET /auth/device/%s is 405", async (path) => {
  expect((await latchkey.send(`/auth/device/${path}`, {})).status).toBe(405);
});

test("POST to the list of origins is 405", async () => {
  expect((await latchkey.send("/.well-known/device-bound-sessions", { method: "POST" })).status).toBe(405);
});

test("an unknown identifier is 401", async () => {
  expect((await ask("refresh", { "Sec-Secure-Session-Id": "unknown" })).status).toBe(401);
});

const skipped = { "Secure-Session-Skipped": "server_error" };
const navigation = { "X-Forwarded-Uri": "/notes", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document" };

test.each([
  ["with its bound cookie", 200, `${sessionCookie}; ${boundCookie}`, {}],
  ["without its bound cookie", 401, sessionCookie, {}],
  ["whose browser could not refresh", 401, sessionCookie, skipped],
  ["whose browser could not refresh before a page", 302, sessionCookie, { ...skipped, ...navigation }],
])("/auth/verify of a bound session %s is %i", async (_which, status, cookie, headers: Record<string, string>) => {
  expect((await latchkey.send("/auth/verify", { cookie, headers })).status).toBe(status);
});
