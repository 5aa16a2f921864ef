import { createServer } from "node:http";
import fc from "fast-check";
import nock from "nock";
import { beforeEach, describe, expect, test } from "vitest";
import { isLinkLive, issueLink } from "#server/accounts/links/mailed-links";
import { parseAddress, parseAsciiAddress } from "#server/accounts/users/email-address";
import { mintToken, sha256 } from "#server/crypto/tokens";
import { PasswordReset, Registration } from "#server/database/entities";
import { openFrontDoor } from "#server/door/front-door";
import { signInProblems } from "#server/events/sign-in-failures";
import { currentRequest } from "#server/process/context";
import { providers } from "#server/provider/providers";
import { providerNames } from "#server/settings/provider-names";
import * as idp from "~/routes/auth.idp._index";
import * as callback from "~/routes/auth.idp_.callback";
import * as dashboard from "~/routes/dashboard";
import * as forgotPassword from "~/routes/forgot-password";
import * as login from "~/routes/login";
import * as logout from "~/routes/logout";
import * as register from "~/routes/register";
import * as completeRegistration from "~/routes/register_.complete";
import * as resetPassword from "~/routes/reset-password";
import { providerCases } from "../contract/providers";
import { attemptCookie } from "../support/cookies";
import { startLatchkey } from "../support/latchkey";
import { listen } from "../support/listen";
import { runs } from "../support/property-runs";
import { exchange } from "../support/raw-http";
import { call, get, post } from "../support/route-calls";

// The seed is new in every run; fast-check prints it with the counterexample when a property fails.
fc.configureGlobal({ numRuns: runs(50), verbose: fc.VerbosityLevel.Verbose });

const issuer = "https://provider.example";
const latchkey = startLatchkey({
  IDP_CLIENT_ID: "id",
  IDP_CLIENT_SECRET: "secret",
  IDP_AUTHORIZE_URL: `${issuer}/authorize`,
  IDP_TOKEN_URL: `${issuer}/token`,
  IDP_PROFILE_URL: `${issuer}/userinfo`,
});

const anyText = fc.string({ unit: "binary", maxLength: 300 });

const hostile = fc.oneof(
  anyText,
  fc.constantFrom(
    ...["' or 1=1 --", "'; drop table users; --", "<script>alert(1)</script>", "\r\nSet-Cookie: a=b"],
    ...["__proto__", "constructor", "toString", "\u0000", "\ud800", "{{7*7}}", "%", "%00", "../../etc/passwd", "null"],
    ...["[object Object]", "ada@example.com", "ada\uff20example.com", "ada@other.example\uff20example.com"],
  ),
);

const claim = fc.oneof(hostile, fc.anything());

/** Checks a property that changes no row, but of the table `except`. */
const assertUnchanged = <T>(property: fc.IAsyncPropertyWithHooks<T>, ...except: "rate_limits"[]) =>
  latchkey.unchanged(async () => fc.assert(property), ...except);

describe("an e-mail address", () => {
  const ordinary = fc.emailAddress().filter((address) => address.length <= 254 && address.indexOf("@") <= 64);

  const joined = fc.tuple(anyText, anyText).map((pair) => pair.join("@"));
  const withAt = fc.oneof(hostile, ordinary, joined);

  test("is parsed to one ASCII spelling if at all", { tags: ["1.1.1", "2.2.1", "CVE-2026-73420"] }, () => {
    const outcomes = { accepted: 0, refused: 0 };
    fc.assert(
      fc.property(withAt, (text) => {
        const address = parseAddress(text);
        if (address === null) return void outcomes.refused++;
        outcomes.accepted++;
        expect(address).toMatch(/^[!-~]+@[a-z0-9.-]+\.[a-z0-9-]+$/);
        expect(address.length).toBeLessThanOrEqual(254);
        expect(address).toBe(address.toLowerCase());
        expect(parseAddress(address)).toBe(address);
        const upperCase = text.replace(/[a-z]/g, (letter) => letter.toUpperCase());
        expect(parseAddress(` ${upperCase}\t`)).toBe(address);
        expect([null, address]).toContain(parseAsciiAddress(text));
      }),
      { numRuns: 1_000 },
    );
    expect(outcomes.accepted).toBeGreaterThanOrEqual(200);
    expect(outcomes.refused).toBeGreaterThanOrEqual(400);
  });

  test("is accepted when it is valid", () => {
    fc.assert(
      fc.property(ordinary, (address) => {
        expect(parseAddress(address)).toBe(address.toLowerCase());
      }),
      { numRuns: 1_000 },
    );
  });

  test.each<[string, (address: string, at: number) => string]>([
    ["without its @", (address) => address.replace("@", "")],
    ["with a second @", (address, at) => `${address.slice(0, at)}@${address.slice(at)}`],
    ["without a local part", (address) => address.slice(address.indexOf("@"))],
    ["without a domain", (address) => address.slice(0, address.indexOf("@") + 1)],
    ["without a dot in its domain", (address) => address.replace(/@.*/, (domain) => domain.replaceAll(".", ""))],
    ["with an empty label", (address) => address.replace("@", "@.")],
    ["with a local part over 64 characters", (address) => `${"a".repeat(65)}${address}`],
    ["with a domain over 254 characters", (address) => `${address}${".example".repeat(32)}`],
    ["followed by another", (address) => `${address}, eve@example.com`],
    ["with a header after it", (address) => `${address}\r\nBcc: eve@example.com`],
  ])("%s is refused", (_what, damage) => {
    fc.assert(
      fc.property(ordinary, fc.nat(), (address, at) => {
        expect(parseAddress(damage(address, at % address.length))).toBeNull();
      }),
    );
  });

  test("with another character in it is refused", () => {
    const inserted = fc.constantFrom(...' \t\r\n\0\u007f\u0080\u00e9\u0131\u212a\uff20\ud800\u202e\u200b,;:<>()[]\\"');
    fc.assert(
      fc.property(ordinary, inserted, fc.nat(), (address, character, at) => {
        const within = 1 + (at % (address.length - 1));
        const damaged = address.slice(0, within) + character + address.slice(within);
        expect(parseAsciiAddress(damaged)).toBeNull();
        if (within <= address.indexOf("@") || character <= "\u007f") expect(parseAddress(damaged)).toBeNull();
      }),
      { numRuns: 1_000 },
    );
  });

  test("long inputs are refused without catastrophic backtracking (ReDoS)", () => {
    for (const text of ["a".repeat(16_000), "a.".repeat(8_000), `a@${"a-".repeat(8_000)}`, "@".repeat(16_000)]) {
      expect(parseAddress(text)).toBeNull();
    }
  });
});

describe("a token", () => {
  describe("of a link", () => {
    const email = "ada@example.com";
    let token: string;

    beforeEach(async () => {
      token = await issueLink(latchkey.em(), PasswordReset, email);
    });

    test("is accepted for its purpose alone", async () => {
      expect(await isLinkLive(latchkey.em(), PasswordReset, { email, token })).toBe(true);
      expect(await isLinkLive(latchkey.em(), Registration, { email, token })).toBe(false);
    });

    test("is accepted in its exact spelling alone", async () => {
      const mutated = fc.oneof(
        hostile,
        fc.stringMatching(/^[0-9a-f]{64}$/),
        fc
          .tuple(fc.nat(63), fc.constantFrom(..."0123456789abcdefABCDEF "))
          .map(([at, to]) => token.slice(0, at) + to + token.slice(at + 1)),
        fc.constantFrom(
          token.toUpperCase(),
          ` ${token}`,
          `${token}\n`,
          `${token}\u0000`,
          token.slice(1),
          token + token,
        ),
      );
      await fc.assert(
        fc.asyncProperty(mutated, async (other) => {
          fc.pre(other !== token);
          expect(await isLinkLive(latchkey.em(), PasswordReset, { email, token: other })).toBe(false);
        }),
      );
    });

    test("is accepted for its own address alone", async () => {
      await fc.assert(
        fc.asyncProperty(hostile, async (address) => {
          fc.pre(address !== email);
          const ofAnother = { email: address.replaceAll("\0", ""), token };
          expect(await isLinkLive(latchkey.em(), PasswordReset, ofAnother)).toBe(false);
        }),
      );
    });
  });

  test("is 64 lower-case hex characters", { tags: ["6.4.1", "6.5.3", "6.5.4", "11.5.1"] }, () => {
    for (let count = 0; count < 1_000; count++) expect(mintToken()).toMatch(/^[0-9a-f]{64}$/);
  });

  test("is unique", { tags: ["6.4.1", "6.5.3", "6.5.4", "11.5.1"] }, () => {
    expect(new Set(Array.from({ length: 1_000 }, mintToken)).size).toBe(1_000);
  });

  test("is hashed with SHA-256", { tags: "11.4.1" }, () => {
    expect(sha256("abc")).toBe("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  });
});

const routes = {
  "/login": login,
  "/register": register,
  "/register/complete": completeRegistration,
  "/forgot-password": forgotPassword,
  "/reset-password": resetPassword,
  "/dashboard": dashboard,
  "/auth/idp": idp,
  "/auth/idp/callback": callback,
  "/logout": logout,
};

const outcomeOf = async (route: unknown, request: Request) => {
  const outcome = await call(route, request);
  expect(outcome.status).toBeLessThan(500);
  return outcome;
};

describe("no request is answered 500 or changes data", () => {
  beforeEach(async () => {
    await latchkey.createUser({ email: "ada@example.com", idpId: "ada" });
  });

  const names = fc.constantFrom("email", "token", "notice", "code", "state", "iss", "error", "index", "_routes");
  const query = fc.array(fc.tuple(fc.oneof(names, hostile), hostile), { minLength: 1, maxLength: 6 });

  test("with any query", async () => {
    await assertUnchanged(
      fc.asyncProperty(query, async (pairs) => {
        const search = new URLSearchParams(pairs);
        for (const [path, { loader }] of Object.entries(routes)) {
          const { cookies } = await outcomeOf(loader, get(`${path}?${search}`));
          expect(cookies.session).toBeUndefined();
        }
      }),
    );
  });

  test("with any cookies", async () => {
    const unit = fc.integer({ min: 0x20, max: 0xff }).map((code) => String.fromCharCode(code));
    const latin1 = fc.string({ unit, minLength: 1, maxLength: 200 });
    const names = "session __Host-session oauth_state oauth_verifier idp_failure __proto__ a".split(" ");
    const named = fc.tuple(fc.constantFrom(...names, attemptCookie("s")), latin1);
    const pairs = fc.array(named, { minLength: 1, maxLength: 5 });
    const header = fc.oneof(
      latin1,
      pairs.map((all) => all.map((pair) => pair.join("=")).join("; ")),
    );
    await assertUnchanged(
      fc.asyncProperty(header, async (cookie) => {
        const headers = { Cookie: cookie.replaceAll("\u007f", "").trim() };
        expect(await outcomeOf(dashboard.loader, get("/dashboard", { headers }))).toMatchObject({ location: "/login" });
        expect(await outcomeOf(login.loader, get("/login", { headers }))).toMatchObject({ status: 200 });
        const failed = await outcomeOf(login.loader, get("/login?notice=idp_failed", { headers }));
        expect(failed.data.problem === null || signInProblems.includes(failed.data.problem)).toBe(true);
        await outcomeOf(idp.loader, get("/auth/idp", { headers }));
        const back = await outcomeOf(callback.loader, get("/auth/idp/callback?code=c&state=s", { headers }));
        expect(back.location).toBe("/login?notice=idp_failed");
        expect(await outcomeOf(logout.action, post("/logout", {}, { headers }))).toMatchObject({ location: "/login" });
      }),
    );
  });

  const forms = ["/register/complete", "/reset-password", "/dashboard", "/logout"] as const;

  test("with any body of a form", async () => {
    const type = fc.constantFrom(
      "application/x-www-form-urlencoded",
      "application/x-www-form-urlencoded;charset=utf-16",
      "multipart/form-data; boundary=x",
      "multipart/form-data",
      "multipart/form-data; boundary=",
    );
    const part = fc
      .tuple(hostile, hostile)
      .map(([name, value]) => `--x\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`);
    const multipart = fc.array(part, { maxLength: 4 }).map((parts) => `${parts.join("")}--x--\r\n`);
    const body = fc.oneof(
      fc.uint8Array({ maxLength: 500 }).map((bytes) => Buffer.from(bytes)),
      hostile.map((text) => Buffer.from(text)),
      multipart.map((text) => Buffer.from(text)),
      query.map((pairs) => Buffer.from(pairs.map((pair) => pair.join("=")).join("&"))),
    );
    await assertUnchanged(
      fc.asyncProperty(type, body, async (contentType, bytes) => {
        fc.pre(!bytes.includes("ada@example.com")); // A link may be requested for an existing address.
        const form = { method: "POST", headers: { "Content-Type": contentType }, body: bytes };
        const send = (path: string) => new Request(`http://localhost:3000${path}`, form);
        for (const path of forms) await outcomeOf(routes[path].action, send(path));
        const asked = await outcomeOf(forgotPassword.action, send("/forgot-password"));
        expect(asked).toMatchObject({ status: 200, data: { status: "sent" } });
      }),
      "rate_limits",
    );
  });

  test("with any fields of a form", { tags: ["1.2.4", "2.2.2"] }, async () => {
    const names = fc.constantFrom("email", "token", "password", "passwordConfirmation", "intent", "sessionId");
    const fields = fc.array(fc.tuple(fc.oneof(names, hostile), hostile), { minLength: 1, maxLength: 8 });
    await assertUnchanged(
      fc.asyncProperty(fields, async (pairs) => {
        fc.pre(!pairs.some(([name, value]) => name === "email" && parseAddress(value) !== null));
        const typed = Object.fromEntries(pairs.map(([, value], at) => [at % 2 === 0 ? "email" : "password", value]));
        const { status, cookies } = await outcomeOf(login.action, post("/login", typed));
        expect([422, 429]).toContain(status);
        expect(cookies).toEqual({});
        for (const path of forms) {
          const { cookies } = await outcomeOf(routes[path].action, post(path, pairs));
          expect(cookies.session ?? "").toBe("");
        }
        for (const path of ["/forgot-password", "/register"] as const) {
          const asked = await outcomeOf(routes[path].action, post(path, pairs));
          expect(asked).toMatchObject({ status: 200, data: { status: "sent" } });
        }
      }),
      "rate_limits",
    );
  });
});

describe("any answer of the provider", () => {
  beforeEach(async () => {
    await latchkey.createUser({ email: "ada@example.com", password: null, idpId: "ada" });
  });

  async function signIn(profile: string) {
    nock(issuer).post("/token").reply(200, { access_token: "at" });
    nock(issuer).get("/userinfo").reply(200, profile);
    const cookie = "oauth_state=s";
    const outcome = await outcomeOf(callback.loader, get("/auth/idp/callback?code=c&state=s", { cookie }));
    nock.cleanAll();
    return outcome;
  }

  const refused = {
    status: 302,
    location: "/login?notice=idp_failed",
    headers: expect.anything(),
    data: "",
    cookies: { oauth_state: "", idp_failure: expect.stringMatching(/^0\.\.\w*$/) },
    formTargets: [],
  };

  const noId = fc.anything().filter((sub) => typeof sub !== "string" && typeof sub !== "number");
  test("to the profile request starts a session or is refused, and changes no other account", async () => {
    const [before] = await latchkey.execute("select * from users");
    const maybe = <T>(good: fc.Arbitrary<T>) =>
      fc.oneof({ weight: 4, arbitrary: good }, { weight: 1, arbitrary: claim });
    const claims = fc.record(
      {
        sub: maybe(fc.oneof(fc.uuid(), fc.nat())),
        email: maybe(fc.emailAddress()),
        email_verified: maybe(fc.constant(true)),
        name: claim,
        picture: claim,
      },
      { requiredKeys: ["sub"] },
    );
    const outcomes = { accepted: 0, refused: 0 };
    const checked = fc.asyncProperty(claims, async (profile) => {
      const outcome = await signIn(JSON.stringify(profile));
      if (outcome.location === "/dashboard") {
        outcomes.accepted++;
        expect(outcome.cookies).toEqual({
          oauth_state: "",
          session: expect.stringMatching(/^[0-9a-f]{64}$/),
          last_sign_in: "provider",
        });
      } else {
        outcomes.refused++;
        expect(outcome).toEqual(refused);
      }
    });
    await fc.assert(checked, { numRuns: runs(100) });
    expect(outcomes.accepted).toBeGreaterThanOrEqual(10);
    expect(outcomes.refused).toBeGreaterThanOrEqual(10);
    expect(await latchkey.execute("select * from users where email = 'ada@example.com'")).toEqual([before]);
    const users = await latchkey.execute<{ email: string }>("select email from users");
    expect(users.length).toBeGreaterThan(10);
    for (const { email } of users) expect(parseAddress(email)).toBe(email);
  });

  describe.each(providerNames)("%s's profile", (name) => {
    const { profile } = providers[name];
    const { idField, steps } = providerCases[name]();
    const answer = Object.keys(steps.find((step) => step.name === "profile")!.answer);
    const person = Object.fromEntries(answer.filter((field) => field !== idField).map((field) => [field, claim]));
    const usableId = fc.oneof(
      fc.stringMatching(/^[!-~]{1,255}$/),
      fc.maxSafeInteger().filter((id) => !Object.is(id, -0)),
    );

    const assertParsed = (check: (parsed: ReturnType<typeof profile.parse>, id: string | number) => void) =>
      fc.assert(
        fc.property(usableId, fc.record(person, { requiredKeys: [] }), (id, fields) =>
          check(profile.parse({ ...fields, [idField]: id }), id),
        ),
      );

    test("with a valid id is parsed to that id", () => {
      assertParsed((parsed, id) => {
        expect(parsed.id).toBe(String(id));
      });
    });

    test("with a valid id has an address that is text or none", () => {
      assertParsed(({ email, emailVerified }) => {
        expect([true, false]).toContain(emailVerified);
        expect(email === null || typeof email === "string").toBe(true);
      });
    });

    test("with a valid id has texts without control characters", () => {
      assertParsed(({ name, pictureUrl }) => {
        for (const text of [name, pictureUrl]) expect(text ?? "").not.toMatch(/\p{Cc}|\p{Cs}/u);
        expect(name ?? "").not.toMatch(/\p{Zl}|\p{Zp}|[\u202a-\u202e\u2066-\u2069]/u);
      });
    });

    test("without a valid id is refused", () => {
      const fields = fc.record(person, { requiredKeys: [] });
      const unusableId = fc.oneof(noId, fc.constantFrom("", "\0", "a\nb", "\ud800", "x".repeat(256), 0.5, 2 ** 53));
      fc.assert(
        fc.property(unusableId, fields, (id, others) => {
          expect(profile.safeParse({ ...others, [idField]: id }).success).toBe(false);
        }),
        { numRuns: 150 },
      );
    });
  });
});

test("the front door passes on valid facts of a request alone", async () => {
  const config = latchkey.configure({ TRUST_PROXY: "2" });
  openFrontDoor(config, {
    findUser: async () => null,
    findProgram: async () => null,
    endpointOf: () => undefined,
    routeOf: () => "none",
  });
  const server = createServer((request, response) => {
    const { origin, client } = currentRequest() ?? {};
    const { host } = new URL(`http://${request.headers.host}${request.url}`);
    response.end(JSON.stringify({ origin, client, host }));
  });
  const { port, stop } = await listen(server);

  const unit = fc.integer({ min: 0x21, max: 0x7e }).map((code) => String.fromCharCode(code));
  const printable = fc.string({ unit, maxLength: 80 });
  const address = fc.oneof(
    printable,
    fc.ipV4(),
    fc.ipV6(),
    fc.ipV6().map((text) => `${text}%eth0`),
    fc.tuple(fc.ipV6(), printable).map(([text, zone]) => `${text}%${zone}`),
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
        fc.array(address, { maxLength: 4 }).map((list) => list.join(", ")),
        fc.tuple(fc.ipV6(), fc.nat(65_535)).map(([text, port]) => `[${text}]:${port}`),
      ),
      "X-Forwarded-Host": authority,
      "X-Forwarded-Proto": fc.oneof(printable, fc.constantFrom("http", "https")),
    },
    { requiredKeys: [] },
  );
  const target = fc.oneof(
    printable.map((text) => `/${text}`),
    fc.webUrl({ withQueryParameters: true }),
    printable,
  );

  const outcomes = { accepted: 0, refused: 0 };
  await fc.assert(
    fc.asyncProperty(target, headers, async (path, given) => {
      fc.pre(path !== "");
      const lines = Object.entries({ ...given, Connection: "close" }).map((header) => header.join(": "));
      const { status, body } = await exchange(port, [`GET ${path} HTTP/1.1`, ...lines]);
      if (status === 400) return void outcomes.refused++; // Refused by Node's HTTP parser.
      outcomes.accepted++;
      const { origin, client, host } = JSON.parse(body);
      expect(new URL(origin).origin).toBe(origin);
      expect(new URL(origin).host).toBe(host);
      expect(client).toMatch(/^[0-9a-f.:]+$/);
    }),
    { numRuns: 300 },
  );
  expect(outcomes.accepted).toBeGreaterThanOrEqual(150);
  expect(outcomes.refused).toBeGreaterThanOrEqual(5);
  await stop();
});
