import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import fc from "fast-check";
import nock from "nock";
import { afterAll, afterEach, beforeEach, describe, expect, test } from "vitest";
import { parseAddress } from "#server/accounts/email-address";
import { isLinkValid, issueLink } from "#server/accounts/mailed-links";
import { mintToken } from "#server/accounts/tokens";
import { PasswordReset, Registration } from "#server/database/entities";
import { openFrontDoor } from "#server/http/front-door";
import { originOf } from "#server/http/request-facts.server";
import { providers } from "#server/identity-provider/providers";
import { sha256 } from "#server/sha256";
import * as idp from "~/routes/auth.idp._index";
import * as callback from "~/routes/auth.idp_.callback";
import * as dashboard from "~/routes/dashboard";
import * as forgotPassword from "~/routes/forgot-password";
import * as login from "~/routes/login";
import * as logout from "~/routes/logout";
import * as register from "~/routes/register";
import * as completeRegistration from "~/routes/register_.complete";
import * as resetPassword from "~/routes/reset-password";
import { createUser } from "../support/accounts";
import { startLatchkey } from "../support/latchkey";
import { sendBytes, statusOf } from "../support/raw-http";
import { call, get, post } from "../support/route-calls";

let tried = 0;

function report<T>(details: fc.RunDetails<T>): void {
  tried += details.numRuns;
  if (details.failed) throw new Error(fc.defaultReportMessage(details) ?? "");
}

fc.configureGlobal({ seed: 20_261_121, numRuns: 100, verbose: fc.VerbosityLevel.Verbose, reporter: report });

afterAll(() => void process.stderr.write(`${tried.toLocaleString("en")} bad inputs tried\n`));

const issuer = "https://provider.example";
const latchkey = startLatchkey({
  IDP_CLIENT_ID: "id",
  IDP_CLIENT_SECRET: "secret",
  IDP_AUTHORIZE_URL: `${issuer}/authorize`,
  IDP_TOKEN_URL: `${issuer}/token`,
  IDP_PROFILE_URL: `${issuer}/userinfo`,
});

const anyText = fc.string({ unit: "binary", maxLength: 300 });

/** Text that looks like what an attacker sends: SQL, markup, header and log injection, an object's own names. */
const hostile = fc.oneof(
  anyText,
  fc.constantFrom(
    "' or 1=1 --",
    "'; drop table users; --",
    "<script>alert(1)</script>",
    "\r\nSet-Cookie: a=b",
    "__proto__",
    "constructor",
    "toString",
    "\u0000",
    "\ud800",
    "{{7*7}}",
    "%",
    "%00",
    "../../etc/passwd",
    "null",
    "[object Object]",
    "ada@example.com",
  ),
);

/** What no request may change: everything but the counters of the limits. */
async function lasting() {
  const { rate_limits: _, ...tables } = await latchkey.snapshot();
  return tables;
}

describe("an e-mail address", () => {
  test("is ASCII, stored in one spelling, or none", () => {
    fc.assert(
      fc.property(
        fc.oneof(
          hostile,
          fc.emailAddress(),
          fc.tuple(anyText, anyText).map((pair) => pair.join("@")),
        ),
        (text) => {
          const address = parseAddress(text);
          if (address === null) return;
          expect(address).toMatch(/^[!-~]+@[a-z0-9.-]+\.[a-z0-9-]+$/);
          expect(address.length).toBeLessThanOrEqual(254);
          expect(address).toBe(address.toLowerCase());
          expect(parseAddress(address)).toBe(address);
          expect(parseAddress(` ${text.toUpperCase()}\t`)).toBe(address);
        },
      ),
      { numRuns: 2_000 },
    );
  });

  test("every ordinary one is taken", () => {
    fc.assert(
      fc.property(fc.emailAddress(), (address) => {
        fc.pre(address.length <= 254 && address.indexOf("@") <= 64);
        expect(parseAddress(address)).toBe(address.toLowerCase());
      }),
      { numRuns: 1_000 },
    );
  });

  test("is none of these long texts, on which a regular expression that backtracks would never end", () => {
    for (const text of ["a".repeat(16_000), "a.".repeat(8_000), `a@${"a-".repeat(8_000)}`, "@".repeat(16_000)]) {
      expect(parseAddress(text)).toBeNull();
    }
  });
});

describe("a token", () => {
  test("is valid in its own spelling, for its own address and purpose, and no other", async () => {
    const email = "ada@example.com";
    const token = await issueLink(latchkey.em(), PasswordReset, email);
    expect(await isLinkValid(latchkey.em(), PasswordReset, { email, token })).toBe(true);
    expect(await isLinkValid(latchkey.em(), Registration, { email, token })).toBe(false);
    const mutated = fc.oneof(
      hostile,
      fc.stringMatching(/^[0-9a-f]{64}$/),
      fc
        .tuple(fc.nat(63), fc.constantFrom(..."0123456789abcdefABCDEF "))
        .map(([at, to]) => token.slice(0, at) + to + token.slice(at + 1)),
      fc.constantFrom(token.toUpperCase(), ` ${token}`, `${token}\n`, `${token}\u0000`, token.slice(1), token + token),
    );
    await fc.assert(
      fc.asyncProperty(mutated, hostile, async (other, address) => {
        fc.pre(other !== token && address !== email);
        expect(await isLinkValid(latchkey.em(), PasswordReset, { email, token: other })).toBe(false);
        expect(await isLinkValid(latchkey.em(), PasswordReset, { email: address.replaceAll("\0", ""), token })).toBe(
          false,
        );
      }),
    );
  });

  test("is 64 lower-case hex characters, never the same, stored as its SHA-256 alone", async () => {
    const tokens = new Set(Array.from({ length: 1_000 }, mintToken));
    expect(tokens.size).toBe(1_000);
    for (const token of tokens) expect(token).toMatch(/^[0-9a-f]{64}$/);
    expect(sha256("abc")).toBe("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  });
});

const outcomeOf = async (route: unknown, request: Request) => {
  const outcome = await call(route, request);
  expect(outcome.status).toBeLessThan(500);
  return outcome;
};

describe("nothing is a 500, and nothing changes", () => {
  beforeEach(async () => {
    await createUser(latchkey.em(), { email: "ada@example.com", idpId: "ada" });
  });

  const query = fc.array(
    fc.tuple(
      fc.oneof(
        fc.constantFrom("email", "token", "notice", "code", "state", "iss", "error", "index", "_routes"),
        hostile,
      ),
      hostile,
    ),
    {
      maxLength: 6,
    },
  );

  test("whatever the query says", async () => {
    const before = await latchkey.snapshot();
    await fc.assert(
      fc.asyncProperty(query, async (pairs) => {
        const search = new URLSearchParams(pairs);
        for (const [path, { loader }] of Object.entries({
          "/login": login,
          "/register": register,
          "/register/complete": completeRegistration,
          "/forgot-password": forgotPassword,
          "/reset-password": resetPassword,
          "/dashboard": dashboard,
          "/auth/idp": idp,
          "/auth/idp/callback": callback,
          "/logout": logout,
        })) {
          const { cookies } = await outcomeOf(loader, get(`${path}?${search}`));
          expect(cookies.session).toBeUndefined();
        }
      }),
    );
    expect(await latchkey.snapshot()).toEqual(before);
  });

  test("whatever the cookies say", async () => {
    const before = await latchkey.snapshot();
    const latin1 = fc.string({
      unit: fc.integer({ min: 0x20, max: 0xff }).map((code) => String.fromCharCode(code)),
      maxLength: 200,
    });
    const named = fc.tuple(
      fc.constantFrom("session", "__Host-session", "oauth_state", "oauth_verifier", "__proto__", "a"),
      latin1,
    );
    const header = fc.oneof(
      latin1,
      fc
        .array(
          named.map((pair) => pair.join("=")),
          { maxLength: 5 },
        )
        .map((pairs) => pairs.join("; ")),
    );
    await fc.assert(
      fc.asyncProperty(header, async (cookie) => {
        const headers = { Cookie: cookie.replaceAll("\u007f", "").trim() };
        expect(await outcomeOf(dashboard.loader, get("/dashboard", { headers }))).toMatchObject({ location: "/login" });
        expect(await outcomeOf(login.loader, get("/login", { headers }))).toMatchObject({ status: 200 });
        const back = await outcomeOf(callback.loader, get("/auth/idp/callback?code=c&state=s", { headers }));
        expect(back.location).toBe("/login?notice=idp_failed");
        expect(await outcomeOf(logout.action, post("/logout", {}, { headers }))).toMatchObject({ location: "/login" });
      }),
    );
    expect(await latchkey.snapshot()).toEqual(before);
  });

  const formRoutes = Object.entries({
    "/register/complete": completeRegistration.action,
    "/reset-password": resetPassword.action,
    "/dashboard": dashboard.action,
    "/logout": logout.action,
  });

  test("whatever a form's body says", async () => {
    const before = await lasting();
    const type = fc.constantFrom(
      "application/x-www-form-urlencoded",
      "application/x-www-form-urlencoded;charset=utf-16",
      "multipart/form-data; boundary=x",
      "multipart/form-data",
      "multipart/form-data; boundary=",
    );
    const multipart = fc
      .array(fc.tuple(hostile, hostile), { maxLength: 4 })
      .map(
        (parts) =>
          `${parts.map(([name, value]) => `--x\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`).join("")}--x--\r\n`,
      );
    const body = fc.oneof(
      fc.uint8Array({ maxLength: 500 }).map((bytes) => Buffer.from(bytes)),
      hostile.map((text) => Buffer.from(text)),
      multipart.map((text) => Buffer.from(text)),
      query.map((pairs) => Buffer.from(pairs.map((pair) => pair.join("=")).join("&"))),
    );
    await fc.assert(
      fc.asyncProperty(type, body, async (contentType, bytes) => {
        const send = (path: string) =>
          new Request(`http://localhost:3000${path}`, {
            method: "POST",
            headers: { "Content-Type": contentType },
            body: bytes,
          });
        for (const [path, action] of formRoutes) await outcomeOf(action, send(path));
        const asked = await outcomeOf(forgotPassword.action, send("/forgot-password"));
        expect(asked).toMatchObject({ status: 200, data: { status: "sent" } });
      }),
    );
    expect(await lasting()).toEqual(before);
  });

  test("whatever the fields say", async () => {
    const before = await lasting();
    const fields = fc.array(
      fc.tuple(
        fc.oneof(fc.constantFrom("email", "token", "password", "passwordConfirmation", "intent", "sessionId"), hostile),
        hostile,
      ),
      { maxLength: 8 },
    );
    await fc.assert(
      fc.asyncProperty(fields, async (pairs) => {
        fc.pre(!pairs.some(([name, value]) => name === "email" && parseAddress(value) !== null));
        for (const [path, action] of formRoutes) {
          const { cookies } = await outcomeOf(action, post(path, pairs));
          expect(cookies.session ?? "").toBe("");
        }
        for (const [path, action] of [
          ["/forgot-password", forgotPassword.action],
          ["/register", register.action],
        ] as const) {
          expect(await outcomeOf(action, post(path, pairs))).toMatchObject({
            status: 200,
            data: { status: "sent" },
          });
        }
      }),
    );
    expect(await lasting()).toEqual(before);
  });

  test("a login, whatever is typed", async () => {
    const before = await lasting();
    await fc.assert(
      fc.asyncProperty(hostile, hostile, async (email, password) => {
        const typed = { email: email, password: password };
        const { status, cookies } = await outcomeOf(login.action, post("/login", typed));
        expect([422, 429]).toContain(status);
        expect(cookies).toEqual({});
      }),
      { numRuns: 30 },
    );
    expect(await lasting()).toEqual(before);
  });
});

describe("whatever the provider answers", () => {
  beforeEach(async () => {
    await createUser(latchkey.em(), { email: "ada@example.com", password: null, idpId: "ada" });
  });
  afterEach(() => nock.cleanAll());

  const comeBack = () =>
    outcomeOf(callback.loader, get("/auth/idp/callback?code=c&state=s", { cookie: "oauth_state=s" }));
  const status = fc.constantFrom(200, 201, 204, 301, 400, 401, 404, 429, 500, 503);
  const json = fc.oneof(
    fc.json().map((text) => text),
    hostile,
    fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes).toString("latin1")),
  );
  const refused = { status: 302, location: "/login?notice=idp_failed", cookies: { oauth_state: "" } };

  test("to the code: no session, and nothing changes", async () => {
    const before = await latchkey.snapshot();
    const tokens = fc.oneof(
      json,
      fc
        .record({ access_token: fc.anything(), token_type: fc.anything(), error: fc.anything() }, { requiredKeys: [] })
        .filter(({ access_token: token }) => typeof token !== "string")
        .map((answer) => stringify(answer)),
    );
    await fc.assert(
      fc.asyncProperty(status, tokens, async (code, body) => {
        nock(issuer).post("/token").reply(code, body);
        nock(issuer).get("/userinfo").reply(200, {});
        expect(await comeBack()).toEqual({ ...refused, headers: expect.anything(), data: "" });
        nock.cleanAll();
      }),
    );
    expect(await latchkey.snapshot()).toEqual(before);
  });

  test("about the profile: no session unless it names a person, and nobody else's account changes", async () => {
    const [before] = await latchkey.execute("select * from users");
    const claim = fc.oneof(
      hostile,
      fc.anything(),
      fc.constantFrom(true, "true", 1, null, "ada@example.com", ["ada@example.com"]),
    );
    const claims = fc.record(
      { sub: claim, email: claim, email_verified: claim, name: claim, picture: claim },
      { requiredKeys: [] },
    );
    await fc.assert(
      fc.asyncProperty(status, fc.oneof(json, claims.map(stringify)), async (code, body) => {
        nock(issuer).post("/token").reply(200, { access_token: "at" });
        nock(issuer).get("/userinfo").reply(code, body);
        const { location, cookies } = await comeBack();
        nock.cleanAll();
        if (location === "/login?notice=idp_failed") expect(cookies).toEqual({ oauth_state: "" });
        else expect(location).toBe("/dashboard");
      }),
      { numRuns: 120 },
    );
    expect(await latchkey.execute("select * from users where email = 'ada@example.com'")).toEqual([before]);
    for (const { email } of await latchkey.execute<{ email: string }>("select email from users")) {
      expect(email === null || typeof email === "string").toBe(true);
    }
  });

  test("a profile is what Latchkey knows how to keep, or none", () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...Object.values(providers)),
        fc.array(fc.anything(), { maxLength: 2 }),
        ({ profile }, answers) => {
          const parsed = profile.safeParse(answers);
          if (!parsed.success) return;
          expect(parsed.data.id).toMatch(/^[\s\S]{1,255}$/);
          expect(typeof parsed.data.emailVerified).toBe("boolean");
        },
      ),
      { numRuns: 1_000 },
    );
  });
});

function stringify(value: unknown): string {
  try {
    return JSON.stringify(value) ?? "";
  } catch {
    return "{}"; // fast-check makes values that JSON has no spelling for
  }
}

describe("the front door", () => {
  test("lets no header through that breaks what stands behind it", async () => {
    openFrontDoor({ ...latchkey.configure({ TRUST_PROXY: "true" }) });
    const server = createServer((request, response) => {
      const { host, "latchkey-origin": origin, "latchkey-client": client } = request.headers;
      const url = new URL(`http://${host}${request.url}`);
      const seen = new Request(url, { headers: { "latchkey-origin": String(origin) } });
      response.end(JSON.stringify({ origin: originOf(seen), client, host: url.host }));
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", () => resolve()));
    const { port } = server.address() as AddressInfo;

    const printable = fc.string({
      unit: fc.integer({ min: 0x21, max: 0x7e }).map((code) => String.fromCharCode(code)),
      maxLength: 80,
    });
    const address = fc.oneof(
      printable,
      fc.ipV4(),
      fc.ipV6(),
      fc.ipV6().map((text) => `${text}%eth0`),
      fc.ipV4Extended(),
    );
    const authority = fc.oneof(
      printable,
      fc.webAuthority({ withIPv4: true, withIPv6: true, withPort: true, withUserInfo: true }),
    );
    const headers = fc.record(
      {
        Host: authority,
        Origin: fc.oneof(printable, fc.webUrl()),
        "X-Forwarded-For": fc.oneof(
          address,
          fc.tuple(address, address).map((pair) => pair.join(", ")),
        ),
        "X-Forwarded-Host": authority,
        "X-Forwarded-Proto": fc.oneof(printable, fc.constantFrom("http", "https")),
        "Latchkey-Client": printable,
        "Latchkey-Origin": printable,
      },
      { requiredKeys: [] },
    );
    const target = fc.oneof(
      printable.map((text) => `/${text}`),
      fc.webUrl({ withQueryParameters: true }),
      printable,
    );

    const ask = async (path: string, given: Record<string, string>) => {
      const lines = Object.entries({ ...given, Connection: "close" }).map(([name, value]) => `${name}: ${value}\r\n`);
      const answer = await sendBytes(port, `GET ${path} HTTP/1.1\r\n${lines.join("")}\r\n`);
      return { status: statusOf(answer), text: /\{.*\}/.exec(answer)?.[0] ?? "" };
    };

    await fc.assert(
      fc.asyncProperty(target, headers, async (path, given) => {
        fc.pre(path !== "");
        const { status, text } = await ask(path, given);
        if (status === 400) return; // Node's own parser
        const { origin, client, host } = JSON.parse(text);
        expect(new URL(origin).origin).toBe(origin);
        expect(new URL(origin).host).toBe(host);
        expect(client).toMatch(/^[0-9a-f.:]+$/);
      }),
      { numRuns: 300 },
    );
    expect(server.requestTimeout).toBe(30_000);
    expect(server.headersTimeout).toBe(20_000);
    await new Promise((resolve) => server.close(resolve));
  });
});
