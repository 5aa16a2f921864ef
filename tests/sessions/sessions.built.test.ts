import { beforeAll, describe, expect, test } from "vitest";
import { openDatabase } from "#server/database/orm";
import { challengeIn, createKey, proofOf, registrationProof } from "../support/bound-browser";
import type { Answer } from "../support/http";
import { runLatchkey } from "../support/running-latchkey";
import { sha256 } from "../support/sha256";
import { createDatabase } from "../support/template-copy";
import type { Visitor } from "../support/visitor";

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

const latchkey = runLatchkey(
  { RETURN_ORIGINS: "https://app.example", DEVICE_BOUND_SESSIONS: "on" },
  databaseWithBoundSession,
);

const path = "/auth/session";
const contentType = "application/json; charset=utf-8";

let ada: Visitor;

beforeAll(async () => {
  ada = await latchkey.register("ada@example.com");
});

test("/auth/session has exactly what it documents", { tags: ["8.2.3", "15.3.1"] }, async () => {
  const answer = await ada.get(path, { Origin: latchkey.url(), "Sec-Fetch-Site": "same-origin" });
  expect(answer).toMatchObject({ status: 200, contentType, setCookies: [] });
  expect(answer.headers.get("Cache-Control")).toBe("no-store");
  expect(JSON.parse(answer.body)).toEqual({
    user: {
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      email: "ada@example.com",
      name: null,
      pictureUrl: null,
      groups: [],
    },
    expiresAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
    sid: expect.stringMatching(/^[\w-]{22}$/),
  });
});

test("/auth/session can be opened as an address that the visitor types", async () => {
  expect((await ada.get(path, { "Sec-Fetch-Site": "none" })).status).toBe(200);
});

test.each(["POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE"])("/auth/session refuses %s", async (method) => {
  const lines = [`Cookie: ${ada.cookie}`, "Host: localhost", "Content-Length: 0", "Connection: close"];
  const refused = await latchkey.exchange([`${method} ${path} HTTP/1.1`, ...lines]);
  expect(refused).toMatchObject({ status: 405, body: "", headers: { allow: "GET, HEAD" } });
});

test("HEAD /auth/session is answered as GET", async () => {
  const headersOf = ({ headers }: Answer) => [...headers].filter(([name]) => name !== "date");
  const head = await latchkey.send(path, { method: "HEAD", cookie: ada.cookie });
  expect(head).toMatchObject({ status: 200, body: "" });
  expect(headersOf(head)).toEqual(headersOf(await ada.get(path)));
});

test("/auth/session writes no access line", async () => {
  await ada.get(path);
  await latchkey.flushed();
  expect(latchkey.output()).not.toContain(path);
});

const dead = ["", "session=", "session=%", `session=${"a".repeat(64)}`, "session=\u00ff"];

test.each(dead)("/auth/session is 401 with the cookie %j", async (cookie) => {
  const answer = await latchkey.send(path, { cookie });
  expect(answer).toMatchObject({ status: 401, contentType, body: '{"error":"not_signed_in"}' });
  expect(answer.headers.get("WWW-Authenticate")).toBe('Cookie realm="Latchkey"');
});

test.each([
  ["a page of another site", { Origin: "https://evil.example", "Sec-Fetch-Site": "cross-site" }],
  ["a script element of another site", { "Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors" }],
  ["another host of the same site", { "Sec-Fetch-Site": "same-site" }],
  ["a link of another site", { "Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate" }],
])("%s gets nothing of /auth/session", { tags: "3.4.2" }, async (_what, headers) => {
  const answer = await ada.get(path, headers);
  expect(answer).toMatchObject({ status: 403, contentType, body: '{"error":"cross_origin"}' });
  expect([...answer.headers.keys()].filter((name) => name.startsWith("access-control-"))).toEqual([]);
});

describe("/logout", () => {
  const page = `/logout?${new URLSearchParams({ return_to: "https://app.example/bye" })}`;
  let answer: Answer;
  let main: string;
  let action: string;

  beforeAll(async () => {
    answer = await ada.get(page, { "Sec-Fetch-Site": "cross-site" });
    main = /<main.*<\/main>/s.exec(answer.body)?.[0] ?? "";
    [, action = ""] = /<form method="post" action="([^"]+)"/.exec(main) ?? [];
  });

  test("can be opened from another site", () => {
    expect([answer.status, answer.headers.get("Cache-Control")]).toEqual([200, "no-store"]);
  });

  test("names the account beside its one button", () => {
    expect(main.match(/<button/g)).toHaveLength(1);
    expect(main).toContain("ada@example.com");
  });

  test("has a form that may lead to the application alone", () => {
    const policy = answer.headers.get("Content-Security-Policy");
    expect(policy).toMatch(/form-action 'self' https:\/\/app\.example(?:;|$)/);
  });

  test("has a form that signs out to the application", async () => {
    const grace = await latchkey.register("grace@example.com");
    expect(action).toBe(page);
    expect((await grace.get(path)).status).toBe(200);
    expect(await grace.post(action)).toMatchObject({ status: 302, location: "https://app.example/bye" });
    expect((await grace.get(path)).status).toBe(401);
  });
});

describe("bound to a device", () => {
  const key = createKey();

  /** As Chromium asks: an empty POST without cookies, `Origin` and `Sec-Fetch-*`. */
  const ask = (path: string, headers: Record<string, string>) =>
    latchkey.send(`/auth/device/${path}`, { method: "POST", headers });

  async function register() {
    const ada = await latchkey.register("eve@example.com");
    const { headers } = await ada.logIn("eve@example.com");
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
});
