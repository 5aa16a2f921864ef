import { readdir } from "node:fs/promises";
import { afterEach, describe, expect, test } from "vitest";
import { runLatchkey } from "../support/running-latchkey";
import { twice } from "../support/twice";

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
  expect(headers.has("strict-transport-security")).toBe(false);
  expect(headers.has("x-powered-by")).toBe(false);
  expect(headers.has("server")).toBe(false);
}

const token = "ab".repeat(32);

const pages: [string, number, string][] = [
  ["/login", 200, "Log in"],
  ["/login?notice=password_reset", 200, "Log in"],
  ["/register", 200, "Create an account"],
  [`/register/complete?email=a%40example.com&token=${token}`, 200, "Finish creating your account"],
  ["/forgot-password", 200, "Forgot your password?"],
  [`/reset-password?email=a%40example.com&token=${token}`, 200, "Choose a new password"],
  ["/nowhere", 404, "Page not found"],
  ["/%00", 404, "Page not found"],
  ["/.env", 404, "Page not found"],
  ["/..%2fpackage.json", 404, "Page not found"],
  ["/%ff", 400, "This address cannot be read"],
  ["/login%", 400, "This address cannot be read"],
  ["/%E0%A4%A", 400, "This address cannot be read"],
  [`/${"a/".repeat(31)}a`, 404, "Page not found"],
  [`/${"a/".repeat(32)}a`, 400, "This address cannot be read"],
  [`/login/${"a/".repeat(7_000)}`, 400, "This address cannot be read"], // Remix would match it for seconds
  ["/logout", 405, "This does not work here"],
];

// No request of these tests logs an error, a query string, a token or a password.
afterEach(async () => {
  await latchkey.flushed();
  expect(latchkey.output()).not.toMatch(/"level":(?:50|60)/);
  expect(latchkey.output()).not.toContain(token);
  expect(latchkey.output()).not.toMatch(/^(?:GET|HEAD|POST) \S*\?/m);
  expect(latchkey.output()).not.toContain("not-this-one");
});

/** Matches the HTML of a message with this role. */
const messageHtml = (role: "status" | "alert", words: string) => new RegExp(`role="${role}"[^>]*>${words}</`);

describe("a page", () => {
  test.each(pages)(
    "%s is answered %i with no-store and a CSP whose nonce is on its scripts",
    async (path, status, title) => {
      const page = await send(path);
      expect(page.status).toBe(status);
      expect(page.headers.get("Content-Type")).toBe(html);
      expect(page.headers.get("Cache-Control")).toBe("no-store");
      expect(page.setCookies).toEqual([]);
      expectSecurityHeaders(page.headers);
      const [, nonce] = policy.exec(page.headers.get("Content-Security-Policy") ?? "") ?? [];
      expect(nonce).toBeDefined();
      expect(page.body).toContain(`<h1 tabindex="-1">${title}</h1>`);
      const scripts = page.body.match(/<script[^>]*>/g) ?? [];
      expect(scripts.length).toBeGreaterThan(0);
      for (const script of scripts) expect(script).toContain(`nonce="${nonce}"`);
      expect(page.body).not.toMatch(/<(?:script|link|img)[^>]+(?:src|href)="(?:https?:)?\/\//);
      expect(page.body).not.toMatch(/ style="| on[a-z]+="/);
    },
  );

  test.each(pages)("%s by HEAD has the same status and headers, and no body", async (path, status) => {
    const head = await send(path, { method: "HEAD" });
    expect(head).toMatchObject({ status, body: "" });
    expect(head.headers.get("Content-Type")).toBe(html);
    expect(head.headers.get("Cache-Control")).toBe("no-store");
    expectSecurityHeaders(head.headers);
  });

  test("has a new nonce for each answer", async () => {
    const nonces = new Set<string | null>();
    for (let count = 0; count < 3; count++) nonces.add((await send("/login")).headers.get("Content-Security-Policy"));
    expect(nonces.size).toBe(3);
  });

  test("escapes the values of the query", async () => {
    const evil = `"><script>alert(1)</script>`;
    for (const path of ["/reset-password", "/register/complete", "/forgot-password", "/register"]) {
      const { body } = await send(`${path}?${new URLSearchParams({ email: evil, token: evil, notice: evil })}`);
      expect(body, path).not.toContain("<script>alert");
    }
  });

  test("shows the two notices of the login page and ignores others", async () => {
    const changed = "Your password was changed. Log in with the new one.";
    const failed = "Signing in with [^/]* did not work.";
    expect((await send("/login?notice=password_reset")).body).toMatch(messageHtml("status", changed));
    expect((await send("/login?notice=idp_failed")).body).toMatch(messageHtml("alert", failed));
    const main = (body: string) => /<main>[\s\S]*<\/main>/.exec(body)?.[0];
    const plain = main((await send("/login")).body);
    expect(plain).toContain('<h1 tabindex="-1">Log in</h1>');
    for (const notice of ["", "other", "constructor", "__proto__", "toString", "password_reset%20"]) {
      const { status, body } = await send(`/login?notice=${notice}`);
      expect(status, notice).toBe(200);
      expect(main(body), notice).toBe(plain);
    }
  });
});

describe("a redirect", () => {
  test.each([
    ["/", "/login"],
    ["/dashboard", "/login"],
    ["/.well-known/change-password", "/forgot-password"],
    ["/auth/idp/callback", "/login?notice=idp_failed"],
    ["/auth/idp/callback?code=c&state=s", "/login?notice=idp_failed"],
  ])("%s redirects to %s with no-store", async (path, location) => {
    for (const method of path.startsWith("/auth/idp") ? ["GET"] : ["GET", "HEAD"]) {
      const redirect = await send(path, { method });
      expect(redirect).toMatchObject({ status: 302, location, body: "" });
      expect(redirect.headers.get("Cache-Control")).toBe("no-store");
      expect(redirect.headers.get("Content-Security-Policy")).toBe(emptyPolicy);
      expectSecurityHeaders(redirect.headers);
    }
  });

  test("a failed callback clears the state's cookie", async () => {
    expect((await send("/auth/idp/callback", { cookie: "oauth_state=x" })).setCookies).toEqual([
      "oauth_state=; HttpOnly; Max-Age=0; Path=/auth/idp; SameSite=Lax",
    ]);
  });
});

describe("an asset", () => {
  test("of the build is immutable for one year", async () => {
    const [script] = (await readdir("public/build")).filter((file) => file.startsWith("entry.client-"));
    const asset = await send(`/build/${script}`);
    expect(asset.status).toBe(200);
    expect(asset.headers.get("Content-Type")).toBe("application/javascript; charset=UTF-8");
    expect(asset.headers.get("Cache-Control")).toBe("public, max-age=31536000, immutable");
    expect(asset.setCookies).toEqual([]);
    expectSecurityHeaders(asset.headers);
  });

  test("of public/ is cacheable for one hour", async () => {
    const icon = await send("/favicon.svg");
    expect(icon.status).toBe(200);
    expect(icon.headers.get("Content-Type")).toBe("image/svg+xml");
    expect(icon.headers.get("Cache-Control")).toBe("public, max-age=3600");
    expectSecurityHeaders(icon.headers);
  });

  test("is not what /build/../login is: that page is no-store", async () => {
    const page = await exchange(["GET /build/../login HTTP/1.1", "Host: localhost", "Connection: close"]);
    expect(page).toMatchObject({ status: 200, headers: { "cache-control": "no-store" } });
  });
});

describe("an answer without a page", () => {
  test("/healthz and /readyz are answered 200 in plain text", async () => {
    for (const [path, body] of [
      ["/healthz", "ok\n"],
      ["/readyz", "ready\n"],
    ] as const) {
      const well = await send(path);
      expect(well).toMatchObject({ status: 200, body });
      expect(well.headers.get("Content-Type")).toBe("text/plain; charset=utf-8");
      expect(well.headers.get("Cache-Control")).toBe("no-store");
      expect(well.headers.get("Content-Security-Policy")).toBe(emptyPolicy);
      expectSecurityHeaders(well.headers);
    }
  });

  test("/auth/idp is answered 400 in plain text without a redirect while external sign-in is off", async () => {
    const off = await send("/auth/idp");
    expect(off).toMatchObject({
      status: 400,
      location: null,
      setCookies: [],
      body: "External sign-in is not configured.\n",
    });
    expect(off.headers.get("Content-Type")).toBe("text/plain; charset=utf-8");
    expectSecurityHeaders(off.headers);
    expect((await send("/login")).body).not.toContain("/auth/idp");
  });
});

describe("a wrong method", () => {
  const read = "GET, HEAD";
  const all = "GET, HEAD, POST";

  test.each([
    ["POST", "/", read],
    ["POST", "/?index", read],
    ["POST", "/healthz", read],
    ["POST", "/HEALTHZ/", read],
    ["POST", "/healt%68z", read],
    ["POST", "/x/../readyz", read],
    ["POST", "/readyz", read],
    ["POST", "/auth/idp", "GET"],
    ["POST", "/auth/idp/callback", "GET"],
    ["POST", "/.well-known/change-password", read],
    ["GET", "/logout", "POST"],
    ["PUT", "/login", all],
    ["DELETE", "/dashboard", all],
    ["PATCH", "/reset-password", all],
    ["OPTIONS", "/login", all],
    ["TRACE", "/login", all],
    ["PROPFIND", "/nowhere", read],
    ["OPTIONS", "*", read],
    ["PUT", "/build/x.js", read],
    ["PUT", "/favicon.svg", read],
    ["TRACE", "/healthz", read],
    ["OPTIONS", "/", read],
    ["PUT", "/account-deleted", read],
    ["TRACE", "/%E0%A4%A", read],
    ["DELETE", "/logout", "POST"],
    ["PUT", "/__manifest", read],
    ["POST", "/__manifest", read],
  ])("%s %s is answered 405 with a page and Allow", async (method, target, allow) => {
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

  test("is not reported for a form at an unknown path: that is 404", async () => {
    const refused = await send("/nowhere", { form: { email: "a@example.com" } });
    expect(refused.status).toBe(404);
    expect(refused.body).toContain('<h1 tabindex="-1">Page not found</h1>');
  });
});

describe("an unusual request", () => {
  test.each(["//evil.example/", "//evil.example/%2e%2e", "/\\evil.example", "//evil.example/build/.."])(
    "for %s does not redirect to another host",
    async (target) => {
      const answer = await exchange([`GET ${target} HTTP/1.1`, "Host: localhost", "Connection: close"]);
      expect(answer.headers.location ?? "/login").toBe("/login");
      expect(answer.body).not.toContain("evil.example/");
    },
  );
});

test.each([
  "/login",
  "/register",
  "/forgot-password",
  "/reset-password",
  "/register/complete",
  "/logout",
  "/dashboard",
])("the form of %s is refused with the same statuses at its .data URL, and with pages at its own", async (path) => {
  const form = { email: "a@example.com", token, password: "x", intent: "x" };
  const refusals: [number, Parameters<typeof send>[1]][] = [
    [403, { form, headers: { Origin: "https://evil.example" } }],
    [413, { form: { ...form, filler: "x".repeat(16_384) } }],
    [415, { body: "{}", headers: { "Content-Type": "application/json" } }],
    [405, { method: "PUT" }],
  ];
  for (const [status, sent] of refusals) {
    expect((await send(`${path}.data`, sent)).status).toBe(status);
    const page = await send(path, sent);
    expect(page).toMatchObject({ status, setCookies: [], contentType: html });
    expectSecurityHeaders(page.headers);
  }
});

describe("a refused form", () => {
  test("of the login page keeps the address, drops the password and shows the error", async () => {
    const refused = await send("/login", { form: { email: "ada@example.com", password: "not-this-one" } });
    expect(refused).toMatchObject({ status: 422, setCookies: [] });
    expect(refused.body).toMatch(messageHtml("alert", "Email or password is incorrect."));
    expect(refused.body).toContain(`value="ada@example.com"`);
    expect(refused.body).not.toContain("not-this-one");
    expect(refused.headers.get("Cache-Control")).toBe("no-store");
    expectSecurityHeaders(refused.headers);
  });

  test.each([
    ["/reset-password", "This reset link is invalid or has expired.", "/forgot-password"],
    ["/register/complete", "This link is invalid or has expired.", "/register"],
  ])("of %s says that the link is invalid and links to the form for a new one", async (path, message, again) => {
    const form = { email: "ada@example.com", token, ...twice("not-this-one") };
    const refused = await send(path, { form });
    expect(refused).toMatchObject({ status: 422, setCookies: [] });
    expect(refused.body).toMatch(messageHtml("alert", message));
    expect(refused.body).toContain(`action="${again}"`);
    expect(refused.body).toContain('value="ada@example.com"');
    expect(refused.body).not.toContain("not-this-one");
    const { body, status } = await send(`${path}.data`, { form });
    expect(status).toBe(422);
    expect(body).toContain(message);
  });
});

describe("requesting a mail", () => {
  /** The whole answer without the date, the nonce and the requested address. */
  const comparable = ({ status, headers, body }: Awaited<ReturnType<typeof send>>, email: string) => {
    const { date, ...others } = Object.fromEntries(headers);
    const nonce = policy.exec(others["content-security-policy"] ?? "")?.[1] ?? "";
    const plain = (text: string) => text.replaceAll(nonce, "NONCE").replaceAll(email, "EMAIL");
    return { status, headers: JSON.stringify(others).replaceAll(nonce, "NONCE"), body: plain(body) };
  };

  test.each([
    ["/forgot-password", "en", "is on its way"],
    ["/register", "en", "is on its way"],
    ["/forgot-password", "ar", 'dir="rtl"'],
    ["/register", "ja", 'lang="ja"'],
  ])("%s in the language %s sends the same answer for every address", async (path, language, said) => {
    const headers = { "Accept-Language": language };
    const first = comparable(await send(path, { form: { email: "one@example.com" }, headers }), "one@example.com");
    expect(first.status).toBe(200);
    expect(first.body).toContain(said);
    for (const email of ["two@example.com", "no-address", "one@example"]) {
      expect(comparable(await send(path, { form: { email }, headers }), email)).toEqual(first);
    }
    for (let count = 0; count < 6; count++) {
      const again = await send(path, { form: { email: "six@example.com" }, headers });
      expect(comparable(again, "six@example.com")).toEqual(first);
    }
  });

  test.each(["/forgot-password", "/register"])("%s without an address or with two is answered 200", async (path) => {
    const two: [string, string][] = [
      ["email", "a@example.com"],
      ["email", "b@example.com"],
    ];
    for (const form of [[], two] as [string, string][][]) {
      const sent = await send(path, { form, headers: { "Content-Type": "application/x-www-form-urlencoded" } });
      expect(sent.status).toBe(200);
      expect(sent.body).toContain("is on its way");
    }
  });
});
