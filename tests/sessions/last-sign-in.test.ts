import { beforeEach, describe, expect, test } from "vitest";
import { suspendUser } from "#server/features/operator/user-access";
import { logIn, logOut, openLogin, resetWith } from "../support/account-calls";
import { google } from "../support/google-sign-in";
import { startLatchkey } from "../support/latchkey";
import { resetLink } from "../support/mailed-links";
import type { Outcome } from "../support/route-calls";

const latchkey = startLatchkey(google);

test.each<[string, (cookie: string) => Promise<Outcome>, number]>([
  ["a logout", logOut, 302],
  ["a reset", async (cookie) => resetWith(await resetLink(latchkey), "quiet lamps over the harbour", { cookie }), 302],
  [
    "a refused login of a suspended account",
    async (cookie) => {
      await suspendUser(await latchkey.createUser({ email: "bob@example.com" }));
      return logIn({ email: "bob@example.com", cookie });
    },
    422,
  ],
])("%s keeps it", async (_what, act, status) => {
  const answer = await act(`${await latchkey.signedIn()}; last_sign_in=password`);
  expect(answer.status).toBe(status);
  expect(Object.keys(answer.cookies)).not.toContain("last_sign_in");
});

const marked = async (value: string) => (await openLogin("", { cookie: `last_sign_in=${value}` })).data.lastUsed;

test.each(["password", "provider", "passkey"])("/login marks %s", async (way) => {
  expect(await marked(way)).toBe(way);
});

test.each(["", "Password", "email", "password; last_sign_in=passkey"])("%j counts as absent", async (value) => {
  expect(await marked(value)).toBeNull();
});

describe("without a provider", () => {
  beforeEach(() => void latchkey.configure({ IDP_CLIENT_ID: "", IDP_CLIENT_SECRET: "" }));

  test("a sign-in at the provider is not marked", async () => {
    expect(await marked("provider")).toBeNull();
  });

  test("a passkey is marked", async () => {
    expect(await marked("passkey")).toBe("passkey");
  });
});

test("a single way is not marked", async () => {
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
