import nock from "nock";
import { beforeEach, describe, expect, test } from "vitest";
import * as authorize from "~/routes/auth.idp._index";
import * as login from "~/routes/login";
import * as register from "~/routes/register";
import { logIn, openLogin } from "../support/account-calls";
import { BrowserTabs, callbackOf } from "../support/browser-tabs";
import { discovers, google, googleAnswers } from "../support/google-sign-in";
import { startLatchkey } from "../support/latchkey";
import { call, get, type Outcome } from "../support/route-calls";

const latchkey = startLatchkey({ ...google, RETURN_ORIGINS: "https://app.example" });

const app = "https://app.example/payments?id=1";
const target = (seconds: number | string = 600) =>
  `?${new URLSearchParams({ return_to: app, max_age: String(seconds) })}`;

/** A signed-in browser's cookie; the sign-in is `age` seconds old. */
async function signedIn(age: number, userId?: string): Promise<string> {
  const cookie = await latchkey.signedIn(userId);
  await latchkey.execute("update sessions set created_at = now() - ? * interval '1 second'", [age]);
  return cookie;
}

const sessions = () => latchkey.execute<{ id: string }>("select id from sessions");

describe("/login?max_age=600", () => {
  describe("to a signed-in user whose sign-in is older", () => {
    let page: Outcome;

    beforeEach(async () => {
      page = await openLogin(target(), { cookie: await signedIn(601) });
    });

    test("shows its form", () => {
      expect(page.status).toBe(200);
      expect(page.data).toMatchObject({ returnTo: app, maxAge: 600, notice: null });
      expect(page.formTargets).toEqual(["https://app.example"]);
    });

    test("says why", () => {
      expect(page.data.tooOld).toBe(10);
    });

    test("says which account it is", () => {
      expect(page.data.email).toBe("ada@example.com");
    });
  });

  test("sends who is fresh enough to the target at once", async () => {
    expect((await openLogin(target(), { cookie: await signedIn(590) })).location).toBe(app);
  });

  test("shows a guest its form", async () => {
    const page = await openLogin(target());
    expect([page.status, page.data.tooOld, page.data.maxAge]).toEqual([200, false, 600]);
  });

  test("names the minutes of the age that was asked for", async () => {
    const cookie = await signedIn(90_000);
    for (const [seconds, minutes] of [
      [60, 1],
      [119, 1],
      [86_400, 1_440],
    ] as const)
      expect((await openLogin(target(seconds), { cookie })).data.tooOld).toBe(minutes);
  });

  test.each(["59", "86401", "0600", "600.0", "1e3", "", "x", " 600"])(
    "counts as absent with the value %j",
    async (value) => {
      expect((await openLogin(target(value), { cookie: await signedIn(3_600) })).location).toBe(app);
      expect((await openLogin(target(value))).data.maxAge).toBeNull();
    },
  );

  test("counts as absent when it is repeated", async () => {
    expect((await openLogin(`${target()}&max_age=600`, { cookie: await signedIn(3_600) })).location).toBe(app);
  });

  test("ends after a password at the target", async () => {
    const userId = await latchkey.createUser();
    const cookie = await signedIn(601, userId);
    const done = await logIn({ search: target(), cookie });
    expect(done.location).toBe(app);
    expect((await openLogin(target(), { cookie: `session=${done.cookies.session}` })).location).toBe(app);
  });

  test("replaces the old session by a new one", async () => {
    const cookie = await signedIn(601, await latchkey.createUser());
    const before = await sessions();
    await logIn({ search: target(), cookie });
    const after = await sessions();
    expect(after).toHaveLength(1);
    expect(after).not.toEqual(before);
  });

  test("keeps both after a refused password", async () => {
    const userId = await latchkey.createUser();
    const cookie = await signedIn(601, userId);
    expect((await logIn({ search: target(), cookie, password: "wrong" })).status).toBe(422);
    const { data } = await call(login.loader, get(`/login${target()}`, { cookie }));
    expect(data).toMatchObject({ returnTo: app, maxAge: 600 });
  });

  const afterRefusal = (cookie: string) =>
    call(login.loader, get(`/login${target()}`, { cookie, facts: { method: "POST" } }));

  test("still says why after a refused password", async () => {
    expect((await afterRefusal(await signedIn(601))).data.tooOld).toBe(10);
  });

  test("keeps the page of a refused password for who is fresh enough by another tab", async () => {
    expect(await afterRefusal(await latchkey.signedIn())).toMatchObject({ status: 200, data: { tooOld: false } });
  });

  test("keeps both on the way to the provider by SIGN_IN_REDIRECT", async () => {
    latchkey.configure({ SIGN_IN_REDIRECT: "on" });
    expect((await openLogin(target())).location).toBe(`/auth/idp${target()}`);
  });

  test("shows the form to a signed-in user with SIGN_IN_REDIRECT", async () => {
    latchkey.configure({ SIGN_IN_REDIRECT: "on" });
    expect(await openLogin(target(), { cookie: await signedIn(601) })).toMatchObject({ status: 200, location: null });
  });

  const openRegistration = (cookie: string) => call(register.loader, get(`/register${target()}`, { cookie }));

  test("is kept by /register for who is not fresh enough", async () => {
    expect((await openRegistration(await signedIn(601))).data).toMatchObject({ returnTo: app, maxAge: 600 });
  });

  test("is met at /register by who is fresh enough", async () => {
    expect((await openRegistration(await latchkey.signedIn())).location).toBe(app);
  });
});

describe("/auth/idp?max_age=600 asks for a new sign-in with the prompt of", () => {
  const issuer = "https://fresh.example.org";
  const oidc = (at: string) => ({ IDP_PROVIDER: "oidc", IDP_ISSUER: at });

  test.each<[string, Record<string, string>, string | null]>([
    ["google", {}, "select_account"],
    ["gitlab", { IDP_PROVIDER: "gitlab" }, "login"],
    ["github", { IDP_PROVIDER: "github" }, "select_account"],
    ["discord", { IDP_PROVIDER: "discord" }, null],
    ["oidc", oidc(issuer), "login"],
    ["Google by oidc", oidc("https://accounts.google.com"), "select_account"],
  ])("%s", async (_name, settings, prompt) => {
    latchkey.configure(settings);
    if (settings.IDP_ISSUER) discovers(settings.IDP_ISSUER);
    const promptOf = async (search: string) => {
      const { location } = await call(authorize.loader, get(`/auth/idp${search}`));
      return new URL(location ?? "").searchParams.get("prompt");
    };
    expect(await promptOf(target())).toBe(prompt);
    expect(await promptOf("?return_to=/x")).toBeNull();
    expect(await promptOf("?max_age=1")).toBeNull();
    expect(await promptOf("?prompt=select_account&max_age=600")).toBe(prompt);
  });
});

describe("at the provider", () => {
  const failed = "/login?notice=idp_failed";
  let browser: BrowserTabs;

  const leave = (search = target()) => browser.leave(search);
  const comeBack = (state: string, answer?: Record<string, string>) => browser.open(callbackOf(state, answer));

  beforeEach(async () => {
    browser = new BrowserTabs();
    googleAnswers({ sub: "1001", email: "ada@example.com", email_verified: true }, 9);
    const userId = await latchkey.createUser({ idpId: "1001", idpIssuer: "google" });
    browser.cookies.set("session", (await signedIn(601, userId)).replace("session=", ""));
    return () => nock.cleanAll();
  });

  test("a sign-in ends at the target", async () => {
    expect((await comeBack(await leave())).location).toBe(app);
    expect((await browser.open(`/login${target()}`)).location).toBe(app);
  });

  test("a sign-in replaces the old session by a new one", async () => {
    const before = await sessions();
    await comeBack(await leave());
    const after = await sessions();
    expect(after).toHaveLength(1);
    expect(after).not.toEqual(before);
  });

  test("a failed sign-in ends at exactly /login?notice=idp_failed", async () => {
    expect((await comeBack(await leave(), { error: "access_denied" })).location).toBe(failed);
  });

  test("the form after a failed sign-in keeps both", async () => {
    await comeBack(await leave(), { error: "access_denied" });
    const page = await browser.open(failed);
    expect(page.status).toBe(200);
    expect(page.data).toMatchObject({ problem: "cancelled", tooOld: 10, returnTo: app, maxAge: 600 });
  });

  test("the form after a sign-in that failed at its start keeps both", async () => {
    latchkey.configure({ IDP_PROVIDER: "oidc", IDP_ISSUER: "https://down.example.org" });
    discovers("https://down.example.org", {}, 503);
    expect((await browser.open(`/auth/idp${target()}`)).location).toBe(failed);
    expect((await browser.open(failed)).data).toMatchObject({ returnTo: app, maxAge: 600, tooOld: 10 });
  });

  test("a stale response shows the form to who is not fresh enough", async () => {
    const first = await leave();
    await leave();
    expect((await comeBack(first)).location).toBe(failed);
    const page = await browser.open(failed);
    expect(page.status).toBe(200);
    expect(page.data).toMatchObject({ problem: "stale", tooOld: 10, returnTo: app, maxAge: 600 });
  });

  test("a stale response leads who is fresh enough by another tab to its own target", async () => {
    const first = await leave(target().replace("id%3D1", "id%3D2"));
    const second = await leave();
    expect((await comeBack(second)).location).toBe(app);
    expect((await comeBack(first)).location).toBe(failed);
    expect((await browser.open(failed)).location).toBe(app.replace("id=1", "id=2"));
  });

  test("a stale response restarts a guest with both", async () => {
    browser.cookies.delete("session");
    const first = await leave();
    await leave();
    expect((await comeBack(first)).location).toBe(failed);
    expect((await browser.open(failed)).location).toBe(`/auth/idp${target()}`);
  });

  test("a failure without max_age leads a signed-in user to the account page", async () => {
    await comeBack(await browser.leave("?return_to=/x"), { error: "access_denied" });
    expect((await browser.open(failed)).location).toBe("/dashboard?notice=idp_failed");
  });

  test("a planted max_age that is not valid counts as absent", async () => {
    browser.cookies.set("idp_failure", "0..cancelled.7");
    expect((await browser.open(failed)).location).toBe("/dashboard?notice=idp_failed");
  });

  test("cookies of attempts of the release before are read", async () => {
    browser.cookies.set("idp_failure", `0.${Buffer.from("/x").toString("base64url")}.stale`);
    expect((await browser.open(failed)).location).toBe("/x");
  });
});
