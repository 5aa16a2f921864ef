import { beforeEach, describe, expect, test } from "vitest";
import * as passkey from "~/routes/auth.passkey";
import { logIn, openAccount, openLogin } from "../support/account-calls";
import { startLatchkey } from "../support/latchkey";
import { ageChallenges, answerWith, ask, passkeyChallenges, passkeyOwner, storePasskey } from "../support/passkeys";
import { call, get } from "../support/route-calls";
import { sha256 } from "../support/sha256";

const latchkey = startLatchkey();

const owner = passkeyOwner(latchkey);

describe("options", () => {
  describe("to sign in", () => {
    let asked: Awaited<ReturnType<typeof ask>>;

    beforeEach(async () => {
      await storePasskey(owner.authenticator, owner.userId);
      asked = await ask("sign-in");
    });

    test("name neither an address nor a passkey", () => {
      const challenge = expect.stringMatching(/^[\w-]{43}$/);
      expect(asked.options).toEqual({ rpId: "localhost", challenge, timeout: 300_000, userVerification: "required" });
    });

    test("bind the challenge to the browser by a cookie", () => {
      expect(asked.headers.getSetCookie()).toEqual([
        expect.stringMatching(/^passkey=[0-9a-f]{64}; HttpOnly; Max-Age=300; Path=\/; SameSite=Lax$/),
      ]);
    });

    test("have a challenge that is stored as a hash", async () => {
      const hash = sha256(`sign-in:${asked.cookies.passkey}:${asked.options.challenge}`);
      expect(await passkeyChallenges()).toEqual([{ challenge_hash: hash, expires_at: expect.anything() }]);
    });

    test("have a challenge for five minutes", async () => {
      await ageChallenges(4.9);
      const { cookie, options } = asked;
      expect(await answerWith(owner.authenticator.get(options), { cookie })).toMatchObject({ status: 302 });
    });
  });

  describe("to add one", () => {
    let options: Record<string, unknown>;

    beforeEach(async () => {
      await storePasskey(owner.authenticator, owner.userId);
      options = (await ask("add", { cookie: owner.session })).options;
    });

    test("name the account", () => {
      expect(options).toMatchObject({
        rp: { name: "Latchkey", id: "localhost" },
        user: {
          id: Buffer.from(owner.userId.replaceAll("-", ""), "hex").toString("base64url"),
          name: "ada@example.com",
          displayName: "ada@example.com",
        },
      });
    });

    test("ask for a discoverable credential without attestation", () => {
      expect(options).toMatchObject({
        attestation: "none",
        authenticatorSelection: { residentKey: "required", requireResidentKey: true, userVerification: "required" },
      });
    });

    test("exclude the passkeys of the account", () => {
      expect(options.excludeCredentials).toMatchObject([{ id: owner.authenticator.credentialId, type: "public-key" }]);
    });
  });

  test("are not issued to a visitor who wants to add one", async () => {
    expect(await latchkey.unchanged(() => ask("add"))).toMatchObject({ status: 403, options: null });
  });

  test.each<[string, () => Promise<{ status: number }>, number]>([
    ["to another site", () => ask("sign-in", { facts: { crossSite: true } }), 403],
    ["by GET", () => call(passkey.loader, get("/auth/passkey")), 405],
  ])("are not issued %s", async (_what, request, status) => {
    expect(await latchkey.unchanged(request)).toMatchObject({ status });
  });

  test("to add one are not issued 15 minutes after the sign-in", async () => {
    await latchkey.execute("update sessions set created_at = now() - interval '16 minutes'");
    const asked = await latchkey.unchanged(() => ask("add", { cookie: owner.session }));
    expect(asked).toMatchObject({ status: 403, options: null });
  });

  test("are issued 300 times in a quarter of an hour to a client", async () => {
    const facts = { client: "192.0.2.1" };
    await latchkey.countUp("passkey:client:192.0.2.1", 299);
    expect((await ask("sign-in", { facts })).status).toBe(200);
    const refused = await ask("sign-in", { facts });
    expect(refused).toMatchObject({ status: 429, options: null });
    expect(refused.headers.getSetCookie()).toEqual([]);
    expect(refused.headers.get("Retry-After")).toMatch(/^\d+$/);
  });

  describe("after 300 to a client", () => {
    const facts = { client: "192.0.2.1" };

    beforeEach(() => latchkey.countUp("passkey:client:192.0.2.1", 300));

    test("are refused with no other write than the first count", async () => {
      expect(await latchkey.unchanged(() => ask("sign-in", { facts }), "rate_limits")).toMatchObject({ status: 429 });
      await latchkey.unchanged(() => ask("sign-in", { facts }));
    });

    test("are issued to another client", async () => {
      expect((await ask("sign-in", { facts: { client: "192.0.2.2" } })).status).toBe(200);
    });

    test("are issued to a known browser", async () => {
      const { cookies } = await logIn();
      expect((await ask("sign-in", { facts, cookie: `device=${cookies.device}` })).status).toBe(200);
    });

    test("are issued to a signed-in user", async () => {
      expect((await ask("add", { facts, cookie: owner.session })).status).toBe(200);
    });
  });

  describe("after 300 to a signed-in user", () => {
    beforeEach(() => latchkey.countUp(`passkey:owner:${owner.userId}`, 300));

    test("are refused", async () => {
      expect((await ask("add", { cookie: owner.session })).status).toBe(429);
    });

    test("are issued to another user", async () => {
      expect((await ask("add", { cookie: await latchkey.signedIn({ email: "bob@example.com" }) })).status).toBe(200);
    });
  });

  describe.each([
    ["an http origin", { APP_URL: "http://login.example" }, "http://login.example"],
    ["a loopback address", { APP_URL: "http://127.0.0.1:3000" }, "http://127.0.0.1:3000"],
    ["an https address", { APP_URL: "https://[::1]" }, "https://[::1]"],
    ["another origin than APP_URL's", { APP_URL: "https://login.example" }, "https://other.example"],
  ])("on %s", (_, environment, origin) => {
    const facts = { origin };

    beforeEach(() => void latchkey.configure(environment));

    test("are not there", async () => {
      const { status, cookies } = await latchkey.unchanged(() => ask("sign-in", { facts }));
      expect({ status, cookies }).toEqual({ status: 404, cookies: {} });
    });

    test("are not asked for by the login page", async () => {
      expect(await openLogin("", { facts })).toMatchObject({ data: { passkeys: false } });
    });

    test("are not asked for by the account page", async () => {
      const cookie = origin.startsWith("https") ? `__Host-${owner.session}` : owner.session;
      expect(await openAccount(cookie, { facts })).toMatchObject({ status: 200, data: { passkeys: null } });
    });
  });
});
