import { expect, test } from "vitest";
import { suspendUser } from "#server/features/operator/suspension";
import { logIn, logOut, openLogin, resetWith } from "../support/account-calls";
import { google } from "../support/google-sign-in";
import { startLatchkey } from "../support/latchkey";
import { resetLink } from "../support/mailed-links";

const latchkey = startLatchkey(google);

test("a logout, a reset and a refused login of a suspended account keep it", async () => {
  const cookie = `${await latchkey.signedIn()}; last_sign_in=password`;
  const left = await logOut(cookie);
  const reset = await resetWith(await resetLink(latchkey), "quiet lamps over the harbour", { cookie });
  await suspendUser(await latchkey.createUser({ email: "bob@example.com" }));
  const refused = await logIn({ email: "bob@example.com" });
  expect([left.status, reset.status, refused.status]).toEqual([302, 302, 422]);
  for (const { cookies } of [left, reset, refused]) expect(Object.keys(cookies)).not.toContain("last_sign_in");
});

const marked = async (value: string) => (await openLogin("", { cookie: `last_sign_in=${value}` })).data.lastUsed;

test.each(["password", "provider", "passkey"])("/login marks %s", async (way) => {
  expect(await marked(way)).toBe(way);
});

test.each(["", "Password", "email", "password; last_sign_in=passkey"])("%j counts as absent", async (value) => {
  expect(await marked(value)).toBeNull();
});

test("a way that is off, and a single way, are not marked", async () => {
  latchkey.configure({ IDP_CLIENT_ID: "", IDP_CLIENT_SECRET: "" });
  expect(await marked("provider")).toBeNull();
  expect(await marked("passkey")).toBe("passkey");
  latchkey.configure({ IDP_CLIENT_ID: "", IDP_CLIENT_SECRET: "", APP_URL: "http://login.example" });
  expect(await marked("password")).toBeNull();
});

test.each([
  ["?notice=idp_failed", "", true],
  ["?notice=signed_out", "", true],
  ["?notice=signed_out", "password", true],
  ["", "provider", true],
  ["?notice=password_reset", "provider", true],
  ["", "password", false],
  ["", "", false],
])("/login%s after a sign-in by %j offers another account of the provider: %s", async (search, way, offered) => {
  expect((await openLogin(search, { cookie: `last_sign_in=${way}` })).data.otherAccount).toBe(offered);
});
