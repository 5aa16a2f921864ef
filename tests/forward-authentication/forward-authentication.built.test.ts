import { createRemoteJWKSet, decodeJwt, jwtVerify } from "jose";
import { beforeAll, describe, expect, test } from "vitest";
import { openDatabase } from "#server/database/orm";
import type { Answer } from "../support/http";
import { identityTokens } from "../support/identity-key";
import { runLatchkey } from "../support/running-latchkey";
import { sha256 } from "../support/sha256";
import { createDatabase } from "../support/template-copy";
import type { Visitor } from "../support/visitor";

interface Account {
  name?: string;
  /** As `Remote-Name` has it. */
  encoded?: string;
  groups?: string;
  /** How old the sign-in is, in seconds. */
  age?: number;
}

const accounts: Record<string, Account> = {
  ada: { groups: "admin,staff" },
  bob: {},
  old: { groups: "staff", age: 3_600 },
  ascii: { name: "Ada Lovelace", encoded: "Ada%20Lovelace" },
  script: { name: "アダ・ラブレス", encoded: "%E3%82%A2%E3%83%80%E3%83%BB%E3%83%A9%E3%83%96%E3%83%AC%E3%82%B9" },
  pair: { name: "Ada 🗝", encoded: "Ada%20%F0%9F%97%9D" },
  percent: { name: "100%25 Ada", encoded: "100%2525%20Ada" },
  lines: { name: "Ada\r\nRemote-User: root", encoded: "Ada%0D%0ARemote-User%3A%20root" },
};

const tokenOf = (name: string) => sha256(`session of ${name}`);

/** With a signed-in user for each of the accounts. */
async function databaseWithSessions() {
  const database = await createDatabase();
  const { orm, close } = await openDatabase(database.url);
  for (const [user, { name = null, groups = "", age = 0 }] of Object.entries(accounts)) {
    const id = crypto.randomUUID();
    const em = orm.em.fork();
    await em.execute(
      "insert into users (id, email, name, groups, created_at) values (?, ?, ?, string_to_array(?, ','), now())",
      [id, `${user}@example.com`, name, groups],
    );
    await em.execute(
      `insert into sessions (id, token_hash, user_id, created_at, last_seen_at, expires_at)
       values (gen_random_uuid(), ?, ?, now() - ? * interval '1 s', now(), now() + interval '1 day')`,
      [sha256(tokenOf(user)), id, age],
    );
  }
  await close();
  return database;
}

const proxied = runLatchkey(
  {
    ...identityTokens(),
    APP_URL: "https://login.example",
    RETURN_ORIGINS: "https://app.example,https://app.example:8443,http://app.example",
    IDP_CLIENT_ID: "the-client",
    IDP_CLIENT_SECRET: "a-secret-value",
  },
  databaseWithSessions,
);

const path = "/auth/verify";
const forwarded = {
  "X-Forwarded-Proto": "https",
  "X-Forwarded-Host": "app.example",
  "X-Forwarded-Uri": "/notes?page=2",
  Accept: "text/html,application/xhtml+xml,*/*;q=0.8",
};

const cookieOf = (user: string, scheme = "") => `${scheme}session=${tokenOf(user)}`;

const verifyAs = (user: string, query = "", headers = {}) => {
  const cookie = cookieOf(user, "X-Forwarded-Proto" in headers ? "__Host-" : "");
  return proxied.sendPlainly(path + query, { cookie, headers });
};

function seenByProxy({ status, headers, location, body, setCookies }: Answer) {
  const remote = [...headers].filter(([name]) => name.startsWith("remote-"));
  return {
    status,
    location,
    body,
    setCookies,
    remote: Object.fromEntries(remote),
    cache: headers.get("Cache-Control"),
    authenticate: headers.get("WWW-Authenticate"),
  };
}

const nobody = { location: null, body: "", setCookies: [], remote: {}, cache: "no-store", authenticate: null };
const refused = { ...nobody, status: 401, authenticate: 'Cookie realm="Latchkey"' };

const user = (name: string, more = {}) => ({
  ...nobody,
  status: 200,
  remote: {
    "remote-user": expect.stringMatching(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/),
    "remote-email": `${name}@example.com`,
    "remote-name": accounts[name]?.encoded ?? "",
    "remote-groups": accounts[name]?.groups ?? "",
    ...more,
  },
});

const forged = {
  "Remote-User": "root",
  "Remote-Email": "root@example.com",
  "Remote-Name": "Root",
  "Remote-Groups": "admin",
  "Remote-Token": "forged",
};

describe("max_age", () => {
  const login = (more: object) => `https://login.example/login?${new URLSearchParams({ ...more })}`;
  const asked = { return_to: "https://app.example/notes?page=2", max_age: "600" };

  test.each([
    ["ada", "?max_age=600&group=staff"],
    ["old", "?max_age=4000"],
    ["old", ""],
  ])("admits the young enough session of %s: %s", async (name, query) => {
    expect(seenByProxy(await verifyAs(name, query))).toEqual(user(name));
  });

  test.each(["?max_age=3000", "?max_age=3000&group=staff", "?group=nobody&max_age=3000"])(
    "refuses an older session as none: %s",
    async (query) => {
      expect(seenByProxy(await verifyAs("old", query))).toEqual(refused);
    },
  );

  test("is in the login page's URL to which an older session's navigation leads", async () => {
    const { status, location } = await verifyAs("old", "?max_age=600", forwarded);
    expect([status, location]).toEqual([302, login(asked)]);
  });

  test("is in the login page's URL to which a guest's navigation leads", async () => {
    const { status, location } = await proxied.sendPlainly(`${path}?max_age=600`, { headers: forwarded });
    expect([status, location]).toEqual([302, login(asked)]);
  });

  test("is not in the URL to which a young session without access leads", async () => {
    const { location } = await verifyAs("ada", "?max_age=600&group=nobody", forwarded);
    expect(location).toBe(`https://login.example/no-access?${new URLSearchParams({ return_to: asked.return_to })}`);
  });
});

describe("a live session", () => {
  test.each(Object.keys(accounts))("is answered 200 with its user: %s", async (name) => {
    expect(seenByProxy(await verifyAs(name))).toEqual(user(name));
  });

  test.each([
    ["id", "Remote-User"],
    ["groups", "Remote-Groups"],
  ] as const)("has the %s that /auth/session has", async (field, header) => {
    const session = await proxied.send("/auth/session", { cookie: cookieOf("ada") });
    const value = JSON.parse(session.body).user[field];
    expect(String(value)).toBe((await verifyAs("ada")).headers.get(header));
  });

  test("has a list of groups in /auth/session", async () => {
    const session = await proxied.send("/auth/session", { cookie: cookieOf("ada") });
    expect(JSON.parse(session.body).user.groups).toEqual(["admin", "staff"]);
  });

  test.each([
    ["an empty query", `${path}?`],
    ["dot segments", "/auth/./x/../verify"],
  ])("%s changes nothing", async (_what, target) => {
    expect(seenByProxy(await proxied.send(target, { cookie: cookieOf("ada") }))).toEqual(user("ada"));
  });

  test("HEAD is answered as GET", async () => {
    const answer = await proxied.send(path, { method: "HEAD", cookie: cookieOf("ada") });
    expect(seenByProxy(answer)).toEqual(user("ada"));
    expect(seenByProxy(await proxied.send(path, { method: "HEAD" }))).toEqual(refused);
    expect(seenByProxy(await proxied.sendPlainly(path, { method: "HEAD", headers: forwarded })).status).toBe(302);
  });

  test.each(["POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE"])("%s is answered 405", async (method) => {
    const lines = [`Cookie: ${cookieOf("ada")}`, "Host: localhost", "Connection: close"];
    const answer = await proxied.exchange([`${method} ${path} HTTP/1.1`, ...lines]);
    expect(answer).toMatchObject({ status: 405, body: "", headers: { allow: "GET, HEAD" } });
    expect(answer.headers).not.toHaveProperty("remote-user");
  });

  test.each([`${path}/`, "/auth/%76erify", "/Auth/Verify", `/build${path}`])(
    "the spelling %s is not found",
    async (target) => {
      const answer = await proxied.send(target, { cookie: cookieOf("ada") });
      expect(answer).toMatchObject({ status: 404, contentType: "text/html; charset=utf-8" });
    },
  );

  test("writes no access line", async () => {
    await verifyAs("ada");
    await proxied.flushed();
    expect(proxied.output()).not.toMatch(/^\w+ \/auth\/verify /m);
  });

  test("Remote-* of a request are never in an answer", async () => {
    expect(seenByProxy(await verifyAs("bob", "", forged))).toEqual(user("bob"));
    expect(seenByProxy(await verifyAs("bob", "?group=staff", forged))).toEqual({ ...nobody, status: 403 });
    expect(seenByProxy(await proxied.sendPlainly(path, { headers: forged }))).toEqual(refused);
  });
});

describe("a group that the proxy names", () => {
  test.each(["?group=staff", "?group=nobody&group=admin", "?group=nobody&&group=admin", "?group=%73taff"])(
    "admits with %s who is in one of the groups",
    async (query) => {
      expect(seenByProxy(await verifyAs("ada", query))).toEqual(user("ada"));
      expect(seenByProxy(await verifyAs("bob", query))).toEqual({ ...nobody, status: 403 });
    },
  );

  test.each(["?group=", "?group=Staff", "?group=staf", "?group=admin,staff", "?group=*", "?group=%"])(
    "admits nobody with %s",
    async (query) => {
      expect(seenByProxy(await verifyAs("ada", query))).toEqual({ ...nobody, status: 403 });
    },
  );

  test("admits nobody with a typing error", async () => {
    const refused = { ...nobody, status: 400 };
    for (const headers of [{}, forwarded]) {
      expect(seenByProxy(await verifyAs("ada", "?groups=admin", headers))).toEqual(refused);
    }
    expect(seenByProxy(await proxied.sendPlainly(`${path}?groups=admin`))).toEqual(refused);
  });

  test("logs no error for a typing error", async () => {
    await proxied.flushed();
    const before = proxied.output().length;
    for (const headers of [{}, forwarded]) await verifyAs("ada", "?groups=admin", headers);
    await proxied.sendPlainly(`${path}?groups=admin`);
    await proxied.flushed();
    expect(proxied.output().slice(before)).not.toMatch(/"level":(?:50|60)/);
  });

  test("sends a navigation of a user without access to /no-access", async () => {
    const location = "https://login.example/no-access?return_to=https%3A%2F%2Fapp.example%2Fnotes%3Fpage%3D2";
    const sent = await verifyAs("bob", "?group=staff", forwarded);
    expect(seenByProxy(sent)).toEqual({ ...nobody, status: 302, location });
  });

  test("answers a fetch() of a user without access 403", async () => {
    const fetched = { ...forwarded, "Sec-Fetch-Mode": "cors", "Sec-Fetch-Dest": "empty" };
    expect(seenByProxy(await verifyAs("bob", "?group=staff", fetched))).toEqual({ ...nobody, status: 403 });
  });

  test("sends a navigation without a session to the login page", async () => {
    const answer = await proxied.sendPlainly(`${path}?group=staff`, { headers: forwarded });
    expect(answer.location).toBe("https://login.example/login?return_to=https%3A%2F%2Fapp.example%2Fnotes%3Fpage%3D2");
  });

  test("answers a request without a session 401", async () => {
    expect((await proxied.send(`${path}?group=staff`)).status).toBe(401);
  });
});

describe("without a session", () => {
  const token = "a".repeat(64);

  test.each([
    ["none", undefined],
    ["an unknown token", `session=${token}`],
    ["bytes outside ASCII", "session=\u00ff\u00fe"],
    ["7,000 characters", `session=${"a".repeat(7_000)}`],
    ["a hundred cookies", Array.from({ length: 100 }, (_, index) => `session=${index}`).join("; ")],
  ])("a cookie of %s is answered 401", { tags: "CVE-2026-25748" }, async (_what, cookie) => {
    expect(seenByProxy(await proxied.send(path, cookie === undefined ? {} : { cookie }))).toEqual(refused);
  });

  test("the cookie's name is the one of the browser's scheme", async () => {
    const https = { "X-Forwarded-Proto": "https" };
    const status = async (name: string, headers = {}) =>
      (await proxied.send(path, { cookie: `${name}=${tokenOf("ada")}`, headers })).status;
    expect(await status("session")).toBe(200);
    expect(await status("__Host-session", https)).toBe(200);
    for (const name of ["session", "%5F%5FHost-session", "__host-session"]) expect(await status(name, https)).toBe(401);
    for (const name of ["Session", "__Host-session", "%73ession"]) expect(await status(name)).toBe(401);
  });

  const login = (returnTo: string) => `https://login.example/login?${new URLSearchParams({ return_to: returnTo })}`;
  const navigates = { "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document" };
  const asked = login("https://app.example/notes?page=2");

  test("a browser's navigation is sent to the login page with the URL that it asked for", async () => {
    expect(seenByProxy(await proxied.sendPlainly(path, { headers: forwarded }))).toEqual({
      ...nobody,
      status: 302,
      location: "https://login.example/login?return_to=https%3A%2F%2Fapp.example%2Fnotes%3Fpage%3D2",
    });
  });

  test.each([
    ["a stated method", { "X-Forwarded-Method": "GET" }, asked],
    ["a port", { "X-Forwarded-Host": "app.example:8443" }, login("https://app.example:8443/notes?page=2")],
    ["http", { "X-Forwarded-Proto": "http" }, login("http://app.example/notes?page=2")],
    ["the absolute-form", { "X-Forwarded-Uri": "http://evil.example/x?y" }, login("https://app.example/x?y")],
    ["two slashes", { "X-Forwarded-Uri": "//evil.example/x" }, login("https://app.example//evil.example/x")],
    ["a backslash", { "X-Forwarded-Uri": "/\\evil.example" }, login("https://app.example//evil.example")],
    [
      "a parameter to smuggle",
      { "X-Forwarded-Uri": "/a?b&return_to=//c" },
      login("https://app.example/a?b&return_to=//c"),
    ],
    ["a fragment", { "X-Forwarded-Uri": "/a#b" }, login("https://app.example/a")],
    ["Fetch Metadata of a navigation, without HTML in Accept", { ...navigates, Accept: "*/*" }, asked],
    ["a malformed host", { "X-Forwarded-Host": "evil.example/path" }, login("https://login.example/notes?page=2")],
  ])("the URL has %s", async (_what, headers, location) => {
    const answer = await proxied.sendPlainly(path, { headers: { ...forwarded, ...headers } });
    expect(answer).toMatchObject({ status: 302, location, body: "" });
  });

  test.each([
    ["no X-Forwarded-Uri", { "X-Forwarded-Uri": undefined }],
    ["an X-Forwarded-Uri that is no path", { "X-Forwarded-Uri": "notes" }],
    ["POST", { "X-Forwarded-Method": "POST" }],
    ["HEAD", { "X-Forwarded-Method": "HEAD" }],
    ["a method in small letters", { "X-Forwarded-Method": "get" }],
    ["Accept without HTML", { Accept: "application/json, */*" }],
    ["the mode of a fetch()", { "Sec-Fetch-Mode": "cors", "Sec-Fetch-Dest": "empty" }],
    ["the mode of a fetch() alone", { "Sec-Fetch-Mode": "same-origin" }],
    ["the destination of a frame", { "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "iframe" }],
    ["the destination of an image alone", { "Sec-Fetch-Dest": "image" }],
  ])("with %s it is answered 401", async (_what, changes) => {
    const headers = Object.fromEntries(
      Object.entries({ ...forwarded, ...changes }).filter((entry): entry is [string, string] => entry[1] !== undefined),
    );
    expect(seenByProxy(await proxied.sendPlainly(path, { headers }))).toEqual(refused);
  });

  test("an answer that a proxy passes on has the security headers", { tags: ["3.4.1", "3.4.3", "3.4.4"] }, async () => {
    const { headers } = await proxied.sendPlainly(path, { headers: forwarded });
    expect(headers.get("X-Content-Type-Options")).toBe("nosniff");
    expect(headers.get("Strict-Transport-Security")).toBe("max-age=63072000; includeSubDomains");
    expect(headers.get("Content-Security-Policy")).toContain("default-src 'none'");
  });
});

describe("/no-access", () => {
  const page = "/no-access?return_to=https%3A%2F%2Fapp.example%2Fnotes";

  const pageOfBob = () => proxied.send(page, { cookie: cookieOf("bob") });

  test("is kept in no cache", async () => {
    const { status, headers } = await pageOfBob();
    expect([status, headers.get("Cache-Control")]).toEqual([200, "no-store"]);
  });

  test("says which account is signed in", async () => {
    expect((await pageOfBob()).body).toContain("bob@example.com");
  });

  test("has a form that logs out", async () => {
    const { headers, body } = await pageOfBob();
    expect(body).toContain('action="/logout?return_to=https%3A%2F%2Fapp.example%2Fnotes"');
    expect(headers.get("Content-Security-Policy")).toContain("form-action 'self' https://app.example;");
  });

  test("has a link to try again", async () => {
    expect((await pageOfBob()).body).toContain('href="https://app.example/notes"');
  });

  test("another site's return_to leads nowhere", async () => {
    const cookie = cookieOf("bob");
    const { status, body } = await proxied.send("/no-access?return_to=https://evil.example/", { cookie });
    expect(status).toBe(200);
    expect(body).toContain('action="/logout"');
    expect(body).not.toMatch(/(?:href|action)="[^"]*evil/);
  });

  test("a visitor without a session is sent to the login page with his way back", async () => {
    const { status, location } = await proxied.send(page);
    expect([status, location]).toEqual([302, "/login?return_to=https%3A%2F%2Fapp.example%2Fnotes"]);
  });
});

describe("identity tokens", () => {
  const ofApp = { "X-Forwarded-Proto": "https", "X-Forwarded-Host": "app.example" };
  const jwks = "/.well-known/jwks.json";
  const audience = "https://app.example";

  const overHttps = ({ cookie }: Visitor) => cookie.replace(/\b(?=session=)/, "__Host-");

  async function identityOf(visitor: Visitor, headers: Record<string, string> = ofApp): Promise<string> {
    const cookie = headers["X-Forwarded-Proto"] === "https" ? overHttps(visitor) : visitor.cookie;
    const answer = await proxied.send(path, { cookie, headers });
    expect(answer).toMatchObject({ status: 200, body: "" });
    return answer.headers.get("Remote-Token") ?? "";
  }

  describe("the published keys", () => {
    test("are a JSON Web Key Set", async () => {
      const answer = await proxied.send(jwks);
      expect(answer).toMatchObject({ status: 200, contentType: "application/jwk-set+json", setCookies: [] });
      expect(answer.headers.get("X-Content-Type-Options")).toBe("nosniff");
      const coordinate = expect.stringMatching(/^[\w-]{43}$/);
      const key = { kty: "EC", crv: "P-256", x: coordinate, y: coordinate, kid: coordinate, alg: "ES256", use: "sig" };
      expect(JSON.parse(answer.body)).toEqual({ keys: [key] });
    });

    test("may be kept for five minutes", async () => {
      expect((await proxied.send(jwks)).headers.get("Cache-Control")).toBe("max-age=300");
    });

    test("answer HEAD", async () => {
      expect(await proxied.send(jwks, { method: "HEAD" })).toMatchObject({ status: 200, body: "" });
    });

    test("refuse POST", async () => {
      expect((await proxied.send(jwks, { form: {} })).status).toBe(405);
    });
  });

  describe("Remote-Token", () => {
    let grace: Visitor;

    beforeAll(async () => {
      grace = await proxied.register("grace@example.com");
    });

    test("is verified by jose with the keys that the service publishes", { tags: ["9.2.1", "11.6.1"] }, async () => {
      const keys = createRemoteJWKSet(new URL(jwks, proxied.url()));
      const options = { issuer: "https://login.example", audience, algorithms: ["ES256"] };
      const { payload } = await jwtVerify(await identityOf(grace), keys, options);
      expect(payload.email).toBe("grace@example.com");
      const { headers } = await proxied.send(path, { cookie: overHttps(grace), headers: ofApp });
      expect(headers.get("Remote-User")).toBe(payload.sub);
    });

    test.each([
      ["APP_URL's", { ...ofApp, "X-Forwarded-Host": "login.example" }, "https://login.example"],
      ["a port", { ...ofApp, "X-Forwarded-Host": "app.example:8443" }, "https://app.example:8443"],
      ["http", { ...ofApp, "X-Forwarded-Proto": "http" }, "http://app.example"],
      [
        "the one that the outermost trusted proxy names",
        { ...ofApp, "X-Forwarded-Host": "evil.example, app.example" },
        audience,
      ],
      ["a malformed host", { ...ofApp, "X-Forwarded-Host": "evil.example/path" }, "https://login.example"],
      ["a host that no name is as long as", { ...ofApp, "X-Forwarded-Host": "a".repeat(260) }, "https://login.example"],
    ])("is for the origin that the proxy names: %s", { tags: ["9.2.3", "9.2.4"] }, async (_what, headers, expected) => {
      expect(decodeJwt(await identityOf(grace, headers)).aud).toBe(expected);
    });

    test("is not in the log", async () => {
      const token = await identityOf(grace);
      await proxied.flushed();
      expect(proxied.output()).not.toContain(token.slice(0, 20));
    });
  });
});

// Without a trusted proxy: front-door.built.test.ts.
describe("behind a trusted proxy", () => {
  const atDoor = { "X-Forwarded-Proto": "https", "X-Forwarded-Host": "login.example" };

  test("the redirect URI follows the forwarded origin", async () => {
    const sent = await proxied.send("/auth/idp", { headers: atDoor });
    expect(sent.status).toBe(302);
    const { searchParams } = new URL(sent.location ?? "");
    expect(searchParams.get("redirect_uri")).toBe("https://login.example/auth/idp/callback");
  });

  test("cookies are Secure on a forwarded https origin", async () => {
    const sent = await proxied.send("/auth/idp", { headers: atDoor });
    const { searchParams } = new URL(sent.location ?? "");
    expect(sent.setCookies).toEqual([
      `oauth_state=${searchParams.get("state")}; HttpOnly; Max-Age=600; Path=/auth/idp; SameSite=Lax; Secure`,
      expect.stringMatching(/^__Host-oauth=[0-9a-f]{64}; HttpOnly; Max-Age=3600; Path=\/; SameSite=Lax; Secure$/),
      expect.stringMatching(/^oauth_attempt_[0-9a-f]{32}=/),
    ]);
  });

  test.each<[string, Record<string, string>]>([
    ["/auth/idp/callback.data", {}],
    ["/auth/idp/callback.data", { "Sec-Fetch-Mode": "navigate" }],
    ["/auth/idp/callback", { "Sec-Fetch-Mode": "no-cors" }],
    ["/auth/idp/callback", { "Sec-Fetch-Mode": "cors" }],
  ])("a request of %s with %j is no outcome of a sign-in", async (path, headers) => {
    const refused = await proxied.send(`${path}?code=c&state=s`, { headers: { ...atDoor, ...headers } });
    expect([refused.status, refused.setCookies, refused.location]).toEqual([403, [], null]);
  });

  test.each(["/login", "/dashboard", "/favicon.svg", "/nowhere", "/healthz"])(
    "%s has HSTS on https only",
    { tags: "3.4.1" },
    async (path) => {
      const encrypted = await proxied.send(path, { headers: atDoor });
      expect(encrypted.headers.get("Strict-Transport-Security")).toBe("max-age=63072000; includeSubDomains");
      const plain = await proxied.send(path, { headers: { ...atDoor, "X-Forwarded-Proto": "http" } });
      expect(plain.headers.has("Strict-Transport-Security")).toBe(false);
    },
  );

  test("the Origin of a form is compared with the forwarded origin", async () => {
    const form = { email: "ada@example.com", password: "wrong" };
    const status = async (Origin: string) =>
      (await proxied.send("/login", { form, headers: { ...atDoor, Origin } })).status;
    expect(await status("https://login.example")).toBe(422);
    expect(await status("http://login.example")).toBe(403);
    expect(await status(proxied.url())).toBe(403);
    expect(await status("https://login.example.evil.example")).toBe(403);
  });

  describe("limits per client", () => {
    const requested = "registration.requested";

    async function registrationsFrom(clients: string[]) {
      const requestFrom = (client: string) =>
        proxied.send("/register.data", {
          form: { email: `${crypto.randomUUID()}@example.com` },
          headers: { "X-Forwarded-For": client },
        });
      const events = await proxied.eventsOf(async () => {
        for (const client of clients) await requestFrom(client);
      });
      return events.filter(({ requestId }) => requestId).map(({ event }) => event);
    }

    test("count for the /64 of the last forwarded address", { tags: ["15.3.4", "CVE-2026-45364"] }, async () => {
      const ofOneNetwork = Array.from({ length: 51 }, (_, at) => `203.0.113.${at}, 2001:db8:0:1:${at}::1`);
      expect(await registrationsFrom([...ofOneNetwork, "203.0.113.0, 2001:db8:0:2::1"])).toEqual([
        ...Array(50).fill(requested),
        "registration.refused",
        requested,
      ]);
    });
  });
});
