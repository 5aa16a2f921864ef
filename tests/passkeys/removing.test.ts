import { beforeEach, describe, expect, test } from "vitest";
import { act, openAccount } from "../support/account-calls";
import { Authenticator } from "../support/authenticator";
import { google } from "../support/google-sign-in";
import { startLatchkey } from "../support/latchkey";
import { expectNoSignIn, passkeyOwner, passkeyRows, signInBy, storePasskey } from "../support/passkeys";
import type { Outcome } from "../support/route-calls";

const latchkey = startLatchkey();

const owner = passkeyOwner(latchkey);

describe("removing", () => {
  const remove = (cookie = owner.session, passkey = owner.authenticator.credentialId) =>
    act(cookie, "remove-passkey", { passkey });

  beforeEach(async () => {
    await storePasskey(owner.authenticator, owner.userId);
  });

  test("one that is gone is refused by saying so", async () => {
    await remove();
    const cookie = await latchkey.signedIn(owner.userId);
    expect(await latchkey.unchanged(() => remove(cookie))).toMatchObject({
      status: 422,
      data: { errors: { passkey: "There is no such passkey any more." } },
    });
  });

  describe("one of two ways in", () => {
    let others: string;
    let removed: Outcome;

    beforeEach(async () => {
      others = `session=${(await signInBy(owner.authenticator)).cookies.session}`;
      await latchkey.drain();
      removed = await remove();
    });

    test("makes it unknown", async () => {
      expect(await passkeyRows()).toEqual([]);
      await expectNoSignIn(latchkey, owner.authenticator, "unknown");
    });

    test("gives this session a new token", async () => {
      expect(removed).toMatchObject({ status: 302, location: "/dashboard?notice=sessions_ended" });
      expect(await openAccount(`session=${removed.cookies.session}`)).toMatchObject({ status: 200 });
      expect(await openAccount(owner.session)).toMatchObject({ status: 302, location: "/login" });
    });

    test("ends every other session", async () => {
      expect(await openAccount(others)).toMatchObject({ status: 302, location: "/login" });
      expect(latchkey.events().slice(-2)).toEqual([
        { event: "passkey.removed" },
        { event: "session.ended", reason: "passkey_removed" },
      ]);
    });

    test("is mailed to the owner, with its name, the browser and the time", async () => {
      await latchkey.drain();
      expect(latchkey.mails().at(-1)).toMatchObject({ to: "ada@example.com", subject: "A passkey was removed" });
      expect(latchkey.mails().at(-1)?.text).toMatch(/\n“[^”]+”, [^,\n]+, \d+ \w+ \d{4} at \d\d:\d\d UTC\n/);
    });

    test("is said on the account page once, with its name", async () => {
      const session = `session=${removed.cookies.session}`;
      const page = await openAccount(`${session}; notice=${removed.cookies.notice}`);
      expect(page.data).toMatchObject({ notice: "passkey_removed", removedPasskey: expect.stringMatching(/\w/) });
      expect(page.cookies.notice).toBe("");
    });
  });

  test.each<[string, () => Promise<Outcome>]>([
    [
      "the passkey of another account",
      async () => {
        const bob = await latchkey.signedIn({ email: "bob@example.com" });
        return latchkey.unchanged(() => remove(bob));
      },
    ],
    ["an unknown passkey", () => latchkey.unchanged(() => remove(owner.session, "\u0000' or 1=1"))],
  ])("%s is refused", async (_what, removal) => {
    expect(await removal()).toMatchObject({ status: 422 });
  });

  describe("from an account without a password", () => {
    beforeEach(() => latchkey.execute("update users set password_hash = null"));

    test("the last way in is refused", async () => {
      const refused = await latchkey.unchanged(() => remove());
      const passkey = "This is the only way into your account: add another one first.";
      expect(refused).toMatchObject({ status: 422, data: { errors: { passkey } } });
    });

    test("one of two passkeys is possible", async () => {
      await storePasskey(new Authenticator(), owner.userId);
      expect(await remove()).toMatchObject({ status: 302 });
    });

    test("the last of two passkeys is refused", async () => {
      await storePasskey(new Authenticator(), owner.userId);
      const removed = await remove();
      const [last] = await passkeyRows();
      expect(await remove(`session=${removed.cookies.session}`, last?.credential_id)).toMatchObject({ status: 422 });
    });

    test("the last passkey is refused while the linked provider is off", async () => {
      await latchkey.execute("update users set idp_id = '1001', idp_issuer = 'google'");
      expect(await remove()).toMatchObject({ status: 422 });
    });

    test("the last passkey is possible while there is a linked provider", async () => {
      await latchkey.execute("update users set idp_id = '1001', idp_issuer = 'google'");
      latchkey.configure(google);
      expect(await remove()).toMatchObject({ status: 302 });
    });
  });

  describe("the provider of an account without a password", () => {
    beforeEach(() => latchkey.execute("update users set password_hash = null, idp_id = '1001', idp_issuer = 'google'"));

    test("is refused where passkeys are off", async () => {
      latchkey.configure({ ...google, APP_URL: "http://127.0.0.1" });
      expect(await act(owner.session, "unlink-provider")).toMatchObject({ status: 422 });
    });

    test("leaves the passkey to sign in with", async () => {
      latchkey.configure(google);
      expect(await act(owner.session, "unlink-provider")).toMatchObject({ status: 302 });
      expect(await signInBy(owner.authenticator)).toMatchObject({ status: 302, location: "/dashboard" });
    });
  });

  test("of the last two in two sessions at once leaves one", async () => {
    await latchkey.execute("update users set password_hash = null");
    const second = new Authenticator();
    await storePasskey(second, owner.userId);
    const other = await latchkey.signedIn(owner.userId);
    await Promise.all([remove(), remove(other, second.credentialId)]);
    expect(await passkeyRows()).toHaveLength(1);
  });
});
