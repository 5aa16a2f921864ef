import nock from "nock";
import { beforeEach, describe, expect, test } from "vitest";
import * as accountDeleted from "~/routes/account-deleted";
import * as authorize from "~/routes/auth.idp._index";
import * as dashboard from "~/routes/dashboard";
import * as logout from "~/routes/logout";
import * as noAccess from "~/routes/no-access";
import { act, logOut, openLogin } from "../support/account-calls";
import { comeBack, discovers } from "../support/google-sign-in";
import { startLatchkey } from "../support/latchkey";
import { call, get, type Outcome } from "../support/route-calls";

const latchkey = startLatchkey({ RETURN_ORIGINS: "https://app.example" });

const app = "https://app.example/bye?from=latchkey";
const search = (returnTo: string | null) =>
  returnTo === null ? "" : `?${new URLSearchParams({ return_to: returnTo })}`;
const path = (returnTo: string | null) => `/logout${search(returnTo)}`;

let cookie: string;

beforeEach(async () => {
  cookie = await latchkey.signedIn({ email: "ada@example.com" });
});

const sessions = () => latchkey.execute("select id from sessions");

const evil = "https://evil.example/"; // tests/contract/return-to.test.ts has the others that are not allowed

describe("GET", () => {
  describe.each([
    [null, []],
    ["/dashboard", []],
    [app, ["https://app.example"]],
  ])("with return_to %j", (returnTo, formTargets) => {
    const open = () => call(logout.loader, get(path(returnTo), { cookie }));

    test("names the account", async () => {
      expect(await open()).toMatchObject({ status: 200, data: { account: "ada@example.com" } });
    });

    test("names the place", async () => {
      expect(await open()).toMatchObject({ data: { returnTo }, formTargets });
    });

    test("signs nobody out", async () => {
      expect((await latchkey.unchanged(open)).cookies).toEqual({});
    });
  });

  test.each([path(evil), "/logout?return_to=/a&return_to=/b"])("the return_to of %s counts as absent", async (page) => {
    const { status, data } = await call(logout.loader, get(page, { cookie }));
    expect([status, data.returnTo]).toEqual([200, null]);
  });

  test.each([
    [null, "/login"],
    [app, `/login?${new URLSearchParams({ return_to: app })}`],
  ])("without a session it leads to the login page (return_to %j)", async (returnTo, location) => {
    expect(await call(logout.loader, get(path(returnTo)))).toMatchObject({ status: 302, location });
  });
});

describe("POST", () => {
  test("ends the session", async () => {
    expect((await logOut(cookie)).cookies).toEqual({ session: "" });
    expect(await sessions()).toEqual([]);
  });

  test.each([
    [null, "/login"],
    ["/dashboard", "/dashboard"],
    [app, app],
    [evil, "/login"],
  ])("with return_to %j leads to %s", async (returnTo, location) => {
    const out = await logOut(cookie, search(returnTo));
    expect(out).toMatchObject({ status: 302, location, cookies: { session: "" } });
    expect(await sessions()).toEqual([]);
  });

  test("without a session it leads to return_to too", async () => {
    const out = await latchkey.unchanged(() => logOut("", search(app)));
    expect(out).toMatchObject({ status: 302, location: app });
  });
});

describe("IDP_LOGOUT=on", () => {
  let issuer: string;
  let ofProvider: string;

  beforeEach(() => {
    issuer = `https://${crypto.randomUUID()}.example`; // discovery is cached for a day
    latchkey.configure({
      APP_URL: "https://login.example.com",
      IDP_CLIENT_ID: "latchkey",
      IDP_CLIENT_SECRET: "secret",
      IDP_PROVIDER: "oidc",
      IDP_ISSUER: issuer,
      IDP_LOGOUT: "on",
      RETURN_ORIGINS: "https://app.example",
    });
    ofProvider = `${cookie}; provider=1`;
  });

  const leave = (sent: string, returnTo: string | null = null) => logOut(sent, search(returnTo));
  const signedOut = "/login?notice=signed_out";
  const cleared = { session: "", provider: "" };

  const atProvider = () => {
    const back = encodeURIComponent("https://login.example.com/login?notice=signed_out");
    return `https://end.example/end?tenant=1&client_id=latchkey&post_logout_redirect_uri=${back}`;
  };

  async function discover(
    members: object = { end_session_endpoint: "https://end.example/end?tenant=1" },
    status = 200,
  ) {
    discovers(issuer, members, status);
    await call(authorize.loader, get("/auth/idp"));
  }

  test.each([null, app])("a session of the provider ends there too with return_to %j", async (returnTo) => {
    await discover();
    const out = await leave(ofProvider, returnTo);
    expect(out).toMatchObject({ status: 302, location: atProvider(), cookies: cleared });
    expect(out.headers.get("X-Remix-Reload-Document")).toBe("true");
    expect(await sessions()).toEqual([]);
  });

  test("after a later sign-in by password it ends there too", async () => {
    await discover();
    const out = await leave(`${ofProvider}; last_sign_in=password`);
    expect(out.location).toBe(atProvider());
  });

  describe("before the endpoint is discovered", () => {
    let out: Outcome;

    beforeEach(async () => {
      discovers(issuer, { end_session_endpoint: "https://end.example/end?tenant=1" });
      out = await leave(ofProvider, app);
    });

    test("a logout ends the session of Latchkey", async () => {
      expect(out).toMatchObject({ status: 302, location: signedOut, cookies: { session: "" } });
      expect(await sessions()).toEqual([]);
    });

    test("the login page has a link there", async () => {
      const page = await openLogin("?notice=signed_out", { cookie: "provider=1" });
      expect(page.data.providerLogout).toBe(atProvider());
    });

    test("the login page has the link once", async () => {
      const page = await openLogin("?notice=signed_out", { cookie: "provider=1" });
      expect(page.cookies).toEqual({ provider: "" });
      expect((await openLogin("?notice=signed_out")).data.providerLogout).toBeNull();
    });

    test("the login page has no link without the notice", async () => {
      expect((await openLogin("", { cookie: "provider=1" })).data.providerLogout).toBeNull();
    });
  });

  describe("the page of a deleted account", () => {
    const open = (sent: string) => call(accountDeleted.loader, get("/account-deleted", { cookie: sent }));

    beforeEach(async () => {
      await discover();
      const deleted = await act(ofProvider, "delete-account", { email: "ada@example.com" });
      expect(deleted.location).toBe("/account-deleted");
      expect(Object.keys(deleted.cookies)).not.toContain("provider");
    });

    test("has a link there", async () => {
      expect((await open("provider=1")).data.providerLogout).toBe(atProvider());
    });

    test("has the link once", async () => {
      expect((await open("provider=1")).cookies).toEqual({ provider: "" });
      const again = await open("");
      expect([again.data.providerLogout, again.cookies]).toEqual([null, {}]);
    });
  });

  test.each([
    ["signs in", ""],
    ["is refused", "suspended"],
  ])("the browser remembers that it has been at the provider when it %s", async (_what, suspended) => {
    await discover();
    await latchkey.execute("update users set idp_id = '1001', idp_issuer = ?", [issuer]);
    if (suspended) await latchkey.execute("update users set suspended_at = now()");
    nock(issuer).post("/token").reply(200, { access_token: "at" }).get("/me").reply(200, { sub: "1001" });
    const done = await comeBack();
    expect(done.location).toBe(suspended ? "/login?notice=idp_failed" : "/dashboard");
    expect(done.headers.getSetCookie()).toContain("provider=1; HttpOnly; Max-Age=34560000; Path=/; SameSite=Lax");
  });

  describe.each<[string, object, number?]>([
    ["has no such endpoint", {}],
    ["has one without encryption", { end_session_endpoint: "http://plain.example/end" }],
    ["does not answer", {}, 503],
  ])("with a provider that %s", (_what, members, status) => {
    beforeEach(() => discovers(issuer, members, status));

    test("a logout leads to the login page", async () => {
      expect(await leave(ofProvider, app)).toMatchObject({ status: 302, location: signedOut });
    });

    test("a logout ends the session", async () => {
      expect((await leave(ofProvider, app)).cookies).toEqual(cleared);
      expect(await sessions()).toEqual([]);
    });
  });

  test.each([
    [null, signedOut],
    [app, app],
  ])("another session with return_to %j ends at %s without a call", async (returnTo, location) => {
    for (const way of ["", "; last_sign_in=provider", "; provider="])
      expect(await leave(`${cookie}${way}`, returnTo)).toMatchObject({ status: 302, location });
  });

  describe.each([
    ["/dashboard", dashboard, "/dashboard", []],
    ["/logout", logout, path(app), ["https://app.example"]],
    ["/no-access", noAccess, `/no-access${search(app)}`, ["https://app.example"]],
  ])("the form of %s", (_page, { loader }, url, places) => {
    const targets = async (sent: string) => (await call(loader, get(url, { cookie: sent }))).formTargets;

    beforeEach(() => latchkey.execute("update users set idp_id = '1001', idp_issuer = ?", [issuer]));

    test("leads nowhere else before the endpoint is discovered", async () => {
      expect(await targets(ofProvider)).toEqual([]);
    });

    test("may lead to the discovered endpoint", async () => {
      await discover();
      expect(await targets(ofProvider)).toEqual(["https://end.example"]);
    });

    test("leads to the place after it in a session of Latchkey alone", async () => {
      await discover();
      expect(await targets(cookie)).toEqual(places);
    });
  });

  test("the forms of an account that is not connected may lead to both of the provider's pages", async () => {
    await discover();
    const { formTargets } = await call(dashboard.loader, get("/dashboard", { cookie: ofProvider }));
    expect(formTargets).toEqual(["https://end.example", issuer]);
  });

  test("without it the provider is left alone", async () => {
    latchkey.configure({ RETURN_ORIGINS: "https://app.example" });
    expect((await leave(ofProvider, app)).location).toBe(app);
  });
});
