import { beforeEach, describe, expect, test } from "vitest";
import { act, logIn, openAccount } from "../support/account-calls";
import { startLatchkey } from "../support/latchkey";
import { addPasskey, passkeyOwner, passkeyRows, signInBy, storePasskey } from "../support/passkeys";

const latchkey = startLatchkey();

const owner = passkeyOwner(latchkey);

describe("the account page", () => {
  const offer = async (cookie: string) => (await openAccount(cookie)).data.passkeys.offered;

  test("lists the passkeys with the time of the last use", async () => {
    await addPasskey(owner.authenticator, owner.session, { name: "My key" });
    await signInBy(owner.authenticator);
    const moment = { at: expect.any(String), ago: expect.any(String), exact: expect.any(String) };
    const [item] = await passkeyRows();
    expect((await openAccount(owner.session)).data.passkeys).toEqual({
      items: [{ id: item?.credential_id, name: "My key", added: moment, lastUsed: moment, questioned: false }],
      unusable: [],
      newName: "An unknown browser",
      offered: false,
      upgradable: false,
      account: { rpId: "localhost", userId: expect.stringMatching(/^[\w-]{22}$/) },
    });
  });

  describe("after a login with a password", () => {
    let session: string;
    let cookie: string;

    beforeEach(async () => {
      const { cookies } = await logIn();
      session = `session=${cookies.session}`;
      cookie = `${session}; device=${cookies.device}`;
    });

    test("offers one", async () => {
      expect(await offer(cookie)).toBe(true);
    });

    test("remembers in the browser that it has offered one", async () => {
      expect((await openAccount(cookie)).headers.getSetCookie()).toEqual([
        expect.stringMatching(/^passkey-offered=\d{13}; HttpOnly; Max-Age=34560000; Path=\/; SameSite=Lax$/),
      ]);
    });

    test("offers none a second time in a browser", async () => {
      expect(await offer(`${cookie}; passkey-offered=1`)).toBe(false);
    });

    test("offers none in an unknown browser", async () => {
      expect(await offer(session)).toBe(false);
    });

    test("offers none to an account with one", async () => {
      await storePasskey(owner.authenticator, owner.userId);
      expect(await offer(cookie)).toBe(false);
    });
  });

  test("lets the browser create none after the removal of one", async () => {
    const { cookies } = await logIn();
    const cookie = `session=${cookies.session}; last_sign_in=password`;
    await addPasskey(owner.authenticator, cookie);
    const opened = await openAccount(cookie);
    expect(opened.data.passkeys.upgradable).toBe(false);
    const removed = await act(cookie, "remove-passkey", { passkey: owner.authenticator.credentialId });
    const offer = `passkey-offered=${opened.cookies["passkey-offered"]}`;
    const after = await openAccount(`session=${removed.cookies.session}; last_sign_in=password; ${offer}`);
    expect(after.data.passkeys).toMatchObject({ items: [], upgradable: false });
    expect(after.headers.getSetCookie()).toEqual([]);
  });

  const upgradable = async (cookie: string) => (await openAccount(cookie)).data.passkeys.upgradable;

  test.each([
    ["one after a login with a password", "; last_sign_in=password", true],
    ["none after a sign-in at the provider", "; last_sign_in=provider", false],
    ["none after a sign-in of which it knows nothing", "", false],
  ])("lets the browser create %s", async (_what, way, may) => {
    expect(await upgradable(`${owner.session}${way}`)).toBe(may);
  });

  test("lets the browser create none 15 minutes after the login", async () => {
    await latchkey.execute("update sessions set created_at = now() - interval '16 minutes'");
    expect(await upgradable(`${owner.session}; last_sign_in=password`)).toBe(false);
  });

  test("lets the browser create none for an account with one", async () => {
    await storePasskey(owner.authenticator, owner.userId);
    expect(await upgradable(`${owner.session}; last_sign_in=password`)).toBe(false);
  });
});
