import { readdir } from "node:fs/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Answer } from "../support/http";
import type { runLatchkey } from "../support/running-latchkey";

/** The tests of what a service without a proxy answers. They need no service of their own. */
export const answersOf = ({ exchange, send, ...latchkey }: ReturnType<typeof runLatchkey>) =>
  describe("answers", () => {
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
      [`/reset-password?email=a%40example.com&token=${token}`, 200, "Choose a password"],
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
    afterAll(async () => {
      await latchkey.flushed();
      expect(latchkey.output()).not.toMatch(/"level":(?:50|60)/);
      expect(latchkey.output()).not.toContain(token);
      expect(latchkey.output()).not.toMatch(/^(?:GET|HEAD|POST) \S*\?/m);
    });

    describe("a page", () => {
      describe.each(pages)("%s", (path, status, title) => {
        let page: Answer;
        let head: Answer;

        beforeAll(async () => {
          page = await send(path);
          head = await send(path, { method: "HEAD" });
        });

        test("is answered with its status", { tags: ["4.1.1", "13.4.3"] }, () => {
          expect(page).toMatchObject({ status, contentType: html });
          expect(page.body).toContain(`<h1 tabindex="-1">${title}</h1>`);
        });

        test("sets no cookie", () => {
          expect(page.setCookies).toEqual([]);
        });

        test("is answered alike for HEAD", { tags: "4.1.1" }, () => {
          expect(head).toMatchObject({ status, contentType: html, body: "" });
        });

        test("is kept in no cache", { tags: ["14.2.2", "14.3.2"] }, () => {
          for (const { headers } of [page, head]) expect(headers.get("Cache-Control")).toBe("no-store");
        });

        test("has the security headers", { tags: ["3.4.4", "3.4.5", "3.4.6"] }, () => {
          for (const { headers } of [page, head]) expectSecurityHeaders(headers);
        });

        test("has scripts with the nonce of its policy alone", { tags: ["3.4.3", "3.4.6"] }, () => {
          const [, nonce] = policy.exec(page.headers.get("Content-Security-Policy") ?? "") ?? [];
          expect(nonce).toBeDefined();
          const scripts = page.body.match(/<script[^>]*>/g) ?? [];
          expect(scripts.length).toBeGreaterThan(0);
          for (const script of scripts) expect(script).toContain(`nonce="${nonce}"`);
        });

        test("has no inline style or handler", { tags: ["3.4.3", "3.7.1"] }, () => {
          expect(page.body).not.toMatch(/ style="| on[a-z]+="/);
        });

        test("loads nothing from other origins", { tags: ["3.7.1", "14.2.3"] }, () => {
          expect(page.body).not.toMatch(/<(?:script|link|img)[^>]+(?:src|href)="(?:https?:)?\/\//);
        });
      });

      test("has a new nonce for each answer", { tags: "11.5.1" }, async () => {
        const nonces = new Set<string | null>();
        for (let count = 0; count < 3; count++)
          nonces.add((await send("/login")).headers.get("Content-Security-Policy"));
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

    describe.each([
      ["GET", "/", "/login"],
      ["HEAD", "/", "/login"],
      ["GET", "/dashboard", "/login"],
      ["HEAD", "/dashboard", "/login"],
      ["GET", "/account/data", "/account/activity"],
      ["GET", "/.well-known/change-password", "/forgot-password"],
      ["HEAD", "/.well-known/change-password", "/forgot-password"],
      ["GET", "/auth/idp/callback", "/login?notice=idp_failed"],
      ["GET", "/auth/idp/callback?code=c&state=s", "/login?notice=idp_failed"],
    ])("the answer to %s %s", (method, path, location) => {
      let redirect: Answer;

      beforeAll(async () => {
        redirect = await send(path, { method, headers: { "Sec-Fetch-Mode": "navigate" } });
      });

      test(`redirects to ${location}`, () => {
        expect(redirect).toMatchObject({ status: 302, location, body: "" });
      });

      test("is kept in no cache", () => {
        expect(redirect.headers.get("Cache-Control")).toBe("no-store");
      });

      test("has the security headers", () => {
        expect(redirect.headers.get("Content-Security-Policy")).toBe(emptyPolicy);
        expectSecurityHeaders(redirect.headers);
      });
    });

    test.each([
      "/auth/idp/callback",
      "/auth/idp/callback.data",
      "/auth/idp/callback?code=c&state=s",
      "/auth/idp/callback.data?code=c&state=s",
    ])("HEAD %s is answered 405", async (path) => {
      expect(await send(path, { method: "HEAD" })).toMatchObject({ status: 405, location: null, setCookies: [] });
    });

    describe("a file", () => {
      const text = "text/plain; charset=utf-8";
      const scriptOf = async () =>
        `/build/${(await readdir("public/build")).find((file) => file.startsWith("entry.client-"))}`;

      describe.each([
        ["of the build", scriptOf, "application/javascript; charset=UTF-8", "public, max-age=31536000, immutable", /./],
        ["of public/", () => "/favicon.svg", "image/svg+xml", "public, max-age=3600", /^<svg/],
        ["/healthz", () => "/healthz", text, "no-store", /^ok\n$/],
        ["/readyz", () => "/readyz", text, "no-store", /^ready\n$/],
      ])("%s", (_what, pathOf, contentType, cache, body) => {
        let file: Answer;

        beforeAll(async () => {
          file = await send(await pathOf());
        });

        test("has its type", { tags: ["3.2.1", "4.1.1"] }, () => {
          expect(file).toMatchObject({ status: 200, contentType, body: expect.stringMatching(body) });
        });

        test("has its time in a cache", () => {
          expect(file.headers.get("Cache-Control")).toBe(cache);
        });

        test("sets no cookie", () => {
          expect(file.setCookies).toEqual([]);
        });

        test("has the security headers", { tags: "3.2.1" }, () => {
          if (contentType === text) expect(file.headers.get("Content-Security-Policy")).toBe(emptyPolicy);
          expectSecurityHeaders(file.headers);
        });
      });

      test("of the owner's data is JSON to save", async () => {
        const file = await (await latchkey.register("ada@example.com")).post("/account/data");
        expect(file).toMatchObject({ status: 200, contentType: "application/json; charset=utf-8", setCookies: [] });
        expect(file.headers.get("Content-Disposition")).toBe('attachment; filename="account.json"');
        expect(file.headers.get("Cache-Control")).toBe("no-store");
        expect(file.body).toMatch(/^\{\n {2}"account": \{\n/);
        expect(JSON.parse(file.body)).toMatchObject({ account: { email: "ada@example.com" } });
        expectSecurityHeaders(file.headers);
      });

      test("is not what /build/../login is", async () => {
        const page = await exchange(["GET /build/../login HTTP/1.1", "Host: localhost", "Connection: close"]);
        expect(page).toMatchObject({ status: 200, headers: { "cache-control": "no-store" } });
      });
    });

    describe("a wrong method", () => {
      const read = "GET, HEAD";
      const all = "GET, HEAD, POST";

      const refused: [string, string, string][] = [
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
        ["GET", "/auth/device/refresh", "POST"],
        ["PUT", "/account/data", all],
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
      ];

      describe.each(refused)("%s %s", (method, target, allow) => {
        let answer: Awaited<ReturnType<typeof exchange>>;

        beforeAll(async () => {
          const cookie = "Cookie: session=not-to-be-echoed";
          const lines = ["Host: localhost", cookie, "Content-Length: 0", "Connection: close"];
          answer = await exchange([`${method} ${target} HTTP/1.1`, ...lines]);
        });

        test(`is answered 405 with Allow: ${allow}`, { tags: ["3.5.3", "13.4.4"] }, () => {
          expect(answer.status).toBe(405);
          expect(answer.headers).toMatchObject({ "content-type": html, allow, "x-content-type-options": "nosniff" });
        });

        test("is answered with a page", () => {
          expect(answer.body).toContain('<h1 tabindex="-1">This does not work here</h1>');
        });

        test("does not echo its cookie", { tags: "13.4.4" }, () => {
          expect(answer.body).not.toContain("not-to-be-echoed");
        });
      });

      test("PUT /auth/passkey is answered 405 with Allow: POST", async () => {
        const refused = await send("/auth/passkey", { method: "PUT" });
        expect([refused.status, refused.headers.get("Allow")]).toEqual([405, "POST"]);
      });

      test.each(["/nowhere", "/auth/probe"])("is not reported for a form at the unknown path %s", async (path) => {
        const refused = await send(path, { form: { email: "a@example.com" } });
        expect(refused).toMatchObject({ status: 404, body: expect.stringContaining("Page not found</h1>") });
      });
    });

    describe.each<[string, number, (form: Record<string, string>) => Parameters<typeof send>[1]]>([
      ["from another site", 403, (form) => ({ form, headers: { Origin: "https://evil.example" } })],
      ["that is too long", 413, (form) => ({ form: { ...form, filler: "x".repeat(16_384) } })],
      ["of another type", 415, () => ({ body: "{}", headers: { "Content-Type": "application/json" } })],
      ["with another method", 405, () => ({ method: "PUT" })],
    ])("a form %s", (_what, status, sent) => {
      const form = { email: "a@example.com", password: "x" };

      test(`is answered ${status} at its .data URL`, async () => {
        expect((await send("/login.data", sent(form))).status).toBe(status);
      });

      test.each(["/login", "/account/data"])("is refused with a page at %s", async (path) => {
        const page = await send(path, sent(form));
        expect(page).toMatchObject({ status, setCookies: [], contentType: html });
        expectSecurityHeaders(page.headers);
      });
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
    ])(
      "a request for a mail at %s in the language %s has one answer for every address",
      async (path, language, said) => {
        const answerFor = async (email: string) =>
          comparable(await send(path, { form: { email }, headers: { "Accept-Language": language } }), email);
        const first = await answerFor("one@example.com");
        expect(first).toMatchObject({ status: 200, body: expect.stringContaining(said) });
        const throttled = Array(6).fill("six@example.com");
        for (const email of ["two@example.com", "no-address", "one@example", ...throttled]) {
          expect(await answerFor(email)).toEqual(first);
        }
      },
    );
  });
