import { generateKeyPairSync } from "node:crypto";
import { beforeEach, describe, expect, test } from "vitest";
import { suspendUser } from "#server/features/operator/user-access";
import * as passkey from "~/routes/auth.passkey";
import { act, openAccount } from "../support/account-calls";
import { Authenticator, type Changes, type CoseKey, es256, rs256 } from "../support/authenticator";
import { startLatchkey } from "../support/latchkey";
import {
  addPasskey,
  ageChallenges,
  ask,
  expectNoSignIn,
  passkeyChallenges,
  passkeyOwner,
  passkeyRows,
  signInBy,
  storePasskey,
} from "../support/passkeys";
import { call, type Outcome, post } from "../support/route-calls";

const latchkey = startLatchkey();

const owner = passkeyOwner(latchkey);

describe("adding", () => {
  test("stores the key", async () => {
    const added = await addPasskey(owner.authenticator, owner.session);
    expect(added).toMatchObject({ status: 200, data: { done: expect.stringContaining("was added") } });
    expect(await passkeyRows()).toMatchObject([
      {
        credential_id: owner.authenticator.credentialId,
        user_id: owner.userId,
        transports: ["internal"],
        backed_up: false,
        last_used_at: null,
      },
    ]);
    expect(latchkey.events()).toEqual([{ event: "passkey.added" }]);
  });

  test("uses the challenge up", async () => {
    await addPasskey(owner.authenticator, owner.session);
    expect(await passkeyChallenges()).toEqual([]);
  });

  test("keeps the sessions", async () => {
    const before = await latchkey.execute("select * from sessions");
    await addPasskey(owner.authenticator, owner.session);
    expect(await latchkey.execute("select * from sessions")).toEqual(before);
  });

  test("is mailed to the owner", async () => {
    await addPasskey(owner.authenticator, owner.session);
    await latchkey.drain();
    expect(latchkey.mails()).toMatchObject([{ to: "ada@example.com", subject: "A passkey was added" }]);
  });

  test.each([
    ["the typed name", " My key ", "My key"],
    ["the browser's name for an invalid one", "a\nb", "An unknown browser"],
    ["the browser's name for an empty one", "", "An unknown browser"],
  ])("takes %s", async (_what, name, stored) => {
    await addPasskey(owner.authenticator, owner.session, { name });
    expect(await passkeyRows()).toMatchObject([{ name: stored }]);
  });

  const refuse = async (answer: () => Promise<unknown>, reason: string) => {
    const refused = await latchkey.unchanged(answer, "passkey_challenges");
    const passkey = "Nothing was changed. If this device has a passkey for your account already, use that one.";
    expect(refused).toMatchObject({ status: 422, data: { errors: { passkey } } });
    expect(latchkey.events().at(-1)).toEqual({ event: "passkey.failed", reason });
  };

  const refusals: [string, Changes][] = [
    ["another origin", { origin: "https://evil.example" }],
    ["another RP ID", { rpId: "evil.example" }],
    ["no user verification", { userVerified: false }],
    ["an answer to a sign-in", { type: "webauthn.get" }],
    ["an unknown attestation", { fmt: "android-key" }],
    ["a frame of an origin that the browser does not name", { crossOrigin: null }],
    ["a certificate", { fmt: "packed", attStmt: new Map<string, unknown>([["alg", -7], ["sig", new Uint8Array(8)], ["x5c", [new Uint8Array(8)]]]) }], // biome-ignore format: one line
  ];

  describe.each(refusals)("with %s", (_, changes) => {
    beforeEach(async () => {
      const asked = await ask("add", { cookie: owner.session });
      const answer = owner.authenticator.create(asked.options, changes);
      await refuse(() => act(asked.cookie, "add-passkey", { passkey: answer }), "not_verified");
    });

    test("is refused", async () => {
      expect(await passkeyRows()).toEqual([]);
    });

    test("uses the challenge up", async () => {
      expect(await passkeyChallenges()).toEqual([]);
    });
  });

  const zeros = Buffer.alloc(32).toString("base64url");
  const bits = (count: number) => Buffer.alloc(count / 8, 0xff).toString("base64url");
  const keyOf = (curve: string) => {
    const { x, y } = generateKeyPairSync("ec", { namedCurve: curve }).publicKey.export({ format: "jwk" });
    return { x, y };
  };

  test.each<[string, CoseKey]>([
    ["a P-256 point of zeros", es256({ x: zeros, y: zeros })],
    ["a P-256 point beside the curve", es256({ ...keyOf("P-256"), y: zeros })],
    ["half a P-256 point", es256({ ...keyOf("P-256"), y: "AA" })],
    ["a P-384 point", es256(keyOf("P-384")).set(-1, 2)],
    ["a P-256 point that is called one of P-384", es256(keyOf("P-256")).set(-1, 2)],
    ["a P-256 point for RS256", es256(keyOf("P-256")).set(3, -257)],
    ["an Ed25519 key of zeros", new Map<number, number | Uint8Array>([[1, 1], [3, -8], [-1, 6], [-2, Buffer.alloc(32)]])], // biome-ignore format: one line
    ["RSA with e = 1", rs256({ n: bits(2_048), e: "AQ" })],
    ["RSA with e = 3", rs256({ n: bits(2_048), e: "Aw" })],
    ["RSA of 1,024 bits", rs256({ n: bits(1_024), e: "AQAB" })],
    ["RSA of 4,104 bits", rs256({ n: bits(4_104), e: "AQAB" })],
    ["RSA of 72,000 bits", rs256({ n: bits(72_000), e: "AQAB" })],
    ["RSA for ES256", rs256({ n: bits(2_048), e: "AQAB" }).set(3, -7)],
  ])("with an invalid key is refused: %s", async (_, coseKey) => {
    const asked = await ask("add", { cookie: owner.session });
    expect(asked.options.pubKeyCredParams.map(({ alg }: { alg: number }) => alg)).toEqual([-7, -257]);
    const answer = owner.authenticator.create(asked.options, { coseKey });
    await refuse(() => act(asked.cookie, "add-passkey", { passkey: answer }), "not_verified");
    expect(await passkeyRows()).toEqual([]);
  });

  test("with an RSA key of 4,096 bits stores it", async () => {
    const coseKey = rs256({ n: bits(4_096), e: "AQAB" });
    expect(await addPasskey(owner.authenticator, owner.session, { coseKey })).toMatchObject({ status: 200 });
    expect(await passkeyRows()).toMatchObject([{ user_id: owner.userId }]);
  });

  test("with an RSA key of 2,048 bits makes a passkey that signs in", async () => {
    const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2_048 });
    expect(await addPasskey(owner.authenticator, owner.session, { privateKey })).toMatchObject({ status: 200 });
    expect(await signInBy(owner.authenticator)).toMatchObject({ status: 302, location: "/dashboard" });
  });

  describe("is refused with a challenge", () => {
    let asked: Awaited<ReturnType<typeof ask>>;

    beforeEach(async () => {
      asked = await ask("add", { cookie: owner.session });
    });

    const answer = (cookie: string, { options }: typeof asked) =>
      act(cookie, "add-passkey", { passkey: owner.authenticator.create({ ...asked.options, ...options }) });

    test("that another user answers", async () => {
      const bobs = await ask("add", { cookie: await latchkey.signedIn({ email: "bob@example.com" }) });
      await refuse(() => answer(bobs.cookie, asked), "challenge");
    });

    test("of another user", async () => {
      const bobs = await ask("add", { cookie: await latchkey.signedIn({ email: "bob@example.com" }) });
      await refuse(() => answer(asked.cookie, bobs), "challenge");
    });

    test("of another browser", async () => {
      await refuse(() => answer(owner.session, asked), "challenge");
    });

    test("of a sign-in", async () => {
      const toSignIn = await ask("sign-in", { cookie: owner.session });
      await refuse(() => answer(toSignIn.cookie, toSignIn), "challenge");
    });

    test("that was used", async () => {
      await answer(asked.cookie, asked);
      await refuse(() => answer(asked.cookie, asked), "challenge");
    });

    test("that has expired", async () => {
      await ageChallenges(5.01);
      await refuse(() => answer(asked.cookie, asked), "challenge");
    });
  });

  test("a credential that another account has is refused", async () => {
    await storePasskey(owner.authenticator, owner.userId);
    const id = owner.authenticator.credentials[0]!.id;
    const bob = await latchkey.signedIn({ email: "bob@example.com" });
    const asked = await ask("add", { cookie: bob });
    const answer = new Authenticator().create(asked.options, { id });
    await refuse(() => act(asked.cookie, "add-passkey", { passkey: answer }), "known");
  });

  describe("stops at 20:", () => {
    let late: { answer: string; cookie: string };

    beforeEach(async () => {
      await storePasskey(owner.authenticator, owner.userId);
      await latchkey.execute(
        `insert into passkeys select (passkey).* from (
           select jsonb_populate_record(p, jsonb_build_object('credential_id', p.credential_id || n)) as passkey
           from passkeys p, generate_series(1, 18) n) copies`,
      );
      const asked = await ask("add", { cookie: owner.session });
      late = { answer: new Authenticator().create(asked.options), cookie: asked.cookie };
      await storePasskey(owner.authenticator, owner.userId);
    });

    test("the page offers no other", async () => {
      expect(await openAccount(owner.session)).toMatchObject({ data: { passkeys: { newName: null } } });
    });

    test("no other is begun", async () => {
      expect(await ask("add", { cookie: owner.session })).toMatchObject({ status: 403, options: null });
    });

    test("one that was begun before is refused", async () => {
      expect((await act(late.cookie, "add-passkey", { passkey: late.answer })).status).toBe(422);
      expect(await passkeyRows()).toHaveLength(20);
    });
  });
});

describe("a passkey without a click", () => {
  const unattended = { userPresent: false, userVerified: false };
  const upgradeWith = (answer: string, cookie: string) =>
    call(passkey.action, post("/auth/passkey", { purpose: "upgrade", passkey: answer }, { cookie }));

  test("asks for no verification", async () => {
    const asked = await ask("upgrade", { cookie: owner.session });
    expect(asked.options.authenticatorSelection).toMatchObject({
      residentKey: "required",
      userVerification: "preferred",
    });
  });

  describe("that was not verified", () => {
    let added: Outcome;

    beforeEach(async () => {
      const asked = await ask("upgrade", { cookie: owner.session });
      added = await upgradeWith(owner.authenticator.create(asked.options, unattended), asked.cookie);
    });

    test("is stored", async () => {
      expect(added.status).toBe(204);
      expect(await passkeyRows()).toMatchObject([
        { user_id: owner.userId, name: "An unknown browser", user_verified: false },
      ]);
      expect(latchkey.events()).toEqual([{ event: "passkey.added" }]);
    });

    test("is mailed to the owner", async () => {
      await latchkey.drain();
      expect(latchkey.mails()).toMatchObject([{ to: "ada@example.com", subject: "A passkey was added" }]);
    });

    test("does not sign in without verification", async () => {
      await expectNoSignIn(latchkey, owner.authenticator, "not_verified", { userVerified: false });
    });

    test("signs in with verification", async () => {
      expect(await signInBy(owner.authenticator)).toMatchObject({ status: 302, location: "/dashboard" });
    });
  });

  test("is stored with the verification that it had", async () => {
    const asked = await ask("upgrade", { cookie: owner.session });
    await upgradeWith(owner.authenticator.create(asked.options, { userPresent: false }), asked.cookie);
    expect(await passkeyRows()).toMatchObject([{ user_verified: true }]);
  });

  test("is not offered to an account with one", async () => {
    await storePasskey(owner.authenticator, owner.userId);
    await latchkey.unchanged(async () => {
      expect(await ask("upgrade", { cookie: owner.session })).toMatchObject({ status: 403, options: null });
    }, "rate_limits");
  });

  test("is refused to an account to which one was added meanwhile", async () => {
    const asked = await ask("upgrade", { cookie: owner.session });
    await storePasskey(owner.authenticator, owner.userId);
    const answer = new Authenticator().create(asked.options, unattended);
    const refused = await latchkey.unchanged(() => upgradeWith(answer, asked.cookie), "passkey_challenges");
    expect(refused.status).toBe(422);
  });

  describe("is refused", () => {
    let asked: Awaited<ReturnType<typeof ask>>;
    let answer: string;

    beforeEach(async () => {
      asked = await ask("upgrade", { cookie: owner.session });
      answer = owner.authenticator.create(asked.options, unattended);
    });

    async function expectRefused(browser = { cookie: owner.session }): Promise<void> {
      await latchkey.unchanged(async () => {
        expect(await ask("upgrade", browser)).toMatchObject({ status: 403 });
        expect(await upgradeWith(answer, asked.cookie)).toMatchObject({ status: 403 });
      });
    }

    test("without a recent sign-in", async () => {
      await latchkey.execute("update sessions set created_at = now() - interval '16 minutes'");
      await expectRefused();
    });

    test.each([
      ["with the session's cookie", () => owner.session],
      ["without a cookie", () => ""],
    ])("to a user who was suspended meanwhile %s", async (_how, cookieOf) => {
      await suspendUser(owner.userId);
      await expectRefused({ cookie: cookieOf() });
    });
  });

  test("does not answer the options of the button", async () => {
    const byButton = await ask("add", { cookie: owner.session });
    const attended = owner.authenticator.create(byButton.options);
    const refused = await latchkey.unchanged(() => upgradeWith(attended, byButton.cookie));
    expect(refused).toMatchObject({ status: 422 });
    expect(latchkey.events()).toMatchObject([{ reason: "challenge" }]);
  });

  test("is not added by the button with its options", async () => {
    const asked = await ask("upgrade", { cookie: owner.session });
    const answer = owner.authenticator.create(asked.options);
    const refused = await latchkey.unchanged(() => act(asked.cookie, "add-passkey", { passkey: answer }));
    expect(refused).toMatchObject({ status: 422 });
    expect(latchkey.events()).toMatchObject([{ reason: "challenge" }]);
  });
});
