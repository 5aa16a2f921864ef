import { createHash } from "node:crypto";
import { beforeEach, describe, expect, test, vi } from "vitest";
import type { Environment } from "#server/config";
import type { Profile } from "#server/provider/providers";
import * as authIdp from "~/routes/auth.idp._index";
import { configure } from "../support/configure";
import { attemptCookie } from "../support/cookies";
import { type Answer, recordOutgoingCalls } from "../support/outgoing-calls";
import { call, get } from "../support/route-calls";
import {
  accessToken,
  clientId,
  clientSecret,
  oidc,
  type ProviderCase,
  providerCases,
  providerNames,
  withAnswer,
} from "./providers";
import { code, comeBack, profiles, sessionToken } from "./sign-in";

const outgoing = recordOutgoingCalls();

function use(provider: ProviderCase, settings: Environment = {}): ProviderCase {
  configure({ ...provider.settings, ...settings });
  for (const { method, url, answer } of provider.steps) outgoing.answer(method, url, { body: JSON.stringify(answer) });
  return provider;
}

const addresses = ({ steps }: ProviderCase) => steps.map(({ method, url }) => `${method} ${url}`);
const sorted = (parameters: URLSearchParams) => [...parameters].sort();

describe.each(providerNames)("%s", (name) => {
  test("a sign-in makes exactly the documented calls", { tags: ["1.3.6", "10.1.1", "13.2.4"] }, async () => {
    const provider = use(providerCases[name]());

    const sent = await call(authIdp.loader, get("https://shop.example:8443/auth/idp"));
    const url = new URL(sent.location ?? "");
    expect(sent.status).toBe(302);
    expect(`${url.origin}${url.pathname}${url.hash}`).toBe(provider.consentUrl);
    expect(sorted(url.searchParams)).toEqual([
      ["client_id", clientId],
      ["redirect_uri", "https://shop.example:8443/auth/idp/callback"],
      ["response_type", "code"],
      ["scope", provider.scope],
      ["state", sent.cookies.oauth_state],
    ]);
    const { oauth_state: sentState = "" } = sent.cookies;
    expect(sentState).toMatch(/^[0-9a-f]{64}$/);
    const { "__Host-oauth": secret = "" } = sent.cookies;
    expect(secret).toMatch(/^[0-9a-f]{64}$/);
    const attempt = { [attemptCookie(sentState, secret)]: "1.." };
    expect(sent.cookies).toEqual({ oauth_state: sentState, "__Host-oauth": secret, ...attempt });
    expect(outgoing.addresses()).toEqual(addresses(provider).filter((address) => address.includes(".well-known")));

    const done = await comeBack([], {}, "https://shop.example:8443");
    expect(done).toMatchObject({ status: 302, location: "/dashboard" });
    expect(done.cookies).toEqual({ oauth_state: "", "__Host-session": sessionToken, last_sign_in: "provider" });
    expect(outgoing.addresses()).toEqual(addresses(provider));
    for (const [index, step] of provider.steps.entries()) {
      const isToken = step.name === "token";
      expect(outgoing.calls()[index]).toEqual({
        method: isToken ? "POST" : "GET",
        url: step.url,
        headers: {
          accept: "application/json",
          host: new URL(step.url).host,
          ...(isToken && { "content-type": "application/x-www-form-urlencoded" }),
          ...(["profile", "emails"].includes(step.name) && { authorization: `Bearer ${accessToken}` }),
        },
        body: isToken ? expect.any(String) : "",
      });
    }
    const form = outgoing.calls().find(({ method }) => method === "POST")?.body;
    expect(form?.split("&").sort()).toEqual([
      "client_id=client%26id%3D1%2B2+%253D+%C3%A9",
      "client_secret=s%26%3D%2B+%2525%C3%BC%E2%82%AC%F0%9D%84%9E",
      "code=4%2F0A%26b%3Dc%2Bd+e%2520f+%C3%A9%F0%9D%84%9E",
      "grant_type=authorization_code",
      "redirect_uri=https%3A%2F%2Fshop.example%3A8443%2Fauth%2Fidp%2Fcallback",
    ]);
    expect(outgoing.deadlines()).toEqual(provider.steps.map(() => 5000));
    expect(profiles()).toEqual([provider.profile]);
  });

  test("the settings override the provider's defaults", async () => {
    const provider = providerCases[name]();
    const steps = provider.steps.filter((step) => step.name !== "discovery");
    const [token, profile, emails] = steps;
    configure({
      ...provider.settings,
      IDP_AUTHORIZE_URL: "https://own.example/consent?tenant=a%26b",
      IDP_TOKEN_URL: "https://own.example/oauth/token",
      IDP_PROFILE_URL: "https://own.example/profile",
      IDP_SCOPE: "my:scope & more",
    });
    outgoing.answer("POST", "https://own.example/oauth/token", { body: JSON.stringify(token?.answer) });
    outgoing.answer("GET", "https://own.example/profile", { body: JSON.stringify(profile?.answer) });
    const emailsUrl = emails?.url.replace(profile?.url ?? "", "https://own.example/profile");
    if (emailsUrl) outgoing.answer("GET", emailsUrl, { body: JSON.stringify(emails?.answer) });

    const { location, cookies } = await call(authIdp.loader, get("/auth/idp"));
    const consent = new URL(location ?? "");
    expect(`${consent.origin}${consent.pathname}`).toBe("https://own.example/consent");
    expect(sorted(consent.searchParams)).toEqual([
      ["client_id", clientId],
      ["redirect_uri", "http://localhost:3000/auth/idp/callback"],
      ["response_type", "code"],
      ["scope", "my:scope & more"],
      ["state", cookies.oauth_state],
      ["tenant", "a&b"],
    ]);
    expect(await comeBack()).toMatchObject({ location: "/dashboard" });
    expect(outgoing.addresses()).toEqual([
      "POST https://own.example/oauth/token",
      "GET https://own.example/profile",
      ...(emailsUrl ? [`GET ${emailsUrl}`] : []),
    ]);
    expect(profiles()).toEqual([provider.profile]);
  });
});

const urlOf = (length: number) => "https://a.example/".padEnd(length, "a");
const outsideAscii = `https://a.example/${"\u{1F600}".repeat(300)}`;

test.each([
  ["no name and no picture", { name: undefined, picture: undefined }, { name: null, pictureUrl: null }],
  ["objects for name and picture", { name: { a: 1 }, picture: ["x"] }, { name: null, pictureUrl: null }],
  ["control characters in the name", { name: " A\0d\r\na\u009f " }, { name: null }],
  ["bidirectional overrides in the name", { name: "Ada \u202eecalevoL\u2028\u2066" }, { name: null }],
  ["lone surrogates in the name", { name: "A\ud800da\udc00" }, { name: null }],
  ["an overlong name", { name: "\u{1F600}".repeat(101) }, { name: null }],
  ["a name of 100 characters", { name: "\u{1F600}".repeat(100) }, { name: "\u{1F600}".repeat(100) }],
  ["markup in the name", { name: "<b>Ada</b>" }, { name: "<b>Ada</b>" }],
  ["a picture of another scheme", { picture: "javascript:alert(1)" }, { pictureUrl: "javascript:alert(1)" }],
  ["a picture outside ASCII", { picture: outsideAscii }, { pictureUrl: outsideAscii }],
  ["a picture of 2,048 characters", { picture: urlOf(2_048) }, { pictureUrl: urlOf(2_048) }],
  ["a picture of 2,049 characters", { picture: urlOf(2_049) }, { pictureUrl: null }],
  ["NUL in the picture", { picture: "https://a.example/\0" }, { pictureUrl: null }],
  ["a lone surrogate in the picture", { picture: "https://a.example/\ud800" }, { pictureUrl: null }],
  ["a number for the id", { sub: 110 }, { id: "110" }],
  ["the name of an Object.prototype property for the id", { sub: "__proto__" }, { id: "__proto__" }],
  ["an address in capitals and with spaces", { email: " ADA@example.com " }, { email: " ADA@example.com " }],
])("a profile with %s is read", async (_what, changed, expected) => {
  const provider = use(withAnswer(providerCases.google(), "profile", changed));
  expect(await comeBack()).toMatchObject({ status: 302, location: "/dashboard" });
  expect(profiles()).toEqual([{ ...provider.profile, ...expected }]);
});

test.each(providerNames)("%s with PKCE (RFC 7636): the challenge is the SHA-256 of the verifier", async (name) => {
  const provider = use(providerCases[name](), { IDP_PKCE: "true" });
  const origin = "https://shop.example";

  const sent = await call(authIdp.loader, get(`${origin}/auth/idp`));
  const asked = new URL(sent.location ?? "").searchParams;
  const done = await comeBack([], sent.cookies, origin);
  expect(done).toMatchObject({ status: 302, location: "/dashboard" });
  expect(outgoing.addresses()).toEqual(addresses(provider));
  const exchanged = new URLSearchParams(outgoing.calls().find(({ method }) => method === "POST")?.body);
  const verifier = exchanged.get("code_verifier") ?? "";
  expect(verifier).toMatch(/^[\w.~-]{43,128}$/);
  expect(sorted(asked)).toEqual([
    ["client_id", clientId],
    ["code_challenge", createHash("sha256").update(verifier, "ascii").digest("base64url")],
    ["code_challenge_method", "S256"],
    ["redirect_uri", `${origin}/auth/idp/callback`],
    ["response_type", "code"],
    ["scope", provider.scope],
    ["state", sent.cookies.oauth_state],
  ]);
  expect(sorted(exchanged)).toEqual([
    ["client_id", clientId],
    ["client_secret", clientSecret],
    ["code", code],
    ["code_verifier", verifier],
    ["grant_type", "authorization_code"],
    ["redirect_uri", `${origin}/auth/idp/callback`],
  ]);
  expect(Object.values(sent.cookies)).not.toContain(verifier);
});

test("the PKCE verifier is another one for each attempt of a browser", async () => {
  use(providerCases.google(), { IDP_PKCE: "true" });
  const start = (cookie = "") => call(authIdp.loader, get("https://shop.example/auth/idp", { cookie }));
  const challenge = ({ location }: { location: string | null }) =>
    new URL(location ?? "").searchParams.get("code_challenge");
  const first = await start();
  const second = await start(`__Host-oauth=${first.cookies["__Host-oauth"]}`);
  expect(second.cookies["__Host-oauth"]).toBe(first.cookies["__Host-oauth"]);
  expect(challenge(second)).not.toBe(challenge(first));
});

describe("the iss parameter of the callback (RFC 9207)", () => {
  const sending = withAnswer(oidc(), "discovery", { authorization_response_iss_parameter_supported: true });
  test.each([
    ["google", "https://accounts.google.com", providerCases.google()],
    ["gitlab", "https://gitlab.com", providerCases.gitlab()],
    ["oidc, whose discovery document says that it sends iss", sending.settings.IDP_ISSUER ?? "", sending],
  ])("%s: %s is accepted", async (_name, iss, provider) => {
    use(provider);
    expect(await comeBack([["iss", iss]])).toMatchObject({ status: 302, location: "/dashboard" });
  });
});

const emails: [what: string, stated: { email?: unknown; verified?: unknown }, expected: Partial<Profile>][] = [
  ["unverified", { verified: false }, { emailVerified: false }],
  ["unverified by the string false", { verified: "false" }, { emailVerified: false }],
  ["verified by the string true, as Amazon Cognito sends it", { verified: "true" }, {}],
  ["verified by the string True", { verified: "True" }, { emailVerified: false }],
  ["verified by the number 1", { verified: 1 }, { emailVerified: false }],
  ["without a verification field", { verified: undefined }, { emailVerified: false }],
  ["missing", { email: undefined }, { email: null }],
  ["null", { email: null }, { email: null }],
  ["an object", { email: { $ne: null } }, { email: null }],
  ["a list", { email: ["ada@example.com"] }, { email: null }],
];

describe.each(providerNames)("%s", (name) => {
  test.each(emails)("an email that is %s is read so", async (_what, stated, expected) => {
    const documented = providerCases[name]();
    const { email, verified } = { email: documented.profile.email, verified: true, ...stated };
    const provider = use(withAnswer(documented, documented.steps.at(-1)!.name, documented.withEmail(email, verified)));
    await comeBack();
    expect(profiles()).toEqual([{ ...provider.profile, ...expected }]);
  });

  const promptOf = async (query: string) => {
    const { location } = await call(authIdp.loader, get(`/auth/idp?${query}`));
    return new URL(location ?? "").searchParams.getAll("prompt");
  };

  test("another account is asked for as the provider has it", async () => {
    const { prompts } = use(providerCases[name]());
    expect(await promptOf("prompt=select_account")).toEqual(prompts);
  });

  test.each(["", "prompt=", "prompt=none", "prompt=login", "prompt=select_account&prompt=none"])(
    "no other prompt is passed on: %j",
    async (query) => {
      use(providerCases[name]());
      expect(await promptOf(query)).toEqual([]);
    },
  );

  test.each([undefined, "Bearer", "bearer", "BEARER"])(
    "the token type %s is accepted as bearer",
    async (token_type) => {
      const provider = use(withAnswer(providerCases[name](), "token", { token_type }));
      expect(await comeBack()).toMatchObject({ status: 302, location: "/dashboard" });
      expect(outgoing.addresses()).toEqual(addresses(provider));
    },
  );
});

const edges = providerNames.flatMap((name) => providerCases[name]().edges.map((edge) => [name, ...edge] as const));

test.each(edges)("%s: %s is read so", async (name, _what, step, changed, expected) => {
  const provider = use(withAnswer(providerCases[name](), step, changed));
  expect(await comeBack()).toMatchObject({ status: 302, location: "/dashboard" });
  expect(profiles()).toEqual([{ ...provider.profile, ...expected }]);
});

test("the discovery document of an issuer is requested once", async () => {
  const provider = use(oidc());
  await Promise.all([call(authIdp.loader, get("/auth/idp")), call(authIdp.loader, get("/auth/idp"))]);
  await comeBack();
  expect(outgoing.addresses()).toEqual(addresses(provider));
});

test("a failed discovery is requested again by the next sign-in", async () => {
  const provider = oidc();
  configure(provider.settings);
  outgoing.answer("GET", provider.steps[0]!.url, { status: 503 });
  expect(await call(authIdp.loader, get("/auth/idp"))).toMatchObject({ location: "/login?notice=idp_failed" });
  use(provider);
  expect(await comeBack()).toMatchObject({ location: "/dashboard" });
  expect(outgoing.addresses()).toEqual([addresses(provider)[0], ...addresses(provider)]);
});

describe("a discovery document", () => {
  const start = Date.now();
  const hour = 3_600_000; // ms
  const documentOf = (provider: ProviderCase) => ({ body: JSON.stringify(provider.steps[0]!.answer) });
  let provider: ProviderCase;

  /** @returns how often the document was requested until now */
  async function signInAt(provider: ProviderCase, time: number, discovery?: Answer) {
    vi.spyOn(Date, "now").mockReturnValue(start + time);
    const [first, ...others] = provider.steps;
    if (discovery) outgoing.answer("GET", first!.url, discovery);
    for (const { method, url, answer } of others) outgoing.answer(method, url, { body: JSON.stringify(answer) });
    expect(await comeBack()).toMatchObject({ status: 302, location: "/dashboard" });
    return outgoing.addresses().filter((address) => address.includes(".well-known")).length;
  }

  beforeEach(async () => {
    provider = oidc();
    configure(provider.settings);
    expect(await signInAt(provider, 0, documentOf(provider))).toBe(1);
  });

  test("is cached for 23 hours", async () => {
    expect(await signInAt(provider, 23 * hour)).toBe(1);
  });

  test("stays when its renewal after a day fails", async () => {
    expect(await signInAt(provider, 25 * hour, { status: 503 })).toBe(2);
    expect(await signInAt(provider, 25 * hour)).toBe(2);
  });

  test("is requested again a minute after a failed renewal", async () => {
    await signInAt(provider, 25 * hour, { status: 503 });
    const moved = withAnswer(provider, "discovery", { token_endpoint: "https://moved.example/token" });
    moved.steps[1]!.url = "https://moved.example/token";
    expect(await signInAt(moved, 25 * hour + 61_000, documentOf(moved))).toBe(3);
    expect(outgoing.addresses()).toContain("POST https://moved.example/token");
  });
});

test("an issuer may end in a slash", async () => {
  const provider = oidc();
  const issuer = `${provider.settings.IDP_ISSUER}/`;
  use(withAnswer(provider, "discovery", { issuer }), { IDP_ISSUER: issuer });
  expect(await comeBack()).toMatchObject({ location: "/dashboard" });
});
