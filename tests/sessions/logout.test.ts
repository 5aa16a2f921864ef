import { beforeEach, describe, expect, test } from "vitest";
import * as logout from "~/routes/logout";
import { startLatchkey } from "../support/latchkey";
import { call, get, post } from "../support/route-calls";

const latchkey = startLatchkey({ RETURN_ORIGINS: "https://app.example" });

const app = "https://app.example/bye?from=latchkey";
const path = (returnTo: string | null) =>
  `/logout${returnTo === null ? "" : `?${new URLSearchParams({ return_to: returnTo })}`}`;

let cookie: string;

beforeEach(async () => {
  cookie = await latchkey.signedIn({ email: "ada@example.com" });
});

const sessions = () => latchkey.execute("select id from sessions");

const refused = [
  "https://evil.example/",
  "//evil.example",
  "javascript:alert(1)",
  "",
  `https://app.example/${"a".repeat(2_048)}`,
];

describe("GET", () => {
  test.each([
    [null, {}],
    ["/dashboard", {}],
    [app, { "latchkey-form-target": "https://app.example" }],
  ])("with return_to %j it names the account and the place, and signs nobody out", async (returnTo, headers) => {
    const page = await latchkey.unchanged(() => call(logout.loader, get(path(returnTo), { cookie })));
    expect(page).toMatchObject({ status: 200, data: { account: "ada@example.com", returnTo } });
    expect(Object.fromEntries(page.headers)).toEqual(headers);
  });

  test.each(refused)("the return_to %j counts as absent", async (returnTo) => {
    const page = await call(logout.loader, get(path(returnTo), { cookie }));
    expect(page).toMatchObject({ status: 200, data: { returnTo: null } });
  });

  test("a repeated return_to counts as absent", async () => {
    const page = await call(logout.loader, get("/logout?return_to=/a&return_to=/b", { cookie }));
    expect(page.data.returnTo).toBeNull();
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
    ...refused.map((text): [string, string] => [text, "/login"]),
  ])("with return_to %j it ends the session and leads to %s", async (returnTo, location) => {
    const out = await call(logout.action, post(path(returnTo), {}, { cookie }));
    expect(out).toMatchObject({ status: 302, location, cookies: { session: "" } });
    expect(await sessions()).toEqual([]);
  });

  test("without a session it leads to return_to too", async () => {
    const out = await latchkey.unchanged(() => call(logout.action, post(path(app), {})));
    expect(out).toMatchObject({ status: 302, location: app });
  });

  test("of another site is refused, and signs nobody out", async () => {
    const forged = post(path(app), {}, { cookie, headers: { "latchkey-cross-site": "yes" } });
    expect(await latchkey.unchanged(() => call(logout.action, forged))).toMatchObject({ status: 403, location: null });
  });
});
