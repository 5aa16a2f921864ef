import { describe, expect, test } from "vitest";
import { comeBack, leave, signInExternally } from "../support/external-sign-in";
import type { Answer } from "../support/http";
import { password, runLatchkey } from "../support/running-latchkey";
import { json, runScriptedProvider } from "../support/scripted-provider";
import { twice } from "../support/twice";

const provider = await runScriptedProvider();
const latchkey = runLatchkey(provider.settings.oidc);

const profileIs = (sub: string, email: string, more = {}) =>
  provider.answerWith({ profile: json({ sub, email, email_verified: true, ...more }) });

/** The token request that the exchange of the code sends. */
const tokenRequest = (at: typeof latchkey, code: string) => ({
  code,
  client_id: "latchkey",
  client_secret: "s3cret-of-the-client",
  redirect_uri: `${at.url()}/auth/idp/callback`,
  grant_type: "authorization_code",
});

const clearedState = "oauth_state=; HttpOnly; Path=/auth/idp; SameSite=Lax; Max-Age=0";

function expectRefusal(answer: Answer): void {
  expect(answer).toMatchObject({ status: 302, location: "/login?notice=idp_failed" });
  expect(answer.headers.getSetCookie().map(attributesInOrder)).toEqual([attributesInOrder(clearedState)]);
}

const attributesInOrder = (line: string) => line.split("; ").sort().join("; ");

test("a sign-in sets the state in a cookie, exchanges the code once and ends at the dashboard", async () => {
  profileIs("honest", "honest@example.com");
  const visitor = latchkey.visit();
  const started = await visitor.get("/auth/idp");
  const asked = new URL(started.location ?? "");
  expect(`${asked.origin}${asked.pathname}`).toBe(`${provider.issuer}/authorize`);
  expect(Object.fromEntries(asked.searchParams)).toEqual({
    client_id: "latchkey",
    redirect_uri: `${latchkey.url()}/auth/idp/callback`,
    response_type: "code",
    scope: "openid email profile",
    state: expect.stringMatching(/^[0-9a-f]{64}$/),
  });
  expect(started.headers.getSetCookie().map(attributesInOrder)).toEqual([
    attributesInOrder(
      `oauth_state=${asked.searchParams.get("state")}; HttpOnly; Path=/auth/idp; SameSite=Lax; Max-Age=600`,
    ),
  ]);

  const back = await comeBack(visitor, { code: "the-code", state: asked.searchParams.get("state") ?? "" });
  expect(back).toMatchObject({ status: 302, location: "/dashboard" });
  expect([...visitor.cookies.keys()]).toEqual(["session"]);
  expect(provider.tokenRequests()).toEqual([tokenRequest(latchkey, "the-code")]);
});

test("HEAD is answered 405 without a request to the provider, a cookie or a session, and the state stays valid", async () => {
  const visitor = latchkey.visit();
  const started = await visitor.get("/auth/idp");
  const state = new URL(started.location ?? "").searchParams.get("state") ?? "";
  const events = await latchkey.eventsOf(async () => {
    for (const path of ["/auth/idp/callback", "/auth/idp/callback.data", "/auth/idp", "/auth/idp.data"]) {
      const head = await latchkey.send(`${path}?code=c&state=${state}`, { method: "HEAD", cookie: visitor.cookie });
      expect({ path, status: head.status }).toEqual({ path, status: 405 });
      if (!path.endsWith(".data")) expect(head.headers.get("Allow")).toBe("GET");
      expect(head).toMatchObject({ location: null, setCookies: [] });
    }
  });
  expect(events).toEqual([]);
  expect(provider.tokenRequests()).toEqual([]);
  expect((await comeBack(visitor, { code: "c", state })).location).toBe("/dashboard");
});

describe("login CSRF: a callback that does not match the browser's request", () => {
  const forged: [string, (state: string) => string][] = [
    ["without a state", () => "code=c"],
    ["with an empty state", () => "code=c&state="],
    ["with another state", () => `code=c&state=${"0".repeat(64)}`],
    ["with a longer state", (state) => `code=c&state=${state}0`],
    ["with the state in capitals", (state) => `code=c&state=${state.toUpperCase()}`],
    ["with the state twice", (state) => `code=c&state=${state}&state=${state}`],
    ["with a second code", (state) => `code=c&code=d&state=${state}`],
    ["with the state as an array", (state) => `code=c&state[]=${state}`],
    ["with an error", (state) => `error=access_denied&state=${state}`],
    ["with an error beside the code", (state) => `error=&code=c&state=${state}`],
    ["without a code", (state) => `state=${state}`],
    ["with an empty code", (state) => `code=&state=${state}`],
  ];

  test.each(forged)("%s is refused without a request to the provider", async (_how, query) => {
    const visitor = latchkey.visit();
    const state = (await leave(visitor)).get("state") ?? "";
    expectRefusal(await visitor.get(`/auth/idp/callback?${query(state)}`));
    expect(provider.tokenRequests()).toEqual([]);
    expect([...visitor.cookies.keys()]).toEqual([]);
  });

  test("the attacker's state is refused in another browser", async () => {
    const attacker = latchkey.visit();
    const state = (await leave(attacker)).get("state") ?? "";
    expectRefusal(await comeBack(latchkey.visit(), { code: "c", state }));
    const victim = latchkey.visit();
    await leave(victim);
    expectRefusal(await comeBack(victim, { code: "c", state }));
    expect(provider.tokenRequests()).toEqual([]);
  });

  test("an empty state with an empty cookie is refused", async () => {
    const visitor = latchkey.visit();
    expectRefusal(await visitor.get("/auth/idp/callback?code=c&state=", { Cookie: "oauth_state=" }));
    expectRefusal(await visitor.get("/auth/idp/callback?code=c&state=undefined", { Cookie: "oauth_state" }));
    expect(provider.tokenRequests()).toEqual([]);
  });

  test("a state is accepted once", async () => {
    profileIs("once", "once@example.com");
    const visitor = latchkey.visit();
    const state = (await leave(visitor)).get("state") ?? "";
    expect((await comeBack(visitor, { code: "c", state })).location).toBe("/dashboard");
    expectRefusal(await comeBack(visitor, { code: "c", state }));
    expect(provider.tokenRequests()).toHaveLength(1);
  });

  test("a failed sign-in keeps the browser's session", async () => {
    const visitor = await latchkey.register("keeps@example.com");
    expectRefusal(await comeBack(visitor, { code: "c", state: "forged" }));
    expect((await visitor.get("/dashboard")).status).toBe(200);
  });
});

describe("the redirect after a sign-in", () => {
  test("leads to /dashboard, whatever parameters name another destination", async () => {
    profileIs("redirect", "redirect@example.com");
    const visitor = latchkey.visit();
    const evil = { next: "//evil.example", redirect_uri: "https://evil.example", returnTo: "https://evil.example" };
    const asked = await visitor.get(`/auth/idp?${new URLSearchParams(evil)}`);
    const consent = new URL(asked.location ?? "");
    expect(consent.searchParams.get("redirect_uri")).toBe(`${latchkey.url()}/auth/idp/callback`);
    const state = consent.searchParams.get("state") ?? "";
    expect((await comeBack(visitor, { code: "c", state, ...evil })).location).toBe("/dashboard");
  });

  test("starts a new session and ends the browser's previous one", async () => {
    profileIs("rotates", "rotates@example.com");
    const visitor = latchkey.visit();
    await signInExternally(visitor);
    const before = { Cookie: visitor.cookie };
    expect((await signInExternally(visitor)).location).toBe("/dashboard");
    expect(visitor.cookie).not.toBe(before.Cookie);
    expect((await latchkey.visit().get("/dashboard", before)).location).toBe("/login");
    expect((await visitor.get("/dashboard")).status).toBe(200);
  });
});

// "Pre-hijacked Accounts: An Empirical Study of Security Failures in User Account Creation on the Web",
// USENIX Security 2022, section 3: an attacker prepares an account under the victim's address.
describe("pre-hijacked accounts", () => {
  test("classic-federated merge: without the mailed link no account with a password can be created", async () => {
    const victim = "merge@example.com";
    const attacker = latchkey.visit();
    await attacker.post("/register", { email: victim });
    await latchkey.mailTo(victim, "Finish creating your account");
    const guess = { email: victim, token: "0".repeat(64), ...twice(password) };
    expect((await attacker.post("/register/complete", guess)).status).toBe(422);

    profileIs("merge", victim);
    expect((await signInExternally(latchkey.visit())).location).toBe("/dashboard");
    expect((await attacker.post("/login", { email: victim, password })).status).toBe(422);
    expect((await attacker.post("/register/complete", guess)).status).toBe(422);
  });

  test("classic-federated merge: a pending registration link gives no access to an account created since", async () => {
    const victim = "left-open@example.com";
    await latchkey.visit().post("/register", { email: victim });
    const { link } = await latchkey.mailTo(victim, "Finish creating your account");
    profileIs("left-open", victim);
    expect((await signInExternally(latchkey.visit())).location).toBe("/dashboard");
    const claim = { email: victim, token: link?.searchParams.get("token") ?? "" };
    const late = latchkey.visit();
    const completed = await late.post("/register/complete", { ...claim, ...twice(password) });
    expect(completed.status).toBe(422);
    expect([...late.cookies.keys()]).toEqual([]);
    expect((await late.post("/login", { email: victim, password })).status).toBe(422);
  });

  test("unexpired session: the victim's reset ends every session", async () => {
    const victim = "unexpired@example.com";
    const attacker = await latchkey.register(victim);
    const link = await latchkey.resetLink(victim);
    const renewed = twice("the victim's own choice");
    expect((await latchkey.visit().post("/reset-password", { ...link, ...renewed })).status).toBe(302);
    expect((await attacker.get("/dashboard")).location).toBe("/login");
  });

  test("trojan identifier: an account is linked to one id, and never through an unverified address", async () => {
    const victim = "trojan@example.com";
    await latchkey.register(victim);
    profileIs("the-attackers-id", victim, { email_verified: false });
    expectRefusal(await signInExternally(latchkey.visit()));
    profileIs("the-victims-id", victim);
    expect((await signInExternally(latchkey.visit())).location).toBe("/dashboard");
    profileIs("the-attackers-id", victim);
    expectRefusal(await signInExternally(latchkey.visit()));
  });

  test("unexpired email change: a changed address at the provider does not change the account", async () => {
    const victim = "changed@example.com";
    await latchkey.register(victim);
    profileIs("mover", "mover@example.com");
    await signInExternally(latchkey.visit());
    profileIs("mover", victim);
    const mover = latchkey.visit();
    expect((await signInExternally(mover)).location).toBe("/dashboard");
    const page = (await mover.get("/dashboard")).body;
    expect(page).toContain("mover@example.com");
    expect(page).not.toContain(victim);
  });

  test.each([
    ["an unverified address", { email_verified: false }],
    ["an address without email_verified", { email_verified: undefined }],
    ["email_verified as the string true", { email_verified: "true" }],
    ["email_verified as the number 1", { email_verified: 1 }],
    ["no address", { email: undefined }],
    ["a homograph of the address (U+212A)", { email: "\u212aate@example.com" }],
    ["the address with a fullwidth dot", { email: "kate@example\uff0ecom" }],
    ["a list of addresses", { email: ["kate@example.com"] }],
  ])("non-verifying provider: with %s no account is linked or created", async (how, more) => {
    const victim = "kate@example.com";
    const visitor = latchkey.visit();
    profileIs(`unverified ${how}`, victim, more);
    expectRefusal(await signInExternally(visitor));
    expect((await visitor.get("/dashboard")).location).toBe("/login");
    profileIs(`unverified ${how}`, victim, { email_verified: false });
    expectRefusal(await signInExternally(latchkey.visit()));
  });
});
