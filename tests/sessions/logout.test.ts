import { beforeEach, describe, expect, test } from "vitest";
import * as dashboard from "~/routes/dashboard";
import * as logout from "~/routes/logout";
import * as noAccess from "~/routes/no-access";
import { logOut } from "../support/account-calls";
import { discovers } from "../support/google-sign-in";
import { startLatchkey } from "../support/latchkey";
import { call, get } from "../support/route-calls";

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
  test.each([
    [null, undefined],
    ["/dashboard", undefined],
    [app, "https://app.example"],
  ])("with return_to %j it names the account and the place, and signs nobody out", async (returnTo, formTarget) => {
    const page = await latchkey.unchanged(() => call(logout.loader, get(path(returnTo), { cookie })));
    expect(page).toMatchObject({ status: 200, data: { account: "ada@example.com", returnTo }, formTarget });
    expect(page.cookies).toEqual({});
  });

  test.each([path(evil), "/logout?return_to=/a&return_to=/b"])("the return_to of %s counts as absent", async (page) => {
    const { status, data } = await call(logout.loader, get(page, { cookie }));
    expect([status, data.returnTo]).toEqual([200, null]);
  });

  test.each([
    [null, "/login"],
    [app, `/login?${new URLSearchParams({ return_to: app })}`],
  ])("without a session and with return_to %j it leads to the login page", async (returnTo, location) => {
    expect(await call(logout.loader, get(path(returnTo)))).toMatchObject({ status: 302, location });
  });
});

describe("POST", () => {
  test.each([
    [null, "/login"],
    ["/dashboard", "/dashboard"],
    [app, app],
    [evil, "/login"],
  ])("with return_to %j it ends the session and leads to %s", async (returnTo, location) => {
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
    ofProvider = `${cookie}; last_sign_in=provider`;
  });

  const leave = (sent: string, returnTo: string | null = null) => logOut(sent, search(returnTo));
  const signedOut = "/login?notice=signed_out";

  test.each([null, app])("a session of the provider ends there too, whatever return_to (%s) is", async (returnTo) => {
    discovers(issuer, { end_session_endpoint: `${issuer}/end?tenant=1` });
    const out = await leave(ofProvider, returnTo);
    const back = encodeURIComponent("https://login.example.com/login?notice=signed_out");
    const location = `${issuer}/end?tenant=1&client_id=latchkey&post_logout_redirect_uri=${back}`;
    expect(out).toMatchObject({ status: 302, location, cookies: { session: "" } });
    expect(out.headers.get("X-Remix-Reload-Document")).toBe("true");
    expect(await sessions()).toEqual([]);
  });

  test.each<[string, object, number?]>([
    ["has no such endpoint", {}],
    ["has one without encryption", { end_session_endpoint: "http://plain.example/end" }],
    ["does not answer", {}, 503],
  ])("a provider that %s leads to the login page, and the session has ended", async (_what, members, status) => {
    discovers(issuer, members, status);
    expect(await leave(ofProvider, app)).toMatchObject({ status: 302, location: signedOut, cookies: { session: "" } });
    expect(await sessions()).toEqual([]);
  });

  test.each([
    [null, signedOut],
    [app, app],
  ])("another session, with return_to %j, ends at %s without a call", async (returnTo, location) => {
    for (const way of ["", "; last_sign_in=password", "; last_sign_in=passkey"])
      expect(await leave(`${cookie}${way}`, returnTo)).toMatchObject({ status: 302, location });
  });

  test("the pages with a log-out button name the provider, to which their forms lead", async () => {
    for (const [route, page] of [
      [dashboard, "/dashboard"],
      [logout, path(app)],
      [noAccess, `/no-access${search(app)}`],
    ] as const) {
      const target = async (sent: string) => (await call(route.loader, get(page, { cookie: sent }))).formTarget;
      expect(await target(ofProvider), page).toBe(issuer);
      if (page !== "/dashboard") expect(await target(cookie), page).toBe("https://app.example");
    }
  });

  test("without it the provider is left alone", async () => {
    latchkey.configure({ RETURN_ORIGINS: "https://app.example" });
    expect((await leave(ofProvider, app)).location).toBe(app);
  });
});
