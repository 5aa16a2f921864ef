import nock from "nock";
import { beforeEach, describe, expect, test } from "vitest";
import * as callback from "~/routes/auth.idp_.callback";
import { logIn, openLogin } from "../support/account-calls";
import { BrowserTabs, callbackOf, pathOf, signInRoutes } from "../support/browser-tabs";
import { attemptCookie } from "../support/cookies";
import { discovers, google, googleAnswers } from "../support/google-sign-in";
import { startLatchkey } from "../support/latchkey";
import { call, get } from "../support/route-calls";

const latchkey = startLatchkey({ ...google, RETURN_ORIGINS: "https://app.example" });

const ada = { sub: "1001", email: "ada@example.com", email_verified: true };
const failed = "/login?notice=idp_failed";
const query = (returnTo: string) => new URLSearchParams({ return_to: returnTo });

let browser: BrowserTabs;

/** Leaves for the consent screen, in a tab of its own. @returns the attempt's state */
const leave = (returnTo = "") => browser.leave(returnTo && `?${query(returnTo)}`);

/** Comes back, and follows every redirect; the provider, which knows her by now, sends her straight back. */
async function finish(state: string, more?: Record<string, string>): Promise<string[]> {
  const visited: string[] = [];
  let path = callbackOf(state, more);
  while (signInRoutes.has(pathOf(path))) {
    const { location } = await browser.open(path);
    if (location === null) break;
    visited.push(location);
    const again = location.startsWith("https://accounts.google.com/");
    path = again ? callbackOf(new URL(location).searchParams.get("state") ?? "") : location;
    expect(visited.length).toBeLessThan(10);
  }
  return visited;
}

beforeEach(() => {
  browser = new BrowserTabs();
  googleAnswers(ada, 9);
  return () => nock.cleanAll();
});

const sessions = () => latchkey.execute("select * from sessions");

describe("several tabs", () => {
  test.each([[[1, 0]], [[2, 4, 0, 3, 1]]])("that finish in the order %j end at their targets", async (order) => {
    const states: string[] = [];
    for (const tab of [...order].sort()) states.push(await leave(`/notes?${tab}`));
    for (const tab of order) {
      const visited = await finish(states[tab] ?? "");
      expect(visited.at(-1)).toBe(`/notes?${tab}`);
      expect(visited).not.toContain("/dashboard?notice=idp_failed");
    }
  });

  test("share one session", async () => {
    for (const state of [await leave("/notes?0"), await leave("/notes?1")].reverse()) await finish(state);
    expect(await sessions()).toHaveLength(1);
    expect(nock.pendingMocks().length).toBeGreaterThan(0); // of the stale response no code was exchanged
  });

  describe("a stale tab of a guest", () => {
    async function comeBackStale() {
      const [older] = [await leave("https://app.example/a"), await leave()];
      nock.cleanAll(); // A call to exchange the code would fail.
      return browser.open(`/auth/idp/callback?${new URLSearchParams({ state: older, code: "c" })}`);
    }

    test("exchanges no code", async () => {
      expect((await comeBackStale()).location).toBe(failed);
      expect(latchkey.events().at(-1)).toEqual({ event: "idp.failed", reason: "state" });
    });

    test("is restarted with its target", async () => {
      await comeBackStale();
      const page = await browser.open(failed);
      expect(page).toMatchObject({ status: 302, location: `/auth/idp?${query("https://app.example/a")}` });
      expect(page.headers.get("X-Remix-Reload-Document")).toBe("true");
    });
  });
});

describe("a response that comes again", () => {
  describe("to a signed-in browser", () => {
    test.each([
      ["its target", (state: string) => state, "/notes"],
      ["the account page with an unknown state", () => "0".repeat(64), "/dashboard"],
    ])("leads without an alarm to %s", async (_where, sent, target) => {
      const state = await leave("/notes");
      expect(await finish(state)).toEqual(["/notes"]);
      expect(await finish(sent(state))).toEqual([failed, target]);
    });

    test("keeps the session", async () => {
      const state = await leave("/notes");
      await finish(state);
      const before = await sessions();
      await finish(state);
      await finish("0".repeat(64));
      expect(await sessions()).toEqual(before);
    });
  });

  test("with a used code signs in by a second attempt", async () => {
    nock.cleanAll();
    nock("https://oauth2.googleapis.com").post("/token").reply(400, { error: "invalid_grant" });
    googleAnswers(ada);
    const visited = await finish(await leave("/notes"));
    expect(visited).toEqual([failed, `/auth/idp?${query("/notes")}`, expect.stringMatching(/^https/), "/notes"]);
  });

  test("with a used code at GitHub signs in by a second attempt", async () => {
    latchkey.configure({ IDP_PROVIDER: "github" });
    nock("https://github.com").post("/login/oauth/access_token").reply(200, { error: "bad_verification_code" });
    const state = await leave("/notes");
    expect((await finish(state)).slice(0, 2)).toEqual([failed, `/auth/idp?${query("/notes")}`]);
    expect(latchkey.events()).toContainEqual({ event: "idp.failed", reason: "exchange: unexpected" });
  });

  describe("twice stale", () => {
    beforeEach(() => {
      nock.cleanAll();
      nock("https://oauth2.googleapis.com").post("/token").times(2).reply(400, { error: "invalid_grant" });
    });

    test("restarts once", async () => {
      const visited = await finish(await leave("/notes"));
      expect(visited).toEqual([failed, `/auth/idp?${query("/notes")}`, expect.stringMatching(/^https/), failed]);
      expect(await sessions()).toEqual([]);
    });

    test("ends at a page that keeps the target", async () => {
      await finish(await leave("/notes"));
      expect((await browser.open(failed)).data).toMatchObject({ problem: "stale", returnTo: "/notes" });
    });
  });

  test("after a logout restarts nothing", async () => {
    const state = await leave("/notes");
    await finish(state);
    browser.cookies.delete("session");
    expect(await finish(state)).toEqual([failed]);
  });

  test("after eleven minutes signs in by a second attempt", async () => {
    const state = await leave("/notes");
    browser.cookies.delete("oauth_state");
    expect((await finish(state)).at(-1)).toBe("/notes");
  });
});

test("login CSRF: a planted callback restarts no attempt of the browser", async () => {
  await leave("/notes");
  nock.cleanAll();
  expect(await latchkey.unchanged(() => finish("e".repeat(64)))).toEqual([failed]);
  expect((await browser.open(failed)).data).toMatchObject({ problem: "stale", returnTo: null });
});

describe("a failure", () => {
  test("keeps the target for the form", async () => {
    expect(await finish(await leave("/notes"), { error: "access_denied" })).toEqual([failed]);
    const page = await browser.open(failed);
    expect(page).toMatchObject({ status: 200, data: { problem: "cancelled", returnTo: "/notes" } });
  });

  test("raises no alarm after a sign-in with the password", async () => {
    await latchkey.createUser();
    await finish(await leave("/notes"), { error: "access_denied" });
    await browser.open(failed);
    const { cookies } = await logIn({ cookie: browser.cookieFor("/login") });
    for (const [name, value] of Object.entries(cookies)) browser.cookies.set(name, value);
    expect((await browser.open(failed)).location).toBe("/dashboard");
  });

  test("in the browser's history raises no alarm after another try", async () => {
    await finish(await leave("/notes"), { error: "access_denied" });
    await finish(await leave("/notes"));
    expect((await browser.open(failed)).location).toBe("/notes");
  });

  test("of a signed-in browser that was not stale still says so on the account page", async () => {
    browser.cookies.set("session", (await latchkey.signedIn()).slice("session=".length));
    const visited = await finish(await leave("/notes"), { error: "access_denied" });
    expect(visited).toEqual([failed, "/dashboard?notice=idp_failed"]);
  });

  describe.each([
    [{ error: "access_denied" }, "cancelled", "authorization: access_denied"],
    [{ error: "temporarily_unavailable" }, "noAnswer", "authorization: temporarily_unavailable"],
    [{ error: "invalid_scope" }, null, "authorization: invalid_scope"],
    [{ error: "login_required" }, null, "authorization: login_required"],
    [{ error: "ada@example.com" }, null, "authorization: other"],
    [{ error: "" }, null, "authorization: other"],
  ])("%j", (parameters, problem, reason) => {
    test(`is told as ${problem}`, async () => {
      await finish(await leave(), parameters);
      expect((await browser.open(failed)).data.problem).toBe(problem);
    });

    test(`is logged as ${reason}`, async () => {
      await finish(await leave(), parameters);
      expect(latchkey.events().at(-1)).toEqual({ event: "idp.failed", reason });
    });
  });

  describe("of discovery", () => {
    beforeEach(async () => {
      const issuer = `https://${crypto.randomUUID()}.example`;
      latchkey.configure({ IDP_PROVIDER: "oidc", IDP_ISSUER: issuer });
      discovers(issuer, {}, 503);
      expect((await browser.open(`/auth/idp?${query("/notes")}`)).location).toBe(failed);
    });

    test("leaves no attempt", () => {
      expect([...browser.cookies.keys()]).toEqual(["idp_failure"]);
    });

    test("keeps the target", async () => {
      expect((await browser.open(failed)).data).toMatchObject({ problem: "noAnswer", returnTo: "/notes" });
    });
  });

  test("of discovery during a restart is no loop", async () => {
    browser.cookies.set("idp_failure", "1..stale");
    const issuer = "https://gone.example";
    latchkey.configure({ IDP_PROVIDER: "oidc", IDP_ISSUER: issuer });
    discovers(issuer, {}, 503);
    expect((await browser.open(failed)).location).toBe("/auth/idp");
    expect((await browser.open("/auth/idp")).location).toBe(failed);
    expect(await browser.open(failed)).toMatchObject({ status: 200, data: { problem: "noAnswer" } });
  });
});

describe("a forged cookie of a failure", () => {
  const target = (text: string) => Buffer.from(text).toString("base64url");

  test.each([
    ["another origin", `0.${target("https://evil.example/")}.cancelled`, "cancelled", null],
    ["an allowed target", `0.${target("https://app.example/a")}.closed`, "closed", "https://app.example/a"],
    ["no problem of ours", `0.${target("/notes")}.__proto__`, null, "/notes"],
    ["another mark", `2.${target("/notes")}.stale`, null, null],
    ["no form", "cancelled", null, null],
    ["a longer target", `0.${target(`/${"a".repeat(2_048)}`)}.stale`, "stale", null],
    ["markup", "0..<b>", null, null],
  ])("with %s chooses nothing but a text or an allowed target", async (_what, value, problem, returnTo) => {
    browser.cookies.set("idp_failure", value);
    expect(await browser.open(failed)).toMatchObject({ status: 200, data: { problem, returnTo } });
  });

  test("counts for nothing without its notice", async () => {
    browser.cookies.set("idp_failure", `0.${target("/notes")}.cancelled`);
    await browser.open(failed);
    expect((await browser.open("/login")).data).toMatchObject({ problem: null, returnTo: null });
  });

  test("that is sent twice counts as absent", async () => {
    const cookie = "idp_failure=0..cancelled; idp_failure=0..closed";
    expect((await openLogin("?notice=idp_failed", { cookie })).data.problem).toBeNull();
  });

  test("restarts nothing while external sign-in is off", async () => {
    latchkey.configure({ IDP_CLIENT_ID: "", IDP_CLIENT_SECRET: "" });
    browser.cookies.set("idp_failure", "1..stale");
    expect((await browser.open(failed)).status).toBe(200);
  });
});

describe("the cookies of the attempts", () => {
  const attempts = () => [...browser.cookies].filter(([name]) => name.startsWith("oauth_attempt_"));
  const sizeOf = (pairs: [string, string][]) => pairs.map((pair) => pair.join("=")).join("").length;

  test("are the newest within 6,000 bytes", async () => {
    const target = `/${"a".repeat(500)}`;
    const states: string[] = [];
    for (let tab = 0; tab < 16; tab++) states.push(await leave(target));
    const kept = attempts();
    expect(kept.map(([name]) => name)).toEqual(states.slice(-kept.length).map((state) => attemptCookie(state)));
    expect(sizeOf(kept)).toBeLessThanOrEqual(6_000);
    expect(sizeOf(kept) + sizeOf(kept.slice(-1))).toBeGreaterThan(6_000);
  });

  test("with the longest target leave room for the one before", async () => {
    const longest = `/${"a".repeat(2_047)}`;
    const states = [await leave(longest), await leave(longest), await leave(longest)];
    expect(attempts().map(([name]) => name)).toEqual(states.slice(1).map((state) => attemptCookie(state)));
  });

  test("with malformed names are ignored: neither counted nor cleared", async () => {
    browser.cookies.set("oauth_attempt_", "a".repeat(3_000));
    browser.cookies.set(`oauth_attempt_${"g".repeat(32)}`, "a".repeat(3_000));
    const { cookies } = await browser.open("/auth/idp");
    expect(Object.keys(cookies)).toEqual(["oauth_state", attemptCookie(cookies.oauth_state ?? "")]);
  });

  test("that are sent twice are none", async () => {
    const state = await leave("/notes");
    const name = attemptCookie(state);
    const cookie = `oauth_state=${state}; ${name}=${browser.cookies.get(name)}; ${name}=1..`;
    const done = await call(callback.loader, get(`/auth/idp/callback?code=c&state=${state}`, { cookie }));
    expect(done.location).toBe("/dashboard");
  });
});

describe.each([
  { "Sec-Purpose": "prefetch" },
  { "Sec-Purpose": "prefetch;prerender" },
  { Purpose: "prefetch" },
  { Purpose: "preview" },
])("a request in advance (%j)", (headers) => {
  test("starts nothing", async () => {
    const answer = await browser.open("/auth/idp", { headers });
    expect(answer).toMatchObject({ status: 503, location: null });
    expect(answer.cookies).toEqual({});
  });

  test("keeps the running attempt", async () => {
    const state = await leave("/notes");
    await browser.open("/auth/idp", { headers });
    expect(await finish(state)).toEqual(["/notes"]);
  });
});

test("a client that has hung up before the session starts gets none", async () => {
  await latchkey.createUser();
  const state = await leave();
  await latchkey.unchanged(() => browser.open(`/auth/idp/callback?code=c&state=${state}`, { facts: { gone: true } }));
  expect(latchkey.events().at(-1)).toEqual({ event: "idp.failed", reason: "client_gone" });
});

describe.each(["/auth/idp", "/auth/idp/callback"])("HEAD of %s", (path) => {
  const preview = (state: string) => {
    const request = get(`${path}?${new URLSearchParams({ code: "c", state })}`, { cookie: browser.cookieFor(path) });
    return call(signInRoutes.get(path)?.loader, new Request(request, { method: "HEAD" }));
  };

  test("is refused", async () => {
    const head = await preview(await leave("/notes"));
    expect(head).toMatchObject({ status: 405, location: null });
    expect([head.headers.get("Allow"), head.cookies]).toEqual(["GET", {}]);
    expect(latchkey.events()).toEqual([{ event: "idp.started" }]);
  });

  test("keeps the running attempt", async () => {
    const state = await leave("/notes");
    await preview(state);
    expect(await finish(state)).toEqual(["/notes"]);
  });
});
