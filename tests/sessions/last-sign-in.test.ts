import { expect, test } from "vitest";
import { suspendUser } from "#server/features/operator/suspension";
import { logIn, logOut, openLogin, registerWith, resetWith } from "../support/account-calls";
import { Authenticator } from "../support/authenticator";
import { google, signInWithGoogle } from "../support/google-sign-in";
import { startLatchkey } from "../support/latchkey";
import { registrationLink, resetLink } from "../support/mailed-links";
import { addPasskey, signInBy } from "../support/passkeys";
import type { Outcome } from "../support/route-calls";

const latchkey = startLatchkey(google);

const cookieOf = ({ headers }: Outcome) => headers.getSetCookie().find((line) => line.startsWith("last_sign_in="));

const lineOf = (way: string) => `last_sign_in=${way}; HttpOnly; Max-Age=31536000; Path=/; SameSite=Lax`;

test("each way to sign in is remembered for a year, and a refused one is not", async () => {
  const userId = await latchkey.createUser();
  expect(cookieOf(await logIn())).toBe(lineOf("password"));
  expect(cookieOf(await logIn({ password: "wrong password" }))).toBeUndefined();
  expect(cookieOf(await signInWithGoogle({ sub: "7", email: "g@example.com", email_verified: true }))).toBe(
    lineOf("provider"),
  );
  const link = await registrationLink(latchkey);
  expect(cookieOf(await registerWith(link, "quiet lamps over the harbour"))).toBe(lineOf("password"));
  const authenticator = new Authenticator();
  await addPasskey(authenticator, await latchkey.signedIn(userId));
  expect(cookieOf(await signInBy(authenticator))).toBe(lineOf("passkey"));
  expect(cookieOf(await signInBy(authenticator, { userHandle: "AAAA" }))).toBeUndefined();
});

test("a logout, a reset and a refused login of a suspended account keep it", async () => {
  const userId = await latchkey.createUser();
  const cookie = await latchkey.signedIn(userId);
  const options = { cookie: `${cookie}; last_sign_in=password` };
  expect(cookieOf(await logOut(options.cookie))).toBeUndefined();
  expect(cookieOf(await resetWith(await resetLink(latchkey), "quiet lamps over the harbour", options))).toBeUndefined();
  const other = await latchkey.createUser({ email: "bob@example.com" });
  await suspendUser(other);
  expect(cookieOf(await logIn({ email: "bob@example.com" }))).toBeUndefined();
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
