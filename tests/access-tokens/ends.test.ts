import { beforeEach, describe, expect, test } from "vitest";
import { capTokens } from "#server/accounts/access-tokens/access-tokens";
import { purgeExpired } from "#server/features/operator/purge";
import { signInToAccount } from "#server/features/visitor/external-sign-in";
import { accessTokens, bearer, madeToken, startVerify } from "../support/access-tokens";
import { act, confirmAddress, resetWith } from "../support/account-calls";
import { unknownVisitor } from "../support/accounts";
import { google } from "../support/google-sign-in";
import { startLatchkey } from "../support/latchkey";
import { emailChangeLink, resetLink } from "../support/mailed-links";
import { newPassword } from "../support/passwords";

const latchkey = startLatchkey({ ...google, ...accessTokens });
const verify = startVerify();
const email = "ada@example.com";

let userId: string;
let session: string;
let token: string;
let another: string;

beforeEach(async () => {
  userId = await latchkey.createUser();
  session = await latchkey.signedIn(userId);
  token = await madeToken(session);
  another = await madeToken(await latchkey.signedIn({ email: "bob@example.com" }));
});

const status = async (one: string) => (await verify([bearer(one)])).status;

/** Ends the tokens of the account, and none of another one. */
async function expectEnded(): Promise<void> {
  expect(await latchkey.execute("select id from access_tokens where user_id = ?", [userId])).toEqual([]);
  expect(await status(token)).toBe(401);
  expect(await status(another)).toBe(200);
}

describe("tokens end", () => {
  test("with a reset", async () => {
    expect(await resetWith(await resetLink(latchkey), newPassword)).toMatchObject({ status: 302 });
    await expectEnded();
  });

  test("with the account", async () => {
    expect(await act(session, "delete-account", { email })).toMatchObject({ location: "/account-deleted" });
    await expectEnded();
  });

  test.each([["suspend"], ["end-sessions"], ["delete", "--yes"]])("with `user %s`", async (command, ...options) => {
    expect(await latchkey.command("user", command, email, ...options)).toMatchObject({ status: 0 });
    await expectEnded();
  });

  test("with `user end-sessions` where there is no session", async () => {
    await latchkey.execute("delete from sessions");
    expect(await latchkey.command("user", "end-sessions", email)).toMatchObject({ status: 0 });
    await expectEnded();
  });

  test("with `user end-all-sessions`, everybody's", async () => {
    await latchkey.execute("delete from sessions where user_id = ?", [userId]);
    expect(await latchkey.command("user", "end-all-sessions", "--yes")).toMatchObject({ status: 0 });
    expect([await status(token), await status(another)]).toEqual([401, 401]);
  });

  test("with a change of address without the owner's session", async () => {
    const link = await emailChangeLink(latchkey, session, "new@example.com");
    expect(await confirmAddress(link)).toMatchObject({ location: "/login?notice=email_changed" });
    await expectEnded();
  });

  test("not with a change of address in the owner's session", async () => {
    const link = await emailChangeLink(latchkey, session, "new@example.com");
    expect(await confirmAddress(link, { cookie: session })).toMatchObject({
      location: "/dashboard?notice=email_changed",
    });
    expect(await status(token)).toBe(200);
  });

  test("with a provider that is linked by address", async () => {
    const profile = { id: "1", email, emailVerified: true, name: null, pictureUrl: null };
    await signInToAccount(unknownVisitor, profile);
    await expectEnded();
  });

  test("with the setting off, too", async () => {
    latchkey.configure({ ACCESS_TOKENS: "off" });
    expect(await latchkey.command("user", "end-sessions", email)).toMatchObject({ status: 0 });
    latchkey.configure({});
    await expectEnded();
  });
});

test("the purge removes expired tokens alone", async () => {
  await latchkey.execute("update access_tokens set expires_at = now() - interval '1 millisecond' where user_id = ?", [
    userId,
  ]);
  await purgeExpired();
  await expectEnded();
});

test("a start with a shorter ACCESS_TOKEN_DAYS ends older tokens earlier", async () => {
  latchkey.configure({ ACCESS_TOKEN_DAYS: "30" });
  await capTokens(latchkey.em());
  const days = "select round(extract(epoch from expires_at - created_at) / 86400)::int as days from access_tokens";
  expect(await latchkey.execute(days)).toEqual([{ days: 30 }, { days: 30 }]);
});
