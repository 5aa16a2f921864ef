import { beforeEach, describe, expect, test } from "vitest";
import { logIn, logOut, openAccount, openLogin } from "../support/account-calls";
import { startLatchkey } from "../support/latchkey";
import type { Outcome } from "../support/route-calls";

const latchkey = startLatchkey({
  APP_URL: "https://login.example.org",
  SESSION_DOMAIN: "example.org",
  RETURN_ORIGINS: "https://*.example.org",
});

const origin = "https://login.example.org";
const https = { facts: { origin } };

const cleared =
  "__Secure-session=; Domain=example.org; Expires=Thu, 01 Jan 1970 00:00:00 GMT; HttpOnly; Path=/; SameSite=Lax; Secure";

const open = (cookie: string) => openAccount(cookie, https);
const leave = (cookie: string) => logOut(cookie, "", https);

const token = async (userId: string) => (await latchkey.signedIn(userId)).slice("session=".length);
const sessions = () => latchkey.execute("select id from sessions");

describe("a login", () => {
  let done: Outcome;
  let cookie: string;

  beforeEach(async () => {
    await latchkey.createUser();
    done = await logIn({ search: "?return_to=https://notes.example.org/last", ...https });
    cookie = `__Secure-session=${done.cookies["__Secure-session"]}`;
  });

  test("sets a session cookie for the domain", { tags: ["3.3.1", "3.3.3"] }, () => {
    expect(done.headers.getSetCookie()[0]).toMatch(
      /^__Secure-session=[0-9a-f]{64}; Domain=example\.org; Expires=[^;]+; HttpOnly; Path=\/; SameSite=Lax; Secure$/,
    );
  });

  test("sets every other cookie for this host", { tags: ["3.3.1", "3.3.3"] }, () => {
    expect(done.headers.getSetCookie().slice(1)).toEqual([
      "last_sign_in=password; HttpOnly; Max-Age=31536000; Path=/; SameSite=Lax; Secure",
      expect.stringMatching(/^__Host-device=[0-9a-f]{64}; HttpOnly; Max-Age=34560000; Path=\/; SameSite=Lax; Secure$/),
    ]);
  });

  test("leads to another host of the domain", () => {
    expect(done).toMatchObject({ status: 302, location: "https://notes.example.org/last" });
  });

  test("signs in by the domain's cookie", async () => {
    expect(await open(cookie)).toMatchObject({ status: 200, data: { user: { email: "ada@example.com" } } });
  });

  test("is ended by a logout", async () => {
    expect((await leave(cookie)).headers.getSetCookie()).toEqual([cleared]);
    expect(await open(cookie)).toMatchObject({ location: "/login" });
  });
});

test("over http the session cookie stays that of this host", async () => {
  await latchkey.createUser();
  const [cookie] = (await logIn()).headers.getSetCookie();
  expect(cookie).toMatch(/^session=[0-9a-f]{64}; Expires=[^;]+; HttpOnly; Path=\/; SameSite=Lax$/);
});

test("the cookie is not read under the names of other settings", async () => {
  const live = await token(await latchkey.createUser());
  for (const name of ["session", "__Host-session", "__secure-session", "%5F%5FSecure-session"]) {
    expect(await open(`${name}=${live}`)).toMatchObject({ location: "/login" });
  }
});

test("without SESSION_DOMAIN the domain's cookie signs nobody in", async () => {
  const live = await token(await latchkey.createUser());
  latchkey.configure({ SESSION_DOMAIN: "", RETURN_ORIGINS: "" });
  expect(await open(`__Secure-session=${live}`)).toMatchObject({ location: "/login" });
  expect(await open(`__Host-session=${live}`)).toMatchObject({ status: 200 });
});

describe("a __Host-session from before SESSION_DOMAIN was set", () => {
  let old: string;

  beforeEach(async () => {
    old = await token(await latchkey.createUser());
  });

  test("signs nobody in", async () => {
    expect(await open(`__Host-session=${old}`)).toMatchObject({ location: "/login" });
  });

  test("makes no loop of redirects", async () => {
    const page = await openLogin("", { cookie: `__Host-session=${old}`, ...https });
    expect(page).toMatchObject({ status: 200 });
  });
});

test("a session that a sibling host plants beside the user's own signs the user in to neither account", async () => {
  const own = await token(await latchkey.createUser());
  const planted = await token(await latchkey.createUser({ email: "eve@example.com" }));
  expect(await open(`__Secure-session=${planted}; __Secure-session=${own}`)).toMatchObject({ location: "/login" });
  expect(await open(`__Secure-session=${own}; __Secure-session =${planted}`)).toMatchObject({ location: "/login" });
  expect(await open(`__Secure-session=${own}; a=__Secure-session=${planted}`)).toMatchObject({ status: 200 });
});

describe("beside a cookie that a sibling host planted", () => {
  const beside = [
    ["before it", (own: string) => `__Secure-session=planted; __Secure-session=${own}`],
    ["after it", (own: string) => `__Secure-session=${own}; __Secure-session=planted`],
  ] as const;

  test.each(beside)("%s a sign-in replaces the visitor's session", async (_where, cookies) => {
    const own = await token(await latchkey.createUser());
    const next = (await logIn({ cookie: cookies(own), ...https })).cookies["__Secure-session"] ?? "";
    expect(await sessions()).toHaveLength(1);
    expect((await open(`__Secure-session=${next}`)).status).toBe(200);
  });

  test.each(beside)("%s a logout ends the visitor's session", async (_where, cookies) => {
    const own = await token(await latchkey.createUser());
    expect(await leave(cookies(own))).toMatchObject({ status: 302, location: "/login" });
    expect(await sessions()).toEqual([]);
  });

  test("that is a session itself a logout ends both", async () => {
    const own = await token(await latchkey.createUser());
    const planted = await token(await latchkey.createUser({ email: "eve@example.com" }));
    await leave(`__Secure-session=${planted}; __Secure-session=${own}`);
    expect(await sessions()).toEqual([]);
  });
});
