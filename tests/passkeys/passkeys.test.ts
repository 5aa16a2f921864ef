import { generateKeyPairSync } from "node:crypto";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { restoreUser, suspendUser } from "#server/features/operator/suspension";
import * as passkey from "~/routes/auth.passkey";
import { act, logIn, openAccount, openLogin, resetWith } from "../support/account-calls";
import { Authenticator, type Changes, type CoseKey, es256, rs256 } from "../support/authenticator";
import { google } from "../support/google-sign-in";
import { startLatchkey } from "../support/latchkey";
import { resetLink } from "../support/mailed-links";
import { addPasskey, answerWith, ask, signInBy } from "../support/passkeys";
import { newPassword } from "../support/passwords";
import { call, get, post } from "../support/route-calls";
import { sha256 } from "../support/sha256";

const latchkey = startLatchkey();

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
  test("to sign in name no address and no passkey; the challenge is stored as a hash for five minutes", async () => {
    await addPasskey(authenticator, session);
    await latchkey.execute("delete from passkey_challenges");
    const asked = await ask("sign-in");
    const challenge = expect.stringMatching(/^[\w-]{43}$/);
    expect(asked.options).toEqual({ rpId: "localhost", challenge, timeout: 300_000, userVerification: "required" });
    expect(asked.headers.getSetCookie()).toEqual([
      expect.stringMatching(/^passkey=[0-9a-f]{64}; HttpOnly; Max-Age=300; Path=\/; SameSite=Lax$/),
    ]);
    const hash = sha256(`sign-in:${asked.cookies.passkey}:${asked.options.challenge}`);
    expect(await challenges()).toEqual([{ challenge_hash: hash, expires_at: expect.anything() }]);
    passMinutes(4.9);
    expect(await answerWith(authenticator.get(asked.options), { cookie: asked.cookie })).toMatchObject({ status: 302 });
  });

  test("to add one ask for a discoverable credential without attestation, and exclude those of the account", async () => {
    await addPasskey(authenticator, session);
    const asked = await ask("add", { cookie: session });
    expect(asked.options).toMatchObject({
      rp: { name: "Latchkey", id: "localhost" },
      user: {
        id: Buffer.from(userId.replaceAll("-", ""), "hex").toString("base64url"),
        name: "ada@example.com",
        displayName: "ada@example.com",
      },
      attestation: "none",
      authenticatorSelection: { residentKey: "required", requireResidentKey: true, userVerification: "required" },
      excludeCredentials: [{ id: credentialId(), type: "public-key" }],
    });
  });

  test("are not issued to a visitor who wants to add one, nor after 15 minutes, nor to another site, nor by GET", async () => {
    await latchkey.unchanged(async () => {
      expect(await ask("add")).toMatchObject({ status: 403, options: null });
      expect(await ask("sign-in", { facts: { crossSite: true } })).toMatchObject({ status: 403 });
      expect(await call(passkey.loader, get("/auth/passkey"))).toMatchObject({ status: 405 });
    });
    await latchkey.execute("update sessions set created_at = now() - interval '16 minutes'");
    await latchkey.unchanged(async () => {
      expect(await ask("add", { cookie: session })).toMatchObject({ status: 403, options: null });
    });
  });

  test("are issued 300 times in a quarter of an hour to a client; a refused request writes nothing", async () => {
    const facts = { client: "192.0.2.1" };
    for (let count = 0; count < 300; count++) expect((await ask("sign-in", { facts })).status).toBe(200);
    const refused = await latchkey.unchanged(() => ask("sign-in", { facts }), "rate_limits");
    expect(refused).toMatchObject({ status: 429, options: null });
    expect(refused.headers.getSetCookie()).toEqual([]);
    expect(refused.headers.get("Retry-After")).toMatch(/^\d+$/);
    await latchkey.unchanged(() => ask("sign-in", { facts }));

    expect((await ask("sign-in", { facts: { client: "192.0.2.2" } })).status).toBe(200);
    const { cookies } = await logIn();
    expect((await ask("sign-in", { facts, cookie: `device=${cookies.device}` })).status).toBe(200);
    expect((await ask("add", { facts, cookie: session })).status).toBe(200);
    await latchkey.execute("update rate_limits set points = 300 where key = ?", [`passkey:owner:${userId}`]);
    expect((await ask("add", { facts, cookie: session })).status).toBe(429);
    expect((await ask("add", { cookie: await latchkey.signedIn({ email: "bob@example.com" }) })).status).toBe(200);
  });

  test.each([
    ["an http origin", { APP_URL: "http://login.example" }, "http://login.example"],
    ["a loopback address", { APP_URL: "http://127.0.0.1:3000" }, "http://127.0.0.1:3000"],
    ["an https address", { APP_URL: "https://[::1]" }, "https://[::1]"],
    ["another origin than APP_URL's", { APP_URL: "https://login.example" }, "https://other.example"],
  ])("are not there on %s, and neither page shows anything of it", async (_, environment, origin) => {
    latchkey.configure(environment);
    const facts = { origin };
    await latchkey.unchanged(async () => {
      const { status, cookies } = await ask("sign-in", { facts });
      expect({ status, cookies }).toEqual({ status: 404, cookies: {} });
    });
    expect(await openLogin("", { facts })).toMatchObject({ data: { passkeys: false } });
    const cookie = origin.startsWith("https") ? `__Host-${session}` : session;
    expect(await openAccount(cookie, { facts })).toMatchObject({ status: 200, data: { passkeys: null } });
  });
});

describe("adding", () => {
  test("stores the key with the browser's name, keeps the sessions, and tells the owner", async () => {
    const before = await latchkey.execute("select * from sessions");
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
    expect(await challenges()).toEqual([]);
    expect(await latchkey.execute("select * from sessions")).toEqual(before);
    expect(latchkey.events()).toEqual([{ event: "passkey.added" }]);
    await latchkey.drain();
    expect(latchkey.mails()).toMatchObject([{ to: "ada@example.com", subject: "A passkey was added" }]);
  });

  test("takes the typed name, or the browser's if it is invalid", async () => {
    await addPasskey(authenticator, session, { name: " My key " });
    await addPasskey(new Authenticator(), session, { name: "a\nb" });
    await addPasskey(new Authenticator(), session, { name: "" });
    expect((await rows()).map(({ name }) => name)).toEqual(["My key", "An unknown browser", "An unknown browser"]);
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
    ["a certificate", { fmt: "packed", attStmt: new Map<string, unknown>([["alg", -7], ["sig", new Uint8Array(8)], ["x5c", [new Uint8Array(8)]]]) }], // biome-ignore format: one line
  ];

  test.each(refusals)("with %s is refused, and its challenge is used up", async (_, changes) => {
    const asked = await ask("add", { cookie: session });
    const answer = authenticator.create(asked.options, changes);
    await refuse(() => act(asked.cookie, "add-passkey", { passkey: answer }), "not_verified");
    expect(await challenges()).toEqual([]);
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

  test("with an RSA key of 2,048 to 4,096 bits stores it, and it signs in", async () => {
    const coseKey = rs256({ n: bits(4_096), e: "AQAB" });
    expect(await addPasskey(authenticator, session, { coseKey })).toMatchObject({ status: 200 });
    const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2_048 });
    expect(await addPasskey(authenticator, session, { privateKey })).toMatchObject({ status: 200 });
    expect(await signInBy(authenticator)).toMatchObject({ status: 302, location: "/dashboard" });
  });

  test("with a challenge of another session, another browser, a sign-in, or a used or expired one is refused", async () => {
    const bob = await latchkey.signedIn({ email: "bob@example.com" });
    const bobs = await ask("add", { cookie: bob });
    const asked = await ask("add", { cookie: session });
    const toSignIn = await ask("sign-in", { cookie: session });
    const answerTo =
      (cookie: string, { options }: typeof asked) =>
      () =>
        act(cookie, "add-passkey", { passkey: authenticator.create({ ...asked.options, ...options }) });
    await refuse(answerTo(bobs.cookie, asked), "challenge");
    await refuse(answerTo(asked.cookie, bobs), "challenge");
    await refuse(answerTo(session, asked), "challenge");
    await refuse(answerTo(toSignIn.cookie, toSignIn), "challenge");

    await answerTo(asked.cookie, asked)();
    await refuse(answerTo(asked.cookie, asked), "challenge");
    const late = await ask("add", { cookie: session });
    passMinutes(5.01);
    await refuse(answerTo(late.cookie, late), "challenge");
  });

  test("a credential that is registered already, for anybody, is refused", async () => {
    await addPasskey(authenticator, session);
    const id = authenticator.credentials[0]!.id;
    const bob = await latchkey.signedIn({ email: "bob@example.com" });
    const asked = await ask("add", { cookie: bob });
    const answer = new Authenticator().create(asked.options, { id });
    await refuse(() => act(asked.cookie, "add-passkey", { passkey: answer }), "known");
  });

  test("stops at 20", async () => {
    for (let count = 0; count < 20; count++) await addPasskey(authenticator, session);
    expect(await openAccount(session)).toMatchObject({ data: { passkeys: { newName: null } } });
    expect((await addPasskey(authenticator, session)).status).toBe(422);
    expect(await rows()).toHaveLength(20);
  });
});

describe("a passkey without a click", () => {
  const unattended = { userPresent: false, userVerified: false };
  const upgradeWith = (answer: string, cookie: string) =>
    call(passkey.action, post("/auth/passkey", { purpose: "upgrade", passkey: answer }, { cookie }));

  test("asks for no verification, is stored without it and mailed; a sign-in with it needs verification", async () => {
    const asked = await ask("upgrade", { cookie: session });
    expect(asked.options.authenticatorSelection).toMatchObject({
      residentKey: "required",
      userVerification: "preferred",
    });
    const answer = authenticator.create(asked.options, unattended);
    expect((await upgradeWith(answer, asked.cookie)).status).toBe(204);
    expect(await rows()).toMatchObject([{ user_id: userId, name: "An unknown browser", user_verified: false }]);
    expect(latchkey.events()).toEqual([{ event: "passkey.added" }]);
    await latchkey.drain();
    expect(latchkey.mails()).toMatchObject([{ to: "ada@example.com", subject: "A passkey was added" }]);

    await expectNoSignIn("not_verified", { userVerified: false });
    expect(await signInBy(authenticator)).toMatchObject({ status: 302, location: "/dashboard" });
  });

  test("is stored with the verification that it had", async () => {
    const asked = await ask("upgrade", { cookie: session });
    await upgradeWith(authenticator.create(asked.options, { userPresent: false }), asked.cookie);
    expect(await rows()).toMatchObject([{ user_verified: true }]);
  });

  test("is for an account without one, also where one was added meanwhile", async () => {
    const asked = await ask("upgrade", { cookie: session });
    await addPasskey(authenticator, session);
    await latchkey.drain();
    await latchkey.unchanged(async () => {
      expect(await ask("upgrade", { cookie: session })).toMatchObject({ status: 403, options: null });
    }, "rate_limits");
    const answer = new Authenticator().create(asked.options, unattended);
    const refused = await latchkey.unchanged(() => upgradeWith(answer, asked.cookie), "passkey_challenges");
    expect(refused.status).toBe(422);
  });

  test("needs a recent sign-in, and is not for a user who was suspended meanwhile", async () => {
    const asked = await ask("upgrade", { cookie: session });
    const answer = authenticator.create(asked.options, unattended);
    await latchkey.execute("update sessions set created_at = now() - interval '16 minutes'");
    await latchkey.unchanged(async () => {
      expect(await ask("upgrade", { cookie: session })).toMatchObject({ status: 403 });
      expect(await upgradeWith(answer, asked.cookie)).toMatchObject({ status: 403 });
    });
    await latchkey.execute("update sessions set created_at = now()");
    await suspendUser(userId);
    await latchkey.drain();
    await latchkey.unchanged(async () => {
      for (const browser of [{ cookie: session }, {}]) {
        expect(await ask("upgrade", browser)).toMatchObject({ status: 403 });
      }
      expect(await upgradeWith(answer, asked.cookie)).toMatchObject({ status: 403 });
    });
  });

  test("does not answer the options of the button, nor the other way round", async () => {
    const byButton = await ask("add", { cookie: session });
    const asked = await ask("upgrade", { cookie: session });
    const attended = authenticator.create(byButton.options);
    const answer = authenticator.create(asked.options);
    await latchkey.unchanged(async () => {
      expect(await upgradeWith(attended, byButton.cookie)).toMatchObject({ status: 422 });
      expect(await act(asked.cookie, "add-passkey", { passkey: answer })).toMatchObject({ status: 422 });
    });
    expect(latchkey.events().map(({ reason }) => reason)).toEqual(["challenge", "challenge"]);
  });
});

describe("signing in", () => {
  beforeEach(async () => {
    await addPasskey(authenticator, session);
    await latchkey.drain();
  });

  test("starts a session that ends where a login ends, and notes when and how the passkey was used", async () => {
    authenticator.counter = 7;
    const signedIn = await signInBy(authenticator);
    expect(signedIn).toMatchObject({ status: 302, location: "/dashboard" });
    expect(signedIn.cookies).toEqual({
      session: expect.stringMatching(/./),
      last_sign_in: "passkey",
      device: expect.stringMatching(/./),
    });
    expect(await rows()).toMatchObject([{ counter: "7", last_used_at: expect.anything() }]);
    expect(latchkey.events().at(-1)).toEqual({ event: "passkey.succeeded" });
    expect(await openAccount(`session=${signedIn.cookies.session}`)).toMatchObject({
      data: { user: { email: "ada@example.com" }, signInAgain: false },
    });
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

  test("on the login host of a SESSION_DOMAIN is for that host, and its session for the domain", async () => {
    latchkey.configure({ APP_URL: "https://login.example.org", SESSION_DOMAIN: "example.org" });
    const facts = { origin: "https://login.example.org" };
    const own = new Authenticator("https://login.example.org");
    const adding = await ask("add", { cookie: session.replace("session", "__Secure-session"), facts });
    expect(adding.options.rp.id).toBe("login.example.org");
    expect(adding.headers.getSetCookie()).toEqual([
      expect.stringMatching(/^__Host-passkey=[0-9a-f]{64}; HttpOnly; Max-Age=300; Path=\/; SameSite=Lax; Secure$/),
    ]);
    const added = await act(adding.cookie, "add-passkey", { passkey: own.create(adding.options) }, { facts });
    expect(added.status).toBe(200);
    const { headers: answered } = await signInBy(own, {}, { facts });
    expect(answered.getSetCookie()[0]).toMatch(/^__Secure-session=[0-9a-f]{64}; Domain=example\.org; /);
    const sibling = await ask("sign-in", { facts });
    const imitated = own.get(sibling.options, { origin: "https://app.example.org", rpId: "example.org" });
    expect(await answerWith(imitated, { cookie: sibling.cookie, facts })).toMatchObject(refusal);
  });

  test("in a new browser is told to the owner, and in a known one is not", async () => {
    const signedIn = await signInBy(authenticator);
    await latchkey.drain();
    const mails = latchkey.mails().slice(1);
    expect(mails).toMatchObject([{ subject: "New sign-in to your account" }]);
    expect(mails[0]?.text).toContain("signed in to your account with a passkey");
    await signInBy(authenticator, {}, { cookie: `device=${signedIn.cookies.device}` });
    expect(await latchkey.jobs()).toEqual([]);
  });

  const refusals: [string, Changes, string][] = [
    ["another origin", { origin: "https://evil.example" }, "not_verified"],
    ["another RP ID", { rpId: "evil.example" }, "not_verified"],
    ["no user verification", { userVerified: false }, "not_verified"],
    ["an answer to a registration", { type: "webauthn.create" }, "not_verified"],
    ["a frame of another origin", { crossOrigin: "https://evil.example" }, "not_verified"],
    ["another user's handle", { userHandle: "AAAA" }, "not_verified"],
    ["an unknown credential", { id: Buffer.alloc(32, 1) }, "unknown"],
  ];

  test("in a browser that is signed in to another account switches to the passkey's account", {
    tags: "CVE-2026-82466",
  }, async () => {
    const cookie = await latchkey.signedIn({ email: "bob@example.com" });
    const { cookies } = await signInBy(authenticator, {}, { cookie });
    expect(await openAccount(`session=${cookies.session}`)).toMatchObject({
      data: { user: { email: "ada@example.com" } },
    });
    expect(await openAccount(cookie)).toMatchObject({ location: "/login" });
  });

  test.each(refusals)(
    "with %s is refused, and its challenge is used up",
    { tags: "GHSA-h4fw-6r7f-w494" },
    async (_, changes, reason) => {
      await expectNoSignIn(reason, changes);
      expect(await challenges()).toEqual([]);
    },
  );

  test("with a wrong signature is answered as an unknown credential is, in every header and byte", async () => {
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

  test("with a challenge of another browser, of adding, or a used or expired one is refused", async () => {
    const asked = await ask("sign-in");
    const others = await ask("sign-in");
    const adding = await ask("add", { cookie: session });
    const answerTo =
      (cookie: string, { options }: typeof asked) =>
      () =>
        answerWith(authenticator.get(options), { cookie });
    await expectRefused(answerTo(others.cookie, asked), "challenge");
    await expectRefused(answerTo("", asked), "challenge");
    await expectRefused(answerTo(`${asked.cookie}; ${others.cookie}`, asked), "challenge");
    await expectRefused(answerTo(adding.cookie, adding), "challenge");

    expect(await answerTo(asked.cookie, asked)()).toMatchObject({ status: 302 });
    await expectRefused(answerTo(asked.cookie, asked), "challenge");
    passMinutes(5.01);
    await expectRefused(answerTo(others.cookie, others), "challenge");
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

  test("with a counter that went back is refused, and the event names the account; a counter of 0 is ignored", async () => {
    expect(await signInBy(authenticator, { counter: 0 })).toMatchObject({ status: 302 });
    expect(await signInBy(authenticator, { counter: 4_294_967_294 })).toMatchObject({ status: 302 });
    for (const counter of [4_294_967_294, 3, 0]) {
      await expectNoSignIn("counter", { counter });
      expect(JSON.parse(latchkey.logLines().at(-1) ?? "")).toMatchObject({ userId });
    }
    expect(await signInBy(authenticator, { counter: 4_294_967_295 })).toMatchObject({ status: 302 });
  });

  test("of a suspended account is refused like an unknown one, and works again after its restoration", async () => {
    await suspendUser(userId);
    await expectNoSignIn("suspended");
    await restoreUser(userId);
    expect(await signInBy(authenticator)).toMatchObject({ status: 302, location: "/dashboard" });
  });

  test("of a deleted account is unknown", async () => {
    expect(await act(session, "delete-account", { email: "ada@example.com" })).toMatchObject({ status: 302 });
    expect(await rows()).toEqual([]);
    await expectNoSignIn("unknown");
  });

  test("works after a reset, whose mail says how many passkeys there are", async () => {
    const link = await resetLink(latchkey, "ada@example.com");
    expect(latchkey.mails().at(-1)?.text).toContain("Your account has passkeys (1).");
    await resetWith(link, newPassword);
    expect(await signInBy(authenticator)).toMatchObject({ status: 302, location: "/dashboard" });
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

  test("fails a hundred times for a client in a quarter of an hour, whatever the passkey, and successes do not count", async () => {
    const facts = { client: "192.0.2.1" };
    const fail = () => signInBy(authenticator, { userHandle: "AAAA" }, { facts });
    for (let count = 0; count < 99; count++) await fail();
    for (let count = 0; count < 3; count++) {
      expect(await signInBy(authenticator, {}, { facts })).toMatchObject({ status: 302 });
    }
    expect(await fail()).toMatchObject({ status: 422 });
    const throttled = await signInBy(authenticator, {}, { facts });
    expect(throttled).toMatchObject({ status: 429, data: { message: expect.stringContaining("Too many attempts.") } });
    expect(throttled.headers.get("Retry-After")).toMatch(/^\d+$/);
    expect(latchkey.events().at(-1)).toEqual({ event: "login.throttled" });
    expect(await signInBy(authenticator)).toMatchObject({ status: 302 });

    // The owner's browser has signed in before: nobody else in this network can keep it out.
    const { cookies } = await signInBy(authenticator);
    const cookie = `device=${cookies.device}`;
    expect(await signInBy(authenticator, {}, { facts, cookie })).toMatchObject({ status: 302 });
    for (const device of ["0".repeat(64), "device"]) {
      const unknown = await signInBy(authenticator, {}, { facts, cookie: `device=${device}` });
      expect(unknown).toMatchObject({ status: 429 });
    }
  });

  test("fails ten times in a quarter of an hour in a browser with a device, and counts for nobody else", async () => {
    const { cookies } = await logIn();
    const cookie = `device=${cookies.device}`;
    await latchkey.execute("delete from rate_limits");
    for (let count = 0; count < 10; count++) {
      expect(await signInBy(authenticator, { userHandle: "AAAA" }, { cookie })).toMatchObject({ status: 422 });
    }
    expect(await signInBy(authenticator, {}, { cookie })).toMatchObject({ status: 429 });
    const counted = await latchkey.execute<{ key: string }>("select key from rate_limits order by key");
    const device = sha256(cookies.device ?? "");
    expect(counted.map(({ key }) => key)).toEqual([`login:device:${device}`, `passkey:owner:${device}`]);
    expect(await signInBy(authenticator)).toMatchObject({ status: 302 });
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
    await addPasskey(authenticator, session);
    await latchkey.drain();
  });

  test("ends every other session, gives this one a new token, and tells the owner", async () => {
    const signedIn = await signInBy(authenticator);
    await latchkey.drain();
    const removed = await remove();
    expect(removed).toMatchObject({ status: 302, location: "/dashboard?notice=sessions_ended" });
    expect(await rows()).toEqual([]);
    expect(await openAccount(`session=${removed.cookies.session}`)).toMatchObject({ status: 200 });
    for (const old of [session, `session=${signedIn.cookies.session}`]) {
      expect(await openAccount(old)).toMatchObject({ status: 302, location: "/login" });
    }
    expect(latchkey.events().slice(-2)).toEqual([
      { event: "passkey.removed" },
      { event: "session.ended", reason: "passkey_removed" },
    ]);
    await latchkey.drain();
    expect(latchkey.mails().at(-1)).toMatchObject({ to: "ada@example.com", subject: "A passkey was removed" });
    await expectNoSignIn("unknown");
  });

  test("that of another account, or an unknown one, changes nothing", async () => {
    const bob = await latchkey.signedIn({ email: "bob@example.com" });
    await latchkey.unchanged(async () => {
      expect(await remove(bob)).toMatchObject({ status: 422 });
      expect(await remove(session, "\u0000' or 1=1")).toMatchObject({ status: 422 });
    });
  });

  test("the last way in is refused; with another passkey, a password or the provider it is not", async () => {
    await latchkey.execute("update users set password_hash = null");
    const refused = await latchkey.unchanged(() => remove());
    const passkey = "This is the only way into your account: add another one first.";
    expect(refused).toMatchObject({ status: 422, data: { errors: { passkey } } });

    await addPasskey(new Authenticator(), session);
    const removed = await remove();
    expect(removed).toMatchObject({ status: 302 });
    const [last] = await rows();
    const kept = `session=${removed.cookies.session}`;
    expect(await remove(kept, last?.credential_id)).toMatchObject({ status: 422 });
    await latchkey.execute("update users set idp_id = '1001', idp_issuer = 'google'");
    expect(await remove(kept, last?.credential_id)).toMatchObject({ status: 422 });
    latchkey.configure(google);
    expect(await remove(kept, last?.credential_id)).toMatchObject({ status: 302 });
  });

  test("the provider of an account without a password is possible while there is a passkey", async () => {
    await latchkey.execute("update users set password_hash = null, idp_id = '1001', idp_issuer = 'google'");
    latchkey.configure({ ...google, APP_URL: "http://127.0.0.1" });
    expect(await act(session, "unlink-provider")).toMatchObject({ status: 422 });
    latchkey.configure(google);
    expect(await act(session, "unlink-provider")).toMatchObject({ status: 302 });
    expect(await signInBy(authenticator)).toMatchObject({ status: 302, location: "/dashboard" });
  });

  test("of the last two in two sessions at once leaves one", async () => {
    await latchkey.execute("update users set password_hash = null");
    const second = new Authenticator();
    await addPasskey(second, session);
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
      newName: "An unknown browser",
      offered: false,
      upgradable: false,
      account: { rpId: "localhost", userId: expect.stringMatching(/^[\w-]{22}$/) },
    });
  });

  test("offers one after a login with a password, once in a browser, unless the account has one", async () => {
    const { cookies } = await logIn();
    const cookie = `session=${cookies.session}; device=${cookies.device}`;
    const opened = await openAccount(cookie);
    expect(opened.data.passkeys.offered).toBe(true);
    expect(opened.headers.getSetCookie()).toEqual([
      expect.stringMatching(/^passkey-offered=\d{13}; HttpOnly; Max-Age=34560000; Path=\/; SameSite=Lax$/),
    ]);
    expect(await offer(`${cookie}; passkey-offered=1`)).toBe(false);
    expect(await offer(`session=${cookies.session}`)).toBe(false);
    await addPasskey(authenticator, cookie);
    expect(await offer(cookie)).toBe(false);
  });

  test("lets the browser create none after the removal of one: it would come back at once", async () => {
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

  test("lets the browser create one after a recent login with a password, for an account without one", async () => {
    const upgradable = async (cookie: string) => (await openAccount(cookie)).data.passkeys.upgradable;
    const byPassword = `${session}; last_sign_in=password`;
    expect(await upgradable(byPassword)).toBe(true);
    expect(await upgradable(`${session}; last_sign_in=provider`)).toBe(false);
    expect(await upgradable(session)).toBe(false);
    await latchkey.execute("update sessions set created_at = now() - interval '16 minutes'");
    expect(await upgradable(byPassword)).toBe(false);
    await latchkey.execute("update sessions set created_at = now()");
    await addPasskey(authenticator, session);
    expect(await upgradable(byPassword)).toBe(false);
  });
});
