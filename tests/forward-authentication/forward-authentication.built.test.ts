import { beforeAll, describe, expect, test } from "vitest";
import type { Answer } from "../support/http";
import { runLatchkey } from "../support/running-latchkey";
import { json, runScriptedProvider } from "../support/scripted-provider";
import type { Visitor } from "../support/visitor";

const provider = await runScriptedProvider();
const proxied = runLatchkey({ ...provider.settings.oidc, APP_URL: "https://login.example" });
const direct = runLatchkey({ TRUST_PROXY: "192.0.2.0/24", APP_URL: "https://login.example" });

const path = "/auth/verify";
const navigation = { Accept: "text/html,application/xhtml+xml,*/*;q=0.8" };
const forwarded = {
  "X-Forwarded-Proto": "https",
  "X-Forwarded-Host": "app.example",
  "X-Forwarded-Uri": "/notes?page=2",
  ...navigation,
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

const user = (email: string, name = "", groups = "") => ({
  ...nobody,
  status: 200,
  remote: {
    "remote-user": expect.stringMatching(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/),
    "remote-email": email,
    "remote-name": name,
    "remote-groups": groups,
  },
});

async function signInAs(profile: { sub: string; email: string; name?: string | null }): Promise<Visitor> {
  provider.answerWith({ profile: json({ email_verified: true, ...profile }) });
  const visitor = proxied.visit();
  expect(await visitor.signInExternally()).toMatchObject({ status: 302, location: "/dashboard" });
  return visitor;
}

describe("a live session", () => {
  let ada: Visitor;

  beforeAll(async () => {
    ada = await proxied.register("ada@example.com");
  });

  test("is answered 200 with the user's id, which /auth/session has too, and address, and an empty name", async () => {
    const answer = await ada.get(path);
    expect(seenByProxy(answer)).toEqual(user("ada@example.com"));
    expect(JSON.parse((await ada.get("/auth/session")).body).user.id).toBe(answer.headers.get("Remote-User"));
  });

  test.each([
    ["ASCII", "Ada Lovelace", "Ada%20Lovelace"],
    ["another script", "アダ・ラブレス", "%E3%82%A2%E3%83%80%E3%83%BB%E3%83%A9%E3%83%96%E3%83%AC%E3%82%B9"],
    ["a surrogate pair", "Ada 🗝", "Ada%20%F0%9F%97%9D"],
    ["a percent sign", "100%25 Ada", "100%2525%20Ada"],
    ["a line break", "Ada\r\nRemote-User: root", "AdaRemote-User%3A%20root"],
    ["none", null, ""],
  ])("the name is percent-encoded UTF-8: %s", async (_what, name, encoded) => {
    const email = `${crypto.randomUUID()}@example.com`;
    const visitor = await signInAs({ sub: email, email, name });
    expect(seenByProxy(await visitor.get(path))).toEqual(user(email, encoded));
  });

  test.each([
    ["an empty query", `${path}?`],
    ["dot segments", "/auth/./x/../verify"],
  ])("%s changes nothing", async (_what, target) => {
    expect(seenByProxy(await ada.get(target))).toEqual(user("ada@example.com"));
  });

  test("HEAD is answered as GET", async () => {
    const answer = await proxied.send(path, { method: "HEAD", cookie: ada.cookie });
    expect(seenByProxy(answer)).toEqual(user("ada@example.com"));
    expect(seenByProxy(await proxied.send(path, { method: "HEAD" }))).toEqual(refused);
    expect(seenByProxy(await proxied.sendPlainly(path, { method: "HEAD", headers: forwarded })).status).toBe(302);
  });

  test.each(["POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE"])("%s is answered 405", async (method) => {
    const lines = [`Cookie: ${ada.cookie}`, "Host: localhost", "Connection: close"];
    const answer = await proxied.exchange([`${method} ${path} HTTP/1.1`, ...lines]);
    expect(answer).toMatchObject({ status: 405, body: "", headers: { allow: "GET, HEAD" } });
    expect(answer.headers).not.toHaveProperty("remote-user");
  });

  test.each([`${path}/`, "/auth/%76erify", "/Auth/Verify", `/build${path}`])(
    "the spelling %s is not found",
    async (target) => {
      expect(await ada.get(target)).toMatchObject({ status: 404, contentType: "text/html; charset=utf-8" });
    },
  );

  test("writes no access line", async () => {
    await ada.get(path);
    await proxied.flushed();
    expect(proxied.output()).not.toMatch(/^\w+ \/auth\/verify /m);
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
    const { cookies } = await proxied.register("scheme@example.com");
    const https = { "X-Forwarded-Proto": "https" };
    const status = async (name: string, headers = {}) =>
      (await proxied.send(path, { cookie: `${name}=${cookies.get("session")}`, headers })).status;
    expect(await status("session")).toBe(200);
    expect(await status("__Host-session", https)).toBe(200);
    for (const name of ["session", "%5F%5FHost-session", "__host-session"]) expect(await status(name, https)).toBe(401);
    for (const name of ["Session", "__Host-session", "%73ession"]) expect(await status(name)).toBe(401);
  });

  const login = (returnTo: string) => `https://login.example/login?${new URLSearchParams({ return_to: returnTo })}`;

  const asked = login("https://app.example/notes?page=2");
  const fetched = { "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document" };

  test("a browser's navigation is sent to the login page, with the URL that it asked for", async () => {
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
    ["Fetch Metadata of a navigation, without HTML in Accept", { ...fetched, Accept: "*/*" }, asked],
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

  test("an answer that a proxy passes on has the security headers", async () => {
    const { headers } = await proxied.sendPlainly(path, { headers: forwarded });
    expect(headers.get("X-Content-Type-Options")).toBe("nosniff");
    expect(headers.get("Strict-Transport-Security")).toBe("max-age=63072000; includeSubDomains");
    expect(headers.get("Content-Security-Policy")).toContain("default-src 'none'");
  });
});

describe("forged headers", () => {
  const forged = {
    "Remote-User": "root",
    "Remote-Email": "root@example.com",
    "Remote-Name": "Root",
    "Remote-Groups": "admin",
  };

  test("Remote-* of a request are never in an answer", async () => {
    const grace = await proxied.register("grace@example.com");
    expect(seenByProxy(await grace.get(path, forged))).toEqual(user("grace@example.com"));
    expect(seenByProxy(await proxied.sendPlainly(path, { headers: forged }))).toEqual(refused);
  });

  test("X-Forwarded-* do nothing from a peer that TRUST_PROXY does not name", async () => {
    expect(seenByProxy(await direct.sendPlainly(path, { headers: forwarded }))).toEqual(refused);
    const visitor = await direct.register("direct@example.com");
    expect(seenByProxy(await visitor.get(path, { ...forwarded, ...forged }))).toEqual(user("direct@example.com"));
    const cookie = `__Host-session=${visitor.cookies.get("session")}`;
    expect(seenByProxy(await direct.send(path, { cookie, headers: forwarded }))).toEqual(refused);
  });
});
