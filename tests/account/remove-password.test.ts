import { beforeEach, describe, expect, test } from "vitest";
import { act, logIn, openAccount, resetWith } from "../support/account-calls";
import { Authenticator } from "../support/authenticator";
import { startLatchkey } from "../support/latchkey";
import { emailChangeLink, resetLink } from "../support/mailed-links";
import { signInBy, storePasskey } from "../support/passkeys";
import { newPassword } from "../support/passwords";

const latchkey = startLatchkey();

const email = "ada@example.com";

let userId: string;
let cookie: string;
let authenticator: Authenticator;

beforeEach(async () => {
  userId = await latchkey.createUser();
  cookie = await latchkey.signedIn(userId);
  authenticator = new Authenticator();
});

const withPasskey = () => storePasskey(authenticator, userId, "Phone");
const remove = (from = cookie) => act(from, "remove-password", {});
const hash = async () => (await latchkey.execute<{ password_hash: string | null }>("select * from users"))[0];

async function expectRefused(removal: string, from = cookie): Promise<void> {
  const refused = await latchkey.unchanged(() => remove(from));
  expect(refused.status).toBe(422);
  expect(refused.data).toEqual({ intent: "remove-password", errors: { removal }, typed: { email: "" } });
}

describe("a removal of the password", () => {
  beforeEach(withPasskey);

  test("lets the password sign nobody in", async () => {
    expect(await remove()).toMatchObject({ status: 302, location: "/dashboard?notice=password_removed" });
    expect((await logIn()).status).toBe(422);
    expect(await hash()).toMatchObject({ password_hash: null });
  });

  test("leaves the passkey", async () => {
    await remove();
    expect((await signInBy(authenticator)).status).toBe(302);
  });

  test("ends every other session and renews this one", async () => {
    const other = await latchkey.signedIn(userId);
    const { cookies } = await remove();
    expect(await openAccount(other)).toMatchObject({ status: 302, location: "/login" });
    expect(await openAccount(cookie)).toMatchObject({ status: 302, location: "/login" });
    expect((await openAccount(`session=${cookies.session}`)).status).toBe(200);
  });

  test("is logged", async () => {
    await latchkey.signedIn(userId);
    latchkey.events();
    await remove();
    expect(latchkey.events().slice(-2)).toEqual([
      { event: "password.removed" },
      { event: "session.ended", reason: "password_removed" },
    ]);
  });

  test("ends every reset link and every change of the address", async () => {
    await resetLink(latchkey);
    await emailChangeLink(latchkey, cookie, "new@example.com");
    await remove();
    expect(await latchkey.execute("select 1 from password_resets union all select 1 from email_changes")).toEqual([]);
  });

  test("is mailed to the owner", async () => {
    await latchkey.drain();
    await remove();
    await latchkey.drain();
    expect(latchkey.mails().at(-1)).toMatchObject({
      to: email,
      subject: "Your password was removed",
      text: expect.stringContaining(
        "The password of your account was removed on its account page, and every other browser was signed out.\n\nIf it was not you, reset your password now:",
      ),
    });
  });

  test("is in the history", async () => {
    await remove();
    expect(await latchkey.execute("select type, actor from account_events where type like 'password%'")).toEqual([
      { type: "password.removed", actor: "owner" },
    ]);
  });

  test("is undone by a reset", async () => {
    await remove();
    await resetWith(await resetLink(latchkey), newPassword);
    expect((await logIn({ password: newPassword })).status).toBe(302);
  });

  test("needs a recent sign-in", async () => {
    await latchkey.execute("update sessions set created_at = now() - interval '16 minutes'");
    expect(await remove()).toMatchObject({ status: 302, location: expect.stringContaining("/login") });
    expect(await hash()).not.toMatchObject({ password_hash: null });
  });

  test("is refused without a password", async () => {
    await latchkey.execute("update users set password_hash = null");
    await expectRefused("This account has no password yet. Choose “Set a password by mail” below.");
  });

  test("is refused while the passkey is in question", async () => {
    await latchkey.execute("update passkeys set questioned_at = now() - interval '1 second'");
    const later = await latchkey.signedIn(userId);
    await expectRefused(
      "Somebody else may have added a way to sign in. First answer which of them are yours, then remove the password.",
      later,
    );
  });

  test("is refused to a session that is older than a question", async () => {
    await storePasskey(new Authenticator(), userId, "Tablet");
    await latchkey.execute("update passkeys set questioned_at = now() where name = 'Tablet'");
    await expectRefused(
      "Somebody else may have added a way to sign in. First answer which of them are yours, then remove the password.",
    );
  });

  test("is allowed to a later session, with a passkey in question and another that is not", async () => {
    await storePasskey(new Authenticator(), userId, "Tablet");
    await latchkey.execute("update passkeys set questioned_at = now() - interval '1 second' where name = 'Tablet'");
    expect((await remove(await latchkey.signedIn(userId))).status).toBe(302);
  });

  test("of two at once happens once", async () => {
    const statuses = (await Promise.all([remove(), remove()])).map(({ status }) => status);
    expect(statuses.filter((status) => status === 302)).toHaveLength(2); // the other session has ended: to the login
    expect(await latchkey.execute("select 1 from account_events where type = 'password.removed'")).toHaveLength(1);
  });
});

test("a password that is the only way in is not removed", async () => {
  await expectRefused("This is the only way into your account: add another one first.");
});
