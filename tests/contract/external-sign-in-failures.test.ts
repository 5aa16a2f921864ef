import { gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import * as authIdp from "~/routes/auth.idp._index";
import { configure } from "../support/configure";
import { failureCookie } from "../support/cookies";
import { recordLog } from "../support/logged";
import { type Answer, recordOutgoingCalls } from "../support/outgoing-calls";
import { call, get } from "../support/route-calls";
import {
  accessToken,
  clientSecret,
  oidc,
  type ProviderCase,
  providerCases,
  providerNames,
  type Step,
  withAnswer,
} from "./providers";
import { code, comeBack, profiles, state } from "./sign-in";

const outgoing = recordOutgoingCalls();
const log = recordLog();

const tooLong = (json: string) => json.padEnd(1_048_577);
const elsewhere = { location: "https://elsewhere.example/" };
const gzip = { "content-encoding": "gzip" };

/** Faulty responses to a call, and the reason that is logged. Each response has only the named fault. */
const faults: [string, (json: string) => Answer, string][] = [
  ["status 400 with an OAuth error", () => ({ status: 400, body: '{"error":"invalid_grant"}' }), "status 400"],
  ["status 200 with an OAuth error", () => ({ body: '{"error":"bad_code","error_uri":"x"}' }), "unexpected"],
  ["status 401", (body) => ({ status: 401, body }), "status 401"],
  ["status 500", (body) => ({ status: 500, body }), "status 500"],
  ["a redirect", (body) => ({ status: 302, body, headers: elsewhere }), "redirect 302"],
  ["a redirect that keeps the method", (body) => ({ status: 308, body, headers: elsewhere }), "redirect 308"],
  ["HTML", () => ({ body: "<!doctype html><title>Sign in</title>" }), "not_json"],
  ["invalid JSON", (json) => ({ body: json.slice(0, -1) }), "not_json"],
  [
    "an array in place of an object, or an object of an array",
    (json) => ({ body: json.startsWith("[") ? `{"values":${json}}` : `[${json}]` }),
    "unexpected",
  ],
  ["null", () => ({ body: "null" }), "unexpected"],
  ["an empty body", () => ({ body: "" }), "not_json"],
  ["status 204", () => ({ status: 204 }), "not_json"],
  ["more than one mebibyte", (json) => ({ body: tooLong(json) }), "too_large"],
  ["more than one mebibyte, in gzip", (json) => ({ body: gzipSync(tooLong(json)), headers: gzip }), "too_large"],
  ["no headers before the deadline", () => ({ stall: "before the headers" }), "timeout"],
  ["no complete body before the deadline", (body) => ({ body, stall: "in the middle of the body" }), "timeout"],
  ["a broken connection", () => ({ broken: true }), "unreachable"],
];

const logged = { discovery: "discovery", token: "exchange", profile: "profile", emails: "profile" };

function answerUntil(
  { steps }: ProviderCase,
  step: Step["name"],
  answer = (body: string): Answer => ({ body }),
): string[] {
  const last = steps.findIndex(({ name }) => name === step);
  const called = steps.slice(0, last + 1);
  for (const [index, { method, url, answer: good }] of called.entries()) {
    const body = JSON.stringify(good);
    outgoing.answer(method, url, index === last ? answer(body) : { body });
  }
  return called.map(({ method, url }) => `${method} ${url}`);
}

const noAnswer = /: (?:timeout|unreachable|status 5..)$/;

async function expectRefusal(
  provider: ProviderCase,
  called: string[],
  reason: string,
  back = () => comeBack(),
  problem = noAnswer.test(reason) ? "noAnswer" : "",
) {
  configure(provider.settings);
  const outcome = await back();
  expect(outcome).toMatchObject({ status: 302, location: "/login?notice=idp_failed", data: "" });
  const cleared = "oauth_state=; HttpOnly; Max-Age=0; Path=/auth/idp; SameSite=Lax";
  expect(outcome.headers.getSetCookie()).toEqual([cleared, failureCookie(problem)]);
  expect(profiles()).toEqual([]);
  expect(outgoing.addresses()).toEqual(called);
  expect(outgoing.deadlines()).toEqual(called.map(() => 5000));
  expect(log.events()).toEqual([{ event: "idp.failed", reason }]);
  for (const secret of [code, state, clientSecret, accessToken]) expect(log.lines().join()).not.toContain(secret);
}

describe.each(providerNames)("%s", (name) => {
  const steps = providerCases[name]().steps.map((step) => step.name);

  describe.each(steps)("%s", (step) => {
    test.each(faults)("answered by %s is a failure", { tags: "15.3.2" }, async (fault, answer, reason) => {
      const provider = providerCases[name]();
      const called = answerUntil(provider, step, answer);
      const problem = step === "token" && fault === "status 400 with an OAuth error" ? "stale" : undefined;
      await expectRefusal(provider, called, `${logged[step]}: ${reason}`, undefined, problem);
    });
  });

  test.each([
    ["another token type", { token_type: "mac" }],
    ["a token type that only begins like bearer", { token_type: "bearer2" }],
    ["a null for the token type", { token_type: null }],
    ["an object for the token type", { token_type: { bearer: true } }],
    ["no access token", { access_token: undefined }],
    ["an empty access token", { access_token: "" }],
    ["an object for the access token", { access_token: { token: accessToken } }],
    ["an access token with a line break", { access_token: "a\r\nx-injected: 1" }],
    ["an access token outside ASCII", { access_token: "tokén" }],
    ["an access token and an error", { error: "temporarily_unavailable" }],
  ])("a token answer with %s is a failure", async (_fault, changed) => {
    const provider = withAnswer(providerCases[name](), "token", changed);
    await expectRefusal(provider, answerUntil(provider, "token"), "exchange: unexpected");
  });

  test.each([
    ["missing", undefined],
    ["null", null],
    ["an object", { $ne: null }],
    ["an array", ["583231"]],
    ["a boolean", true],
    ["empty", ""],
    ["only white space", " \t "],
    ["only white space outside ASCII", "\u3000\u00a0"],
    ["a fraction", 1.5],
    ["a number that is not exact", 2 ** 53],
    ["longer than 255 characters", "1".repeat(256)],
    ["with NUL", "583231\0"],
    ["with a lone surrogate", "583231\ud800"],
  ])("a profile whose id is %s is a failure", async (_fault, id) => {
    const { idField } = providerCases[name]();
    const provider = withAnswer(providerCases[name](), "profile", { [idField]: id });
    await expectRefusal(provider, answerUntil(provider, "profile"), "profile: unexpected");
  });
});

test.each([
  ["code", [code]],
  ["state", [state]],
  ["error", ["", ""]],
  ["iss", ["https://accounts.google.com", "https://accounts.google.com"]],
])("with %s twice is refused before any call", { tags: "15.3.7" }, async (name, values) => {
  const added = values.map((value): [string, string] => [name, value]);
  await expectRefusal(providerCases.google(), [], "repeated_parameter", () => comeBack(added));
});

describe("the iss parameter of the callback (RFC 9207)", () => {
  const configured = oidc();
  test.each([
    ["google", "https://evil.example", providerCases.google()],
    ["google", "", providerCases.google()],
    ["google", "https://accounts.google.com/", providerCases.google()],
    ["gitlab", "https://accounts.google.com", providerCases.gitlab()],
    ["oidc", `${configured.settings.IDP_ISSUER}/`, configured],
  ])("%s: %j is refused before any call", { tags: "10.2.2" }, async (_name, iss, provider) => {
    await expectRefusal(provider, [], "issuer", () => comeBack([["iss", iss]]));
  });

  test("oidc: a callback without iss is refused when the discovery document says that the issuer sends it", async () => {
    const provider = withAnswer(oidc(), "discovery", { authorization_response_iss_parameter_supported: true });
    await expectRefusal(provider, answerUntil(provider, "discovery"), "issuer");
  });
});

describe("discovery", () => {
  test.each(faults)("answered by %s is a failure: no consent screen", async (_fault, answer, reason) => {
    const provider = oidc();
    configure(provider.settings);
    const called = answerUntil(provider, "discovery", answer);

    const outcome = await call(authIdp.loader, get("/auth/idp"));
    expect(outcome).toMatchObject({ status: 302, location: "/login?notice=idp_failed" });
    expect(outcome.headers.getSetCookie()).toEqual([failureCookie(noAnswer.test(`: ${reason}`) ? "noAnswer" : "")]);
    expect(profiles()).toEqual([]);
    expect(outgoing.addresses()).toEqual(called);
    expect(log.events()).toEqual([{ event: "idp.failed", reason: `discovery: ${reason}` }]);
  });

  test.each([
    ["another issuer", { issuer: "https://evil.example" }],
    ["no issuer", { issuer: undefined }],
    ["an object for the issuer", { issuer: {} }],
    ["no token endpoint", { token_endpoint: undefined }],
    ["an object for the token endpoint", { token_endpoint: {} }],
    ["a token endpoint that is not an absolute URL", { token_endpoint: "/token" }],
    ["an authorization endpoint with a javascript: URL", { authorization_endpoint: "javascript:alert(1)" }],
    ["a userinfo endpoint with a file: URL", { userinfo_endpoint: "file:///etc/passwd" }],
    ["an authorization endpoint on http", { authorization_endpoint: "http://sso.example/authorize" }],
    ["a token endpoint on http", { token_endpoint: "http://sso.example/token" }],
    ["a userinfo endpoint on http", { userinfo_endpoint: "http://sso.example/me" }],
  ])("with %s is a failure", { tags: ["1.3.6", "10.5.3"] }, async (_fault, changed) => {
    const provider = withAnswer(oidc(), "discovery", changed);
    await expectRefusal(provider, answerUntil(provider, "discovery"), "discovery: unexpected");
  });
});
