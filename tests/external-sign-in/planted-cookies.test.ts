import nock from "nock";
import { beforeEach, describe, expect, test } from "vitest";
import * as authorize from "~/routes/auth.idp._index";
import * as callback from "~/routes/auth.idp_.callback";
import * as dashboard from "~/routes/dashboard";
import * as login from "~/routes/login";
import { attemptCookie, connectCookie, ownState, setCookieOf } from "../support/cookies";
import { google, googleAnswers } from "../support/google-sign-in";
import { startLatchkey } from "../support/latchkey";
import { call, get, type Outcome, post, type RequestOptions } from "../support/route-calls";

// An attacker on a sibling host, or on the way to any http page of the domain, sets every cookie without a prefix, for
// any path and beside the browser's own. He never reads or sets one that begins with __Host- (RFC 6265bis).

const latchkey = startLatchkey({ ...google, IDP_PKCE: "true" });

const ada = { sub: "1001", email: "ada@example.com", email_verified: true };
const eve = { sub: "6666", email: "eve@example.com", email_verified: true };
const failed = "/login?notice=idp_failed";

/** A browser on https, with cookies that an attacker has planted before and behind its own. */
class Browser {
  readonly own = new Map<string, string>();
  planted: string[] = [];

  cookies(): string {
    const own = [...this.own].map((pair) => pair.join("="));
    return [...this.planted, ...own, ...this.planted].join("; ");
  }

  async send(route: unknown, path: string, options: RequestOptions = {}): Promise<Outcome> {
    const facts = { origin: "https://login.example", ...options.facts };
    const outcome = await call(route, get(path, { cookie: this.cookies(), ...options, facts }));
    this.keep(outcome);
    return outcome;
  }

  keep({ headers }: Outcome): void {
    for (const { name, value, expired } of headers.getSetCookie().map(setCookieOf)) {
      if (expired) this.own.delete(name);
      else this.own.set(name, value);
    }
  }

  async leave(query = ""): Promise<string> {
    const { location } = await this.send(authorize.loader, `/auth/idp${query}`);
    return new URL(location ?? "").searchParams.get("state") ?? "";
  }

  comeBack(state: string, options: RequestOptions = {}): Promise<Outcome> {
    return this.send(callback.loader, `/auth/idp/callback?${new URLSearchParams({ code: "c", state })}`, options);
  }

  async connect(): Promise<string> {
    const facts = { origin: "https://login.example" };
    const form = { intent: "connect-provider" };
    const started = await call(dashboard.action, post("/dashboard", form, { cookie: this.cookies(), facts }));
    this.keep(started);
    return new URL(started.location ?? "").searchParams.get("state") ?? "";
  }
}

let browser: Browser;

beforeEach(() => {
  browser = new Browser();
  return () => nock.cleanAll();
});

const session = async (userId?: string) => (await latchkey.signedIn(userId)).slice("session=".length);
const accounts = () => latchkey.execute("select email, idp_id from users order by email");

describe("a planted callback of the attacker's own attempt", () => {
  const planted = async (secret: string | null) => {
    const state = ownState("sign_in", secret ?? "");
    const others = [`oauth_connect=${connectCookie(state, "", secret ?? "")}`, "oauth_verifier=planted"];
    const attempt = `${attemptCookie(state, secret ?? "")}=1..`;
    browser.planted = [`oauth_state=${state}`, `%5F%5FHost-oauth=${secret}`, `oauth=${secret}`, attempt, ...others];
    return state;
  };

  test.each([
    ["made by another browser", "e".repeat(64)],
    ["made without a secret", null],
  ])("%s changes no session", { tags: ["10.1.2", "10.2.1"] }, async (_what, secret) => {
    browser.own.set("__Host-session", await session());
    googleAnswers(eve);
    for (const attempts of ["none", "one of her own"]) {
      if (attempts !== "none") await browser.leave();
      const state = await planted(secret);
      const outcome = await latchkey.unchanged(() => browser.comeBack(state));
      expect(outcome.location).toBe(failed);
      expect(Object.keys(outcome.cookies)).not.toContain("__Host-session");
      expect(nock.pendingMocks()).toHaveLength(2);
      expect(latchkey.events().at(-1)).toEqual({ event: "idp.failed", reason: "state" });
    }
  });

  test("restarts nothing", async () => {
    await browser.leave();
    const state = await planted("e".repeat(64));
    await browser.comeBack(state);
    browser.planted = [];
    expect(await browser.send(login.loader, failed)).toMatchObject({ status: 200, data: { problem: "stale" } });
  });

  test("connects nothing to her account", async () => {
    browser.own.set("__Host-session", await session());
    await browser.connect();
    const secret = "e".repeat(64);
    const state = ownState("connect", secret);
    const binding = connectCookie(state, browser.own.get("__Host-session") ?? "", secret);
    browser.planted = [`oauth_state=${state}`, `oauth_connect=${binding}`];
    googleAnswers(eve);
    await latchkey.unchanged(() => browser.comeBack(state));
    expect(nock.pendingMocks()).toHaveLength(2);
  });
});

const names = ["oauth_state", "oauth_verifier", "oauth_connect", "oauth", "oauth_attempt_"];

describe.each(names.map((name) => [name]))("a planted %s, before and after her own", (name) => {
  const plant = (state = "") => {
    const full = name === "oauth_attempt_" ? attemptCookie(state) : name;
    browser.planted = ["", "x", ownState("sign_in"), ownState("connect"), "1.."].map((value) => `${full}=${value}`);
  };

  test("keeps nobody from signing in at her target", async () => {
    plant();
    const state = await browser.leave("?return_to=%2Fnotes");
    plant(state);
    googleAnswers(ada);
    const done = await browser.comeBack(state);
    expect(done).toMatchObject({ location: "/notes", cookies: { "__Host-session": expect.any(String) } });
    expect(await accounts()).toEqual([{ email: "ada@example.com", idp_id: "1001" }]);
  });

  test("keeps nobody from connecting", async () => {
    browser.own.set("__Host-session", await session());
    plant();
    const state = await browser.connect();
    plant(state);
    googleAnswers(eve);
    expect((await browser.comeBack(state)).location).toBe("/dashboard?notice=idp_connected");
    expect(await accounts()).toEqual([{ email: "ada@example.com", idp_id: "6666" }]);
  });
});

test("an attempt to connect whose oauth_connect is gone is no sign-in", async () => {
  browser.own.set("__Host-session", await session());
  const state = await browser.connect();
  browser.own.delete("oauth_connect");
  googleAnswers(eve);
  const outcome = await latchkey.unchanged(() => browser.comeBack(state));
  expect(outcome.location).toBe("/dashboard?notice=idp_failed");
  expect(latchkey.events().at(-1)).toEqual({ event: "idp.failed", reason: "another_session" });
});

test("an older attempt of her own is stale with its own state", async () => {
  const older = await browser.leave();
  await browser.leave();
  expect((await latchkey.unchanged(() => browser.comeBack(older))).location).toBe(failed);
});

describe("__Host-oauth", () => {
  test("is shared by all attempts", async () => {
    await browser.leave();
    const secret = browser.own.get("__Host-oauth");
    await browser.leave();
    expect(browser.own.get("__Host-oauth")).toBe(secret);
  });

  test("is cleared by no callback", async () => {
    const [first, second] = [await browser.leave(), await browser.leave()];
    const secret = browser.own.get("__Host-oauth");
    googleAnswers(ada);
    for (const state of [second, first]) {
      const { cookies } = await browser.comeBack(state);
      expect(Object.keys(cookies)).not.toContain("__Host-oauth");
    }
    expect(browser.own.get("__Host-oauth")).toBe(secret);
    expect(await accounts()).toHaveLength(1);
  });

  test("that is gone makes every state of the browser a foreign one", async () => {
    const state = await browser.leave();
    browser.own.delete("__Host-oauth");
    const outcome = await latchkey.unchanged(() => browser.comeBack(state));
    expect(outcome.location).toBe(failed);
  });

  test("does not appear in what the provider is sent", async () => {
    const { location } = await browser.send(authorize.loader, "/auth/idp");
    expect(location).not.toContain(browser.own.get("__Host-oauth"));
  });
});

describe("a request of the callback that is no navigation", () => {
  test.each<[string, RequestOptions]>([
    ["fetch", { headers: { "Sec-Fetch-Mode": "cors" } }],
    ["fetch without CORS", { headers: { "Sec-Fetch-Mode": "no-cors" } }],
    ["fetch of the same origin", { headers: { "Sec-Fetch-Mode": "same-origin" } }],
    ["an empty mode", { headers: { "Sec-Fetch-Mode": "" } }],
    ["a page's data", { facts: { path: "/auth/idp/callback.data" } }],
    [
      "a navigation to a page's data",
      {
        headers: { "Sec-Fetch-Mode": "navigate" },
        facts: { path: "/auth/idp/callback.data" },
      },
    ],
  ])("by %s is no outcome: the running attempt goes on", async (_how, options) => {
    const state = await browser.leave();
    const before = new Map(browser.own);
    for (const sent of [state, "f".repeat(64)]) {
      const refused = await latchkey.unchanged(() => browser.comeBack(sent, options));
      expect([refused.status, refused.cookies]).toEqual([403, {}]);
    }
    expect(browser.own).toEqual(before);
    expect(latchkey.events()).toEqual([{ event: "idp.started" }]);
    googleAnswers(ada);
    const done = await browser.comeBack(state, { headers: { "Sec-Fetch-Mode": "navigate" } });
    expect(done.location).toBe("/dashboard");
  });
});

test("over http oauth_state alone decides", async () => {
  latchkey.configure({ IDP_PKCE: "false" });
  googleAnswers(ada);
  const state = "a".repeat(64);
  const request = get(`/auth/idp/callback?code=c&state=${state}`, { cookie: `oauth_state=${state}` });
  expect((await call(callback.loader, request)).location).toBe("/dashboard");
});
