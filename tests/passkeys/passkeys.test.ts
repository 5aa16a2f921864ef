import { generateKeyPairSync } from "node:crypto";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { restoreUser, suspendUser } from "#server/features/operator/user-access";
import * as passkey from "~/routes/auth.passkey";
import { act, logIn, openAccount, openLogin, resetWith } from "../support/account-calls";
import { Authenticator, type Changes, type CoseKey, es256, rs256 } from "../support/authenticator";
import { google } from "../support/google-sign-in";
import { startLatchkey } from "../support/latchkey";
import { resetLink } from "../support/mailed-links";
import { addPasskey, answerWith, ask, signInBy, storePasskey } from "../support/passkeys";
import { newPassword } from "../support/passwords";
import { call, get, type Outcome, post } from "../support/route-calls";
import { sha256 } from "../support/sha256";

const latchkey = startLatchkey({}, { onNewDatabase: true });

let userId: string;
let session: string;
let authenticator: Authenticator;

beforeEach(async () => {
  userId = await latchkey.createUser();
  session = await latchkey.signedIn(userId, "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0");
  authenticator = new Authenticator();
});

interface Row {
  credential_id: string;
  user_id: string;
  counter: string;
  backed_up: boolean;
  user_verified: boolean;
  name: string;
  last_used_at: string | null;
}

const rows = () => latchkey.execute<Row>("select * from passkeys order by created_at");

const passMinutes = (minutes: number) => {
  const now = Date.now();
  vi.useFakeTimers({ now: now + minutes * 60_000, toFake: ["Date"] });
};

afterEach(() => void vi.useRealTimers());

const refusal = {
  status: 422,
  location: null,
  data: { message: "Signing in with the passkey did not work. Try again, or log in another way." },
};

/** Counts `points` of a quarter of an hour that has just begun. */
const countUp = (key: string, points: number) =>
  latchkey.execute("insert into rate_limits values (?, ?, extract(epoch from now()) * 1000 + 900000)", [key, points]);

const challenges = () => latchkey.execute("select * from passkey_challenges");

/** The answer is refused as every other one; nothing changes but that a failed sign-in counts for its client. */
async function expectRefused(answer: () => Promise<unknown>, reason: string) {
  expect(await latchkey.unchanged(answer, "rate_limits", "passkey_challenges", "account_events")).toMatchObject(
    refusal,
  );
  expect(latchkey.events().at(-1)).toEqual({ event: "passkey.failed", reason });
}

/** A sign-in with the newest passkey is refused. */
async function expectNoSignIn(reason: string, changes?: Changes) {
  const asked = await ask("sign-in");
  const answer = authenticator.get(asked.options, changes);
  await expectRefused(() => answerWith(answer, { cookie: asked.cookie }), reason);
}

const credentialId = () => authenticator.credentials[0]?.id.toString("base64url") ?? "";

describe("options", () => {
  describe("to sign in", () => {
    let asked: Awaited<ReturnType<typeof ask>>;

    beforeEach(async () => {
      await storePasskey(authenticator, userId);
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
      expect(await challenges()).toEqual([{ challenge_hash: hash, expires_at: expect.anything() }]);
    });

    test("have a challenge for five minutes", async () => {
      passMinutes(4.9);
      const { cookie, options } = asked;
      expect(await answerWith(authenticator.get(options), { cookie })).toMatchObject({ status: 302 });
    });
  });

  describe("to add one", () => {
    let options: Record<string, unknown>;

    beforeEach(async () => {
      await storePasskey(authenticator, userId);
      options = (await ask("add", { cookie: session })).options;
    });

    test("name the account", () => {
      expect(options).toMatchObject({
        rp: { name: "Latchkey", id: "localhost" },
        user: {
          id: Buffer.from(userId.replaceAll("-", ""), "hex").toString("base64url"),
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
      expect(options.excludeCredentials).toMatchObject([{ id: credentialId(), type: "public-key" }]);
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
    const asked = await latchkey.unchanged(() => ask("add", { cookie: session }));
    expect(asked).toMatchObject({ status: 403, options: null });
  });

  test("are issued 300 times in a quarter of an hour to a client", async () => {
    const facts = { client: "192.0.2.1" };
    await countUp("passkey:client:192.0.2.1", 299);
    expect((await ask("sign-in", { facts })).status).toBe(200);
    const refused = await ask("sign-in", { facts });
    expect(refused).toMatchObject({ status: 429, options: null });
    expect(refused.headers.getSetCookie()).toEqual([]);
    expect(refused.headers.get("Retry-After")).toMatch(/^\d+$/);
  });

  describe("after 300 to a client", () => {
    const facts = { client: "192.0.2.1" };

    beforeEach(() => countUp("passkey:client:192.0.2.1", 300));

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
      expect((await ask("add", { facts, cookie: session })).status).toBe(200);
    });
  });

  describe("after 300 to a signed-in user", () => {
    beforeEach(() => countUp(`passkey:owner:${userId}`, 300));

    test("are refused", async () => {
      expect((await ask("add", { cookie: session })).status).toBe(429);
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
      const cookie = origin.startsWith("https") ? `__Host-${session}` : session;
      expect(await openAccount(cookie, { facts })).toMatchObject({ status: 200, data: { passkeys: null } });
    });
  });
});

describe("adding", () => {
  test("stores the key", async () => {
    const added = await addPasskey(authenticator, session);
    expect(added).toMatchObject({ status: 200, data: { done: expect.stringContaining("was added") } });
    expect(await rows()).toMatchObject([
      {
        credential_id: credentialId(),
        user_id: userId,
        transports: ["internal"],
        backed_up: false,
        last_used_at: null,
      },
    ]);
    expect(latchkey.events()).toEqual([{ event: "passkey.added" }]);
  });

  test("uses the challenge up", async () => {
    await addPasskey(authenticator, session);
    expect(await challenges()).toEqual([]);
  });

  test("keeps the sessions", async () => {
    const before = await latchkey.execute("select * from sessions");
    await addPasskey(authenticator, session);
    expect(await latchkey.execute("select * from sessions")).toEqual(before);
  });

  test("is mailed to the owner", async () => {
    await addPasskey(authenticator, session);
    await latchkey.drain();
    expect(latchkey.mails()).toMatchObject([{ to: "ada@example.com", subject: "A passkey was added" }]);
  });

  test.each([
    ["the typed name", " My key ", "My key"],
    ["the browser's name for an invalid one", "a\nb", "An unknown browser"],
    ["the browser's name for an empty one", "", "An unknown browser"],
  ])("takes %s", async (_what, name, stored) => {
    await addPasskey(authenticator, session, { name });
    expect(await rows()).toMatchObject([{ name: stored }]);
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
      const asked = await ask("add", { cookie: session });
      const answer = authenticator.create(asked.options, changes);
      await refuse(() => act(asked.cookie, "add-passkey", { passkey: answer }), "not_verified");
    });

    test("is refused", async () => {
      expect(await rows()).toEqual([]);
    });

    test("uses the challenge up", async () => {
      expect(await challenges()).toEqual([]);
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
    const asked = await ask("add", { cookie: session });
    expect(asked.options.pubKeyCredParams.map(({ alg }: { alg: number }) => alg)).toEqual([-7, -257]);
    const answer = authenticator.create(asked.options, { coseKey });
    await refuse(() => act(asked.cookie, "add-passkey", { passkey: answer }), "not_verified");
    expect(await rows()).toEqual([]);
  });

  test("with an RSA key of 4,096 bits stores it", async () => {
    const coseKey = rs256({ n: bits(4_096), e: "AQAB" });
    expect(await addPasskey(authenticator, session, { coseKey })).toMatchObject({ status: 200 });
    expect(await rows()).toMatchObject([{ user_id: userId }]);
  });

  test("with an RSA key of 2,048 bits makes a passkey that signs in", async () => {
    const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2_048 });
    expect(await addPasskey(authenticator, session, { privateKey })).toMatchObject({ status: 200 });
    expect(await signInBy(authenticator)).toMatchObject({ status: 302, location: "/dashboard" });
  });

  describe("is refused with a challenge", () => {
    let asked: Awaited<ReturnType<typeof ask>>;

    beforeEach(async () => {
      asked = await ask("add", { cookie: session });
    });

    const answer = (cookie: string, { options }: typeof asked) =>
      act(cookie, "add-passkey", { passkey: authenticator.create({ ...asked.options, ...options }) });

    test("that another user answers", async () => {
      const bobs = await ask("add", { cookie: await latchkey.signedIn({ email: "bob@example.com" }) });
      await refuse(() => answer(bobs.cookie, asked), "challenge");
    });

    test("of another user", async () => {
      const bobs = await ask("add", { cookie: await latchkey.signedIn({ email: "bob@example.com" }) });
      await refuse(() => answer(asked.cookie, bobs), "challenge");
    });

    test("of another browser", async () => {
      await refuse(() => answer(session, asked), "challenge");
    });

    test("of a sign-in", async () => {
      const toSignIn = await ask("sign-in", { cookie: session });
      await refuse(() => answer(toSignIn.cookie, toSignIn), "challenge");
    });

    test("that was used", async () => {
      await answer(asked.cookie, asked);
      await refuse(() => answer(asked.cookie, asked), "challenge");
    });

    test("that has expired", async () => {
      passMinutes(5.01);
      await refuse(() => answer(asked.cookie, asked), "challenge");
    });
  });

  test("a credential that another account has is refused", async () => {
    await storePasskey(authenticator, userId);
    const id = authenticator.credentials[0]!.id;
    const bob = await latchkey.signedIn({ email: "bob@example.com" });
    const asked = await ask("add", { cookie: bob });
    const answer = new Authenticator().create(asked.options, { id });
    await refuse(() => act(asked.cookie, "add-passkey", { passkey: answer }), "known");
  });

  describe("stops at 20:", () => {
    let late: { answer: string; cookie: string };

    beforeEach(async () => {
      await storePasskey(authenticator, userId);
      await latchkey.execute(
        `insert into passkeys select (passkey).* from (
           select jsonb_populate_record(p, jsonb_build_object('credential_id', p.credential_id || n)) as passkey
           from passkeys p, generate_series(1, 18) n) copies`,
      );
      const asked = await ask("add", { cookie: session });
      late = { answer: new Authenticator().create(asked.options), cookie: asked.cookie };
      await storePasskey(authenticator, userId);
    });

    test("the page offers no other", async () => {
      expect(await openAccount(session)).toMatchObject({ data: { passkeys: { newName: null } } });
    });

    test("no other is begun", async () => {
      expect(await ask("add", { cookie: session })).toMatchObject({ status: 403, options: null });
    });

    test("one that was begun before is refused", async () => {
      expect((await act(late.cookie, "add-passkey", { passkey: late.answer })).status).toBe(422);
      expect(await rows()).toHaveLength(20);
    });
  });
});

describe("a passkey without a click", () => {
  const unattended = { userPresent: false, userVerified: false };
  const upgradeWith = (answer: string, cookie: string) =>
    call(passkey.action, post("/auth/passkey", { purpose: "upgrade", passkey: answer }, { cookie }));

  test("asks for no verification", async () => {
    const asked = await ask("upgrade", { cookie: session });
    expect(asked.options.authenticatorSelection).toMatchObject({
      residentKey: "required",
      userVerification: "preferred",
    });
  });

  describe("that was not verified", () => {
    let added: Outcome;

    beforeEach(async () => {
      const asked = await ask("upgrade", { cookie: session });
      added = await upgradeWith(authenticator.create(asked.options, unattended), asked.cookie);
    });

    test("is stored", async () => {
      expect(added.status).toBe(204);
      expect(await rows()).toMatchObject([{ user_id: userId, name: "An unknown browser", user_verified: false }]);
      expect(latchkey.events()).toEqual([{ event: "passkey.added" }]);
    });

    test("is mailed to the owner", async () => {
      await latchkey.drain();
      expect(latchkey.mails()).toMatchObject([{ to: "ada@example.com", subject: "A passkey was added" }]);
    });

    test("does not sign in without verification", async () => {
      await expectNoSignIn("not_verified", { userVerified: false });
    });

    test("signs in with verification", async () => {
      expect(await signInBy(authenticator)).toMatchObject({ status: 302, location: "/dashboard" });
    });
  });

  test("is stored with the verification that it had", async () => {
    const asked = await ask("upgrade", { cookie: session });
    await upgradeWith(authenticator.create(asked.options, { userPresent: false }), asked.cookie);
    expect(await rows()).toMatchObject([{ user_verified: true }]);
  });

  test("is not offered to an account with one", async () => {
    await storePasskey(authenticator, userId);
    await latchkey.unchanged(async () => {
      expect(await ask("upgrade", { cookie: session })).toMatchObject({ status: 403, options: null });
    }, "rate_limits");
  });

  test("is refused to an account to which one was added meanwhile", async () => {
    const asked = await ask("upgrade", { cookie: session });
    await storePasskey(authenticator, userId);
    const answer = new Authenticator().create(asked.options, unattended);
    const refused = await latchkey.unchanged(() => upgradeWith(answer, asked.cookie), "passkey_challenges");
    expect(refused.status).toBe(422);
  });

  describe("is refused", () => {
    let asked: Awaited<ReturnType<typeof ask>>;
    let answer: string;

    beforeEach(async () => {
      asked = await ask("upgrade", { cookie: session });
      answer = authenticator.create(asked.options, unattended);
    });

    async function expectRefused(browser = { cookie: session }): Promise<void> {
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
      ["with the session's cookie", () => session],
      ["without a cookie", () => ""],
    ])("to a user who was suspended meanwhile %s", async (_how, cookieOf) => {
      await suspendUser(userId);
      await expectRefused({ cookie: cookieOf() });
    });
  });

  test("does not answer the options of the button", async () => {
    const byButton = await ask("add", { cookie: session });
    const attended = authenticator.create(byButton.options);
    const refused = await latchkey.unchanged(() => upgradeWith(attended, byButton.cookie));
    expect(refused).toMatchObject({ status: 422 });
    expect(latchkey.events()).toMatchObject([{ reason: "challenge" }]);
  });

  test("is not added by the button with its options", async () => {
    const asked = await ask("upgrade", { cookie: session });
    const answer = authenticator.create(asked.options);
    const refused = await latchkey.unchanged(() => act(asked.cookie, "add-passkey", { passkey: answer }));
    expect(refused).toMatchObject({ status: 422 });
    expect(latchkey.events()).toMatchObject([{ reason: "challenge" }]);
  });
});

describe("signing in", () => {
  beforeEach(async () => {
    await storePasskey(authenticator, userId);
  });

  test("starts a session", async () => {
    const signedIn = await signInBy(authenticator);
    expect(signedIn).toMatchObject({ status: 302, location: "/dashboard" });
    expect(signedIn.cookies).toEqual({
      session: expect.stringMatching(/./),
      last_sign_in: "passkey",
      device: expect.stringMatching(/./),
    });
    expect(latchkey.events().at(-1)).toEqual({ event: "passkey.succeeded" });
    expect(await openAccount(`session=${signedIn.cookies.session}`)).toMatchObject({
      data: { user: { email: "ada@example.com" }, signInAgain: false },
    });
  });

  test("stores the passkey's counter with the time of its use", async () => {
    authenticator.counter = 7;
    await signInBy(authenticator);
    expect(await rows()).toMatchObject([{ counter: "7", last_used_at: expect.anything() }]);
  });

  test.each(["add", "register", ""])("with the purpose %j starts no session", async (purpose) => {
    const asked = await ask("sign-in");
    const fields = { purpose, passkey: authenticator.get(asked.options) };
    const { cookie } = asked;
    const refused = await latchkey.unchanged(() => call(passkey.action, post("/auth/passkey", fields, { cookie })));
    expect(refused.status).toBe(422);
    expect(refused.cookies).toEqual({});
  });

  test("carries return_to", async () => {
    const asked = await ask("sign-in");
    const form = { passkey: authenticator.get(asked.options) };
    const path = `/auth/passkey?${new URLSearchParams({ return_to: "/healthz" })}`;
    const signedIn = await call(passkey.action, post(path, form, { cookie: asked.cookie }));
    expect(signedIn).toMatchObject({ status: 302, location: "/healthz" });
  });

  describe("on the login host of a SESSION_DOMAIN", () => {
    const facts = { origin: "https://login.example.org" };
    let own: Authenticator;

    beforeEach(async () => {
      latchkey.configure({ APP_URL: "https://login.example.org", SESSION_DOMAIN: "example.org" });
      own = new Authenticator("https://login.example.org");
      const adding = await ask("add", { cookie: session.replace("session", "__Secure-session"), facts });
      expect(adding.options.rp.id).toBe("login.example.org");
      expect(adding.headers.getSetCookie()).toEqual([
        expect.stringMatching(/^__Host-passkey=[0-9a-f]{64}; HttpOnly; Max-Age=300; Path=\/; SameSite=Lax; Secure$/),
      ]);
      const added = await act(adding.cookie, "add-passkey", { passkey: own.create(adding.options) }, { facts });
      expect(added.status).toBe(200);
    });

    test("starts a session of the domain", async () => {
      const { headers } = await signInBy(own, {}, { facts });
      expect(headers.getSetCookie()[0]).toMatch(/^__Secure-session=[0-9a-f]{64}; Domain=example\.org; /);
    });

    test("is refused with an answer of another host", async () => {
      const sibling = await ask("sign-in", { facts });
      const imitated = own.get(sibling.options, { origin: "https://app.example.org", rpId: "example.org" });
      expect(await answerWith(imitated, { cookie: sibling.cookie, facts })).toMatchObject(refusal);
    });
  });

  test("in a new browser is told to the owner", async () => {
    await signInBy(authenticator);
    await latchkey.drain();
    const mails = latchkey.mails();
    expect(mails).toMatchObject([{ subject: "New sign-in to your account" }]);
    expect(mails[0]?.text).toContain("signed in to your account with a passkey");
  });

  test("in a known browser is not told to the owner", async () => {
    const { cookies } = await signInBy(authenticator);
    await latchkey.drain();
    await signInBy(authenticator, {}, { cookie: `device=${cookies.device}` });
    expect(await latchkey.jobs()).toEqual([]);
  });

  const refusals: [string, Changes, string][] = [
    ["another origin", { origin: "https://evil.example" }, "not_verified"],
    ["another RP ID", { rpId: "evil.example" }, "not_verified"],
    ["no user verification", { userVerified: false }, "not_verified"],
    ["an answer to a registration", { type: "webauthn.create" }, "not_verified"],
    ["a frame of another origin", { crossOrigin: "https://evil.example" }, "not_verified"],
    ["a frame of an origin that the browser does not name", { crossOrigin: null }, "not_verified"],
    ["another user's handle", { userHandle: "AAAA" }, "not_verified"],
    ["an unknown credential", { id: Buffer.alloc(32, 1) }, "unknown"],
  ];

  describe("in a browser that is signed in to another account", () => {
    let before: string;
    let done: Outcome;

    beforeEach(async () => {
      before = await latchkey.signedIn({ email: "bob@example.com" });
      done = await signInBy(authenticator, {}, { cookie: before });
    });

    test("signs in to the passkey's account", { tags: "CVE-2026-82466" }, async () => {
      expect(await openAccount(`session=${done.cookies.session}`)).toMatchObject({
        data: { user: { email: "ada@example.com" } },
      });
    });

    test("ends the other session", { tags: "CVE-2026-82466" }, async () => {
      expect(await openAccount(before)).toMatchObject({ location: "/login" });
    });
  });

  describe.each(refusals)("with %s", (_, changes, reason) => {
    test("is refused", { tags: "GHSA-h4fw-6r7f-w494" }, () => expectNoSignIn(reason, changes));

    test("uses the challenge up", { tags: "GHSA-h4fw-6r7f-w494" }, async () => {
      await signInBy(authenticator, changes);
      expect(await challenges()).toEqual([]);
    });
  });

  test("with a wrong signature is answered exactly as an unknown credential is", async () => {
    const asked = await ask("sign-in");
    const { response, ...answer } = JSON.parse(authenticator.get(asked.options));
    const signature = `A${response.signature.slice(1)}`;
    const wrong = JSON.stringify({ ...answer, response: { ...response, signature } });
    const refused = await answerWith(wrong, { cookie: asked.cookie });
    expect(latchkey.events().at(-1)).toEqual({ event: "passkey.failed", reason: "not_verified" });
    const unknown = await signInBy(authenticator, { id: Buffer.alloc(16) });
    expect(latchkey.events().at(-1)).toEqual({ event: "passkey.failed", reason: "unknown" });
    expect(refused).toMatchObject(refusal);
    expect(refused.cookies).toEqual({});
    expect([...refused.headers]).toEqual([...unknown.headers]);
    expect(refused).toEqual(unknown);
  });

  describe("is refused with a challenge", () => {
    let asked: Awaited<ReturnType<typeof ask>>;

    beforeEach(async () => {
      asked = await ask("sign-in");
    });

    const answer = (cookie: string, { options }: typeof asked) => answerWith(authenticator.get(options), { cookie });

    test("of another browser", async () => {
      const others = await ask("sign-in");
      await expectRefused(() => answer(others.cookie, asked), "challenge");
    });

    test("in a browser without its cookie", async () => {
      await expectRefused(() => answer("", asked), "challenge");
    });

    test("in a browser with two cookies of challenges", async () => {
      const others = await ask("sign-in");
      await expectRefused(() => answer(`${asked.cookie}; ${others.cookie}`, asked), "challenge");
    });

    test("of adding", async () => {
      const adding = await ask("add", { cookie: session });
      await expectRefused(() => answer(adding.cookie, adding), "challenge");
    });

    test("that was used", async () => {
      expect(await answer(asked.cookie, asked)).toMatchObject({ status: 302 });
      await expectRefused(() => answer(asked.cookie, asked), "challenge");
    });

    test("that has expired", async () => {
      passMinutes(5.01);
      await expectRefused(() => answer(asked.cookie, asked), "challenge");
    });
  });

  test("of several tabs of one browser works in each", async () => {
    const first = await ask("sign-in");
    const second = await ask("sign-in", { cookie: first.cookie });
    expect(second.cookies.passkey).toBe(first.cookies.passkey);
    for (const { options } of [first, second]) {
      expect(await answerWith(authenticator.get(options), { cookie: first.cookie })).toMatchObject({ status: 302 });
    }
  });

  test("works once of two simultaneous posts of one answer", async () => {
    const asked = await ask("sign-in");
    const answer = authenticator.get(asked.options);
    const both = await Promise.all([1, 2].map(() => answerWith(answer, { cookie: asked.cookie })));
    expect(both.map(({ status }) => status).sort()).toEqual([302, 422]);
  });

  test("with a counter of 0 works while no other was seen", async () => {
    for (let time = 0; time < 2; time++) {
      expect(await signInBy(authenticator, { counter: 0 })).toMatchObject({ status: 302 });
    }
  });

  describe("after a counter near its end", () => {
    beforeEach(async () => {
      expect(await signInBy(authenticator, { counter: 4_294_967_294 })).toMatchObject({ status: 302 });
    });

    test.each([4_294_967_294, 3, 0])("with the counter %i is refused", async (counter) => {
      await expectNoSignIn("counter", { counter });
    });

    test("is logged with the account when it is refused", async () => {
      await signInBy(authenticator, { counter: 3 });
      expect(JSON.parse(latchkey.logLines().at(-1) ?? "")).toMatchObject({ userId });
    });

    test("with a higher counter works", async () => {
      expect(await signInBy(authenticator, { counter: 4_294_967_295 })).toMatchObject({ status: 302 });
    });

    test("with a higher counter works after a refused one", async () => {
      await signInBy(authenticator, { counter: 3 });
      expect(await signInBy(authenticator, { counter: 4_294_967_295 })).toMatchObject({ status: 302 });
    });
  });

  test("of a suspended account is refused as an unknown passkey is", async () => {
    await suspendUser(userId);
    await expectNoSignIn("suspended");
  });

  test("of a restored account works again", async () => {
    await suspendUser(userId);
    await restoreUser(userId);
    expect(await signInBy(authenticator)).toMatchObject({ status: 302, location: "/dashboard" });
  });

  test("of a deleted account is unknown", async () => {
    expect(await act(session, "delete-account", { email: "ada@example.com" })).toMatchObject({ status: 302 });
    expect(await rows()).toEqual([]);
    await expectNoSignIn("unknown");
  });

  test("works after a reset", async () => {
    await resetWith(await resetLink(latchkey, "ada@example.com"), newPassword);
    expect(await signInBy(authenticator)).toMatchObject({ status: 302, location: "/dashboard" });
  });

  test("is mentioned with the number of passkeys by the mail of a reset", async () => {
    await resetLink(latchkey, "ada@example.com");
    expect(latchkey.mails().at(-1)?.text).toContain("Your account has passkeys (1).");
  });

  test("works after a change of address", async () => {
    await latchkey.execute("update users set email = 'new@example.com'");
    const { cookies } = await signInBy(authenticator);
    const { data } = await openAccount(`session=${cookies.session}`);
    expect(data).toMatchObject({ user: { email: "new@example.com" } });
  });

  test("is not mentioned by the reset of an account without a passkey", async () => {
    await latchkey.createUser({ email: "bob@example.com" });
    const link = await resetLink(latchkey, "bob@example.com");
    await resetWith(link, newPassword);
    await latchkey.drain();
    const texts = latchkey.mails().filter(({ to }) => to === "bob@example.com");
    expect(texts).toHaveLength(2);
    for (const { text } of texts) expect(text).not.toContain("passkey");
  });

  describe("after 99 failures of a client", () => {
    const facts = { client: "192.0.2.1" };
    const fail = () => signInBy(authenticator, { userHandle: "AAAA" }, { facts });

    beforeEach(() => countUp("login:client:192.0.2.1", 99));

    test("fails once more", async () => {
      expect(await fail()).toMatchObject({ status: 422 });
      expect(await fail()).toMatchObject({ status: 429 });
    });

    test("works without being counted", async () => {
      for (let count = 0; count < 3; count++) {
        expect(await signInBy(authenticator, {}, { facts })).toMatchObject({ status: 302 });
      }
      expect(await fail()).toMatchObject({ status: 422 });
    });
  });

  describe("after a hundred failures of a client", () => {
    const facts = { client: "192.0.2.1" };

    beforeEach(() => countUp("login:client:192.0.2.1", 100));

    test("is 429 with the time to wait", async () => {
      const throttled = await signInBy(authenticator, {}, { facts });
      const data = { message: expect.stringContaining("Too many attempts.") };
      expect(throttled).toMatchObject({ status: 429, data });
      expect(throttled.headers.get("Retry-After")).toMatch(/^\d+$/);
      expect(latchkey.events().at(-1)).toEqual({ event: "login.throttled" });
    });

    test("works for another client", async () => {
      expect(await signInBy(authenticator)).toMatchObject({ status: 302 });
    });

    test("works in a known browser of the same network", async () => {
      const { cookies } = await signInBy(authenticator);
      const cookie = `device=${cookies.device}`;
      expect(await signInBy(authenticator, {}, { facts, cookie })).toMatchObject({ status: 302 });
    });

    test.each(["0".repeat(64), "device"])("is 429 with the unknown device %s", async (device) => {
      const unknown = await signInBy(authenticator, {}, { facts, cookie: `device=${device}` });
      expect(unknown).toMatchObject({ status: 429 });
    });
  });

  describe("after ten failures in a known browser", () => {
    let device: string;

    beforeEach(async () => {
      device = (await logIn()).cookies.device ?? "";
      await latchkey.execute("delete from rate_limits");
      const cookie = `device=${device}`;
      for (let count = 0; count < 10; count++) {
        expect(await signInBy(authenticator, { userHandle: "AAAA" }, { cookie })).toMatchObject({ status: 422 });
      }
    });

    test("is 429 in this browser", async () => {
      expect(await signInBy(authenticator, {}, { cookie: `device=${device}` })).toMatchObject({ status: 429 });
    });

    test("is counted for nobody else", async () => {
      const counted = await latchkey.execute<{ key: string }>("select key from rate_limits order by key");
      const hash = sha256(device);
      expect(counted.map(({ key }) => key)).toEqual([`login:device:${hash}`, `passkey:owner:${hash}`]);
      expect(await signInBy(authenticator)).toMatchObject({ status: 302 });
    });
  });

  test("without a challenge of this browser counts for nobody", async () => {
    const asked = await ask("sign-in");
    const answers = ["", "{}", authenticator.get({ challenge: "AAAA" }), authenticator.get(asked.options)];
    await latchkey.unchanged(async () => {
      for (const answer of answers) expect(await answerWith(answer)).toMatchObject(refusal);
      expect(await answerWith("{}", { cookie: asked.cookie })).toMatchObject(refusal);
    });
  });
});

describe("removing", () => {
  const remove = (cookie = session, passkey = credentialId()) => act(cookie, "remove-passkey", { passkey });

  beforeEach(async () => {
    await storePasskey(authenticator, userId);
  });

  test("one that is gone is refused by saying so", async () => {
    await remove();
    const cookie = await latchkey.signedIn(userId);
    expect(await latchkey.unchanged(() => remove(cookie))).toMatchObject({
      status: 422,
      data: { errors: { passkey: "There is no such passkey any more." } },
    });
  });

  describe("one of two ways in", () => {
    let others: string;
    let removed: Outcome;

    beforeEach(async () => {
      others = `session=${(await signInBy(authenticator)).cookies.session}`;
      await latchkey.drain();
      removed = await remove();
    });

    test("makes it unknown", async () => {
      expect(await rows()).toEqual([]);
      await expectNoSignIn("unknown");
    });

    test("gives this session a new token", async () => {
      expect(removed).toMatchObject({ status: 302, location: "/dashboard?notice=sessions_ended" });
      expect(await openAccount(`session=${removed.cookies.session}`)).toMatchObject({ status: 200 });
      expect(await openAccount(session)).toMatchObject({ status: 302, location: "/login" });
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
    ["an unknown passkey", () => latchkey.unchanged(() => remove(session, "\u0000' or 1=1"))],
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
      await storePasskey(new Authenticator(), userId);
      expect(await remove()).toMatchObject({ status: 302 });
    });

    test("the last of two passkeys is refused", async () => {
      await storePasskey(new Authenticator(), userId);
      const removed = await remove();
      const [last] = await rows();
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
      expect(await act(session, "unlink-provider")).toMatchObject({ status: 422 });
    });

    test("leaves the passkey to sign in with", async () => {
      latchkey.configure(google);
      expect(await act(session, "unlink-provider")).toMatchObject({ status: 302 });
      expect(await signInBy(authenticator)).toMatchObject({ status: 302, location: "/dashboard" });
    });
  });

  test("of the last two in two sessions at once leaves one", async () => {
    await latchkey.execute("update users set password_hash = null");
    const second = new Authenticator();
    await storePasskey(second, userId);
    const other = await latchkey.signedIn(userId);
    await Promise.all([remove(), remove(other, second.credentials[0]?.id.toString("base64url"))]);
    expect(await rows()).toHaveLength(1);
  });
});

describe("the account page", () => {
  const offer = async (cookie: string) => (await openAccount(cookie)).data.passkeys.offered;

  test("lists the passkeys with the time of the last use", async () => {
    await addPasskey(authenticator, session, { name: "My key" });
    await signInBy(authenticator);
    const moment = { at: expect.any(String), ago: expect.any(String), exact: expect.any(String) };
    const [item] = await rows();
    expect((await openAccount(session)).data.passkeys).toEqual({
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
      await storePasskey(authenticator, userId);
      expect(await offer(cookie)).toBe(false);
    });
  });

  test("lets the browser create none after the removal of one", async () => {
    const { cookies } = await logIn();
    const cookie = `session=${cookies.session}; last_sign_in=password`;
    await addPasskey(authenticator, cookie);
    const opened = await openAccount(cookie);
    expect(opened.data.passkeys.upgradable).toBe(false);
    const removed = await act(cookie, "remove-passkey", { passkey: credentialId() });
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
    expect(await upgradable(`${session}${way}`)).toBe(may);
  });

  test("lets the browser create none 15 minutes after the login", async () => {
    await latchkey.execute("update sessions set created_at = now() - interval '16 minutes'");
    expect(await upgradable(`${session}; last_sign_in=password`)).toBe(false);
  });

  test("lets the browser create none for an account with one", async () => {
    await storePasskey(authenticator, userId);
    expect(await upgradable(`${session}; last_sign_in=password`)).toBe(false);
  });
});
