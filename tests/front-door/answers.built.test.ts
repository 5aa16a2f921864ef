import { readdir } from "node:fs/promises";
import { afterEach, describe, expect, test } from "vitest";
import { runLatchkey } from "../support/running-latchkey";

const latchkey = runLatchkey({ TRUST_PROXY: "false" });
const { exchange, send } = latchkey;

const html = "text/html; charset=utf-8";

const policy =
  /^default-src 'self'; script-src 'self' 'nonce-([A-Za-z0-9+/]{22}==)'; style-src 'self'; img-src 'self' https: data:; connect-src 'self'; object-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'$/;

const emptyPolicy = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

function expectSecurityHeaders(headers: Headers) {
  expect(Object.fromEntries(headers)).toMatchObject({
    "x-content-type-options": "nosniff",
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "x-frame-options": "DENY",
  });
  for (const name of ["strict-transport-security", "x-powered-by", "server"])
    expect(headers.has(name), name).toBe(false);
}

const token = "ab".repeat(32);

const pages: [string, number, string][] = [
  ["/login", 200, "Log in"],
  ["/login?notice=password_reset", 200, "Log in"],
  ["/register", 200, "Create an account"],
  [`/register/complete?email=a%40example.com&token=${token}`, 200, "Finish creating your account"],
  ["/forgot-password", 200, "Forgot your password?"],
  [`/reset-password?email=a%40example.com&token=${token}`, 200, "Choose a new password"],
  ["/%00", 404, "Page not found"],
  ["/.env", 404, "Page not found"],
  ["/build/", 404, "Page not found"],
  ["/dev/mails", 404, "Page not found"],
  ["/%ff", 400, "This address cannot be read"],
  ["/login%", 400, "This address cannot be read"],
  [`/${"a/".repeat(31)}a`, 404, "Page not found"],
  [`/${"a/".repeat(32)}a`, 400, "This address cannot be read"],
  [`/login/${"a/".repeat(7_000)}`, 400, "This address cannot be read"], // Remix would match it for seconds
];

// No request of these tests logs an error, a query string, a token or a password.
afterEach(async () => {
  await latchkey.flushed();
  expect(latchkey.output()).not.toMatch(/"level":(?:50|60)/);
  expect(latchkey.output()).not.toContain(token);
  expect(latchkey.output()).not.toMatch(/^(?:GET|HEAD|POST) \S*\?/m);
});

describe("a page", () => {
  test.each(pages)(
    "%s is answered %i with no-store and a CSP whose nonce is on its scripts",
    { tags: ["3.4.3", "3.4.4", "3.4.5", "3.4.6", "3.7.1", "4.1.1", "13.4.3", "14.2.2", "14.2.3", "14.3.2"] },
    async (path, status, title) => {
      const page = await send(path);
      expect(page).toMatchObject({ status, contentType: html, setCookies: [] });
      expect(page.headers.get("Cache-Control")).toBe("no-store");
      expectSecurityHeaders(page.headers);
      const [, nonce] = policy.exec(page.headers.get("Content-Security-Policy") ?? "") ?? [];
      expect(nonce).toBeDefined();
      expect(page.body).toContain(`<h1 tabindex="-1">${title}</h1>`);
      const scripts = page.body.match(/<script[^>]*>/g) ?? [];
      expect(scripts.length).toBeGreaterThan(0);
      for (const script of scripts) expect(script).toContain(`nonce="${nonce}"`);
      expect(page.body).not.toMatch(/<(?:script|link|img)[^>]+(?:src|href)="(?:https?:)?\/\//);
      expect(page.body).not.toMatch(/ style="| on[a-z]+="/);
      const head = await send(path, { method: "HEAD" });
      expect(head).toMatchObject({ status, contentType: html, body: "" });
      expect(head.headers.get("Cache-Control")).toBe("no-store");
      expectSecurityHeaders(head.headers);
    },
  );

  test("has a new nonce for each answer", { tags: "11.5.1" }, async () => {
    const nonces = new Set<string | null>();
    for (let count = 0; count < 3; count++) nonces.add((await send("/login")).headers.get("Content-Security-Policy"));
    expect(nonces.size).toBe(3);
  });

  test("escapes the values of the query", { tags: ["1.1.2", "1.2.1", "1.2.3", "3.2.2"] }, async () => {
    const evil = `"><script>alert(1)</script>`;
    for (const path of ["/reset-password", "/register/complete", "/forgot-password", "/register"]) {
      const { body } = await send(`${path}?${new URLSearchParams({ email: evil, token: evil, notice: evil })}`);
      expect(body, path).not.toContain("<script>alert");
    }
  });
});

test.each([
  ["/", "/login"],
  ["/dashboard", "/login"],
  ["/.well-known/change-password", "/forgot-password"],
  ["/auth/idp/callback", "/login?notice=idp_failed"],
  ["/auth/idp/callback?code=c&state=s", "/login?notice=idp_failed"],
])("a redirect: %s redirects to %s with no-store", async (path, location) => {
  for (const method of path.startsWith("/auth/idp") ? ["GET"] : ["GET", "HEAD"]) {
    const redirect = await send(path, { method, headers: { "Sec-Fetch-Mode": "navigate" } });
    expect(redirect).toMatchObject({ status: 302, location, body: "" });
    expect(redirect.headers.get("Cache-Control")).toBe("no-store");
    expect(redirect.headers.get("Content-Security-Policy")).toBe(emptyPolicy);
    expectSecurityHeaders(redirect.headers);
  }
  if (!path.startsWith("/auth/idp")) return;
  for (const read of [path, path.replace(/(?=\?|$)/, ".data")]) {
    expect(await send(read, { method: "HEAD" }), read).toMatchObject({ status: 405, location: null, setCookies: [] });
  }
});

describe("a file", () => {
  const text = "text/plain; charset=utf-8";
  const scriptOf = async () =>
    `/build/${(await readdir("public/build")).find((file) => file.startsWith("entry.client-"))}`;

  test.each([
    ["of the build", scriptOf, "application/javascript; charset=UTF-8", "public, max-age=31536000, immutable", /./],
    ["of public/", () => "/favicon.svg", "image/svg+xml", "public, max-age=3600", /^<svg/],
    ["/healthz", () => "/healthz", text, "no-store", /^ok\n$/],
    ["/readyz", () => "/readyz", text, "no-store", /^ready\n$/],
  ])(
    "%s has its type, its time in a cache, and no cookie",
    { tags: ["3.2.1", "4.1.1"] },
    async (_what, pathOf, contentType, cache, body) => {
      const path = await pathOf();
      const file = await send(path);
      expect(file).toMatchObject({ status: 200, contentType, setCookies: [], body: expect.stringMatching(body) });
      expect(file.headers.get("Cache-Control")).toBe(cache);
      if (contentType === text) expect(file.headers.get("Content-Security-Policy")).toBe(emptyPolicy);
      expectSecurityHeaders(file.headers);
    },
  );

  test("is not what /build/../login is: that page is no-store", async () => {
    const page = await exchange(["GET /build/../login HTTP/1.1", "Host: localhost", "Connection: close"]);
    expect(page).toMatchObject({ status: 200, headers: { "cache-control": "no-store" } });
  });
});

describe("a wrong method", () => {
  const read = "GET, HEAD";
  const all = "GET, HEAD, POST";

  test.each([
    ["POST", "/", read],
    ["POST", "/healthz", read],
    ["POST", "/healt%68z", read],
    ["POST", "/x/../readyz", read],
    ["POST", "/auth/idp", "GET"],
    ["POST", "/auth/idp/callback", "GET"],
    ["POST", "/.well-known/change-password", read],
    ["POST", "/no-access", read],
    ["PUT", "/login", all],
    ["PUT", "/language", "POST"],
    ["PUT", "/logout", all],
    ["DELETE", "/dashboard", all],
    ["PATCH", "/reset-password", all],
    ["OPTIONS", "/login", all],
    ["PROPFIND", "/nowhere", read],
    ["OPTIONS", "*", read],
    ["PUT", "/build/x.js", read],
    ["PUT", "/favicon.svg", read],
    ["TRACE", "/%E0%A4%A", read],
    ["POST", "/__manifest", read],
  ])("%s %s is answered 405 with a page and Allow", { tags: ["3.5.3", "13.4.4"] }, async (method, target, allow) => {
    const refused = await exchange([
      `${method} ${target} HTTP/1.1`,
      "Host: localhost",
      "Cookie: session=not-to-be-echoed",
      "Content-Length: 0",
      "Connection: close",
    ]);
    expect(refused.status).toBe(405);
    expect(refused.headers).toMatchObject({ "content-type": html, allow, "x-content-type-options": "nosniff" });
    expect(refused.body).toContain('<h1 tabindex="-1">This does not work here</h1>');
    expect(refused.body).not.toContain("not-to-be-echoed");
  });

  test("PUT /auth/passkey is answered 405, and POST is what it allows", async () => {
    const refused = await send("/auth/passkey", { method: "PUT" });
    expect([refused.status, refused.headers.get("Allow")]).toEqual([405, "POST"]);
  });

  test("is not reported for a form at an unknown path: that is 404", async () => {
    const refused = await send("/nowhere", { form: { email: "a@example.com" } });
    expect(refused).toMatchObject({ status: 404, body: expect.stringContaining("Page not found</h1>") });
  });
});

test("a form is refused with the same statuses at its .data URL, and with pages at its own", async () => {
  const form = { email: "a@example.com", password: "x" };
  const refusals: [number, Parameters<typeof send>[1]][] = [
    [403, { form, headers: { Origin: "https://evil.example" } }],
    [413, { form: { ...form, filler: "x".repeat(16_384) } }],
    [415, { body: "{}", headers: { "Content-Type": "application/json" } }],
    [405, { method: "PUT" }],
  ];
  for (const [status, sent] of refusals) {
    expect((await send("/login.data", sent)).status).toBe(status);
    const page = await send("/login", sent);
    expect(page).toMatchObject({ status, setCookies: [], contentType: html });
    expectSecurityHeaders(page.headers);
  }
});

/** The whole answer without the date, the nonce and the requested address, which is in the page and in its length. */
const comparable = ({ status, headers, body }: Awaited<ReturnType<typeof send>>, email: string) => {
  const { date, "content-length": length, ...others } = Object.fromEntries(headers);
  const nonce = policy.exec(others["content-security-policy"] ?? "")?.[1] ?? "";
  const plain = (text: string) => text.replaceAll(nonce, "NONCE").replaceAll(email, "EMAIL");
  return { status, headers: plain(JSON.stringify(others)), body: plain(body) };
};

test.each([
  ["/forgot-password", "en", "is on its way"],
  ["/register", "en", "is on its way"],
  ["/forgot-password", "ar", 'dir="rtl"'],
  ["/register", "ja", 'lang="ja"'],
])("a request for a mail at %s in the language %s has one answer for every address", async (path, language, said) => {
  const answerFor = async (email: string) =>
    comparable(await send(path, { form: { email }, headers: { "Accept-Language": language } }), email);
  const first = await answerFor("one@example.com");
  expect(first).toMatchObject({ status: 200, body: expect.stringContaining(said) });
  const throttled = Array(6).fill("six@example.com");
  for (const email of ["two@example.com", "no-address", "one@example", ...throttled]) {
    expect(await answerFor(email)).toEqual(first);
  }
});
