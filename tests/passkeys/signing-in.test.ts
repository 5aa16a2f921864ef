import { beforeEach, describe, expect, test } from "vitest";
import { restoreUser, suspendUser } from "#server/features/operator/user-access";
import * as passkey from "~/routes/auth.passkey";
import { act, logIn, openAccount, resetWith } from "../support/account-calls";
import { Authenticator, type Changes } from "../support/authenticator";
import { startLatchkey } from "../support/latchkey";
import { resetLink } from "../support/mailed-links";
import {
  ageChallenges,
  answerWith,
  ask,
  expectNoSignIn,
  expectRefused,
  passkeyChallenges,
  passkeyOwner,
  passkeyRows,
  refusedSignIn,
  signInBy,
  storePasskey,
} from "../support/passkeys";
import { newPassword } from "../support/passwords";
import { call, type Outcome, post } from "../support/route-calls";
import { sha256 } from "../support/sha256";

const latchkey = startLatchkey();

const owner = passkeyOwner(latchkey);

describe("signing in", () => {
  beforeEach(async () => {
    await storePasskey(owner.authenticator, owner.userId);
  });

  test("starts a session", async () => {
    const signedIn = await signInBy(owner.authenticator);
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
    owner.authenticator.counter = 7;
    await signInBy(owner.authenticator);
    expect(await passkeyRows()).toMatchObject([{ counter: "7", last_used_at: expect.anything() }]);
  });

  test.each(["add", "register", ""])("with the purpose %j starts no session", async (purpose) => {
    const asked = await ask("sign-in");
    const fields = { purpose, passkey: owner.authenticator.get(asked.options) };
    const { cookie } = asked;
    const refused = await latchkey.unchanged(() => call(passkey.action, post("/auth/passkey", fields, { cookie })));
    expect(refused.status).toBe(422);
    expect(refused.cookies).toEqual({});
  });

  test("carries return_to", async () => {
    const asked = await ask("sign-in");
    const form = { passkey: owner.authenticator.get(asked.options) };
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
      const adding = await ask("add", { cookie: owner.session.replace("session", "__Secure-session"), facts });
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
      expect(await answerWith(imitated, { cookie: sibling.cookie, facts })).toMatchObject(refusedSignIn);
    });
  });

  test("in a new browser is told to the owner", async () => {
    await signInBy(owner.authenticator);
    await latchkey.drain();
    const mails = latchkey.mails();
    expect(mails).toMatchObject([{ subject: "New sign-in to your account" }]);
    expect(mails[0]?.text).toContain("signed in to your account with a passkey");
  });

  test("in a known browser is not told to the owner", async () => {
    const { cookies } = await signInBy(owner.authenticator);
    await latchkey.drain();
    await signInBy(owner.authenticator, {}, { cookie: `device=${cookies.device}` });
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
      done = await signInBy(owner.authenticator, {}, { cookie: before });
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
    test("is refused", { tags: "GHSA-h4fw-6r7f-w494" }, () =>
      expectNoSignIn(latchkey, owner.authenticator, reason, changes),
    );

    test("uses the challenge up", { tags: "GHSA-h4fw-6r7f-w494" }, async () => {
      await signInBy(owner.authenticator, changes);
      expect(await passkeyChallenges()).toEqual([]);
    });
  });

  test("with a wrong signature is answered exactly as an unknown credential is", async () => {
    const asked = await ask("sign-in");
    const { response, ...answer } = JSON.parse(owner.authenticator.get(asked.options));
    const signature = `A${response.signature.slice(1)}`;
    const wrong = JSON.stringify({ ...answer, response: { ...response, signature } });
    const refused = await answerWith(wrong, { cookie: asked.cookie });
    expect(latchkey.events().at(-1)).toEqual({ event: "passkey.failed", reason: "not_verified" });
    const unknown = await signInBy(owner.authenticator, { id: Buffer.alloc(16) });
    expect(latchkey.events().at(-1)).toEqual({ event: "passkey.failed", reason: "unknown" });
    expect(refused).toMatchObject(refusedSignIn);
    expect(refused.cookies).toEqual({});
    expect([...refused.headers]).toEqual([...unknown.headers]);
    expect(refused).toEqual(unknown);
  });

  describe("is refused with a challenge", () => {
    let asked: Awaited<ReturnType<typeof ask>>;

    beforeEach(async () => {
      asked = await ask("sign-in");
    });

    const answer = (cookie: string, { options }: typeof asked) =>
      answerWith(owner.authenticator.get(options), { cookie });

    test("of another browser", async () => {
      const others = await ask("sign-in");
      await expectRefused(latchkey, () => answer(others.cookie, asked), "challenge");
    });

    test("in a browser without its cookie", async () => {
      await expectRefused(latchkey, () => answer("", asked), "challenge");
    });

    test("in a browser with two cookies of challenges", async () => {
      const others = await ask("sign-in");
      await expectRefused(latchkey, () => answer(`${asked.cookie}; ${others.cookie}`, asked), "challenge");
    });

    test("of adding", async () => {
      const adding = await ask("add", { cookie: owner.session });
      await expectRefused(latchkey, () => answer(adding.cookie, adding), "challenge");
    });

    test("that was used", async () => {
      expect(await answer(asked.cookie, asked)).toMatchObject({ status: 302 });
      await expectRefused(latchkey, () => answer(asked.cookie, asked), "challenge");
    });

    test("that has expired", async () => {
      await ageChallenges(5.01);
      await expectRefused(latchkey, () => answer(asked.cookie, asked), "challenge");
    });
  });

  test("of several tabs of one browser works in each", async () => {
    const first = await ask("sign-in");
    const second = await ask("sign-in", { cookie: first.cookie });
    expect(second.cookies.passkey).toBe(first.cookies.passkey);
    for (const { options } of [first, second]) {
      expect(await answerWith(owner.authenticator.get(options), { cookie: first.cookie })).toMatchObject({
        status: 302,
      });
    }
  });

  test("works once of two simultaneous posts of one answer", async () => {
    const asked = await ask("sign-in");
    const answer = owner.authenticator.get(asked.options);
    const both = await Promise.all([1, 2].map(() => answerWith(answer, { cookie: asked.cookie })));
    expect(both.map(({ status }) => status).sort()).toEqual([302, 422]);
  });

  test("with a counter of 0 works while no other was seen", async () => {
    for (let time = 0; time < 2; time++) {
      expect(await signInBy(owner.authenticator, { counter: 0 })).toMatchObject({ status: 302 });
    }
  });

  describe("after a counter near its end", () => {
    beforeEach(async () => {
      expect(await signInBy(owner.authenticator, { counter: 4_294_967_294 })).toMatchObject({ status: 302 });
    });

    test.each([4_294_967_294, 3, 0])("with the counter %i is refused", async (counter) => {
      await expectNoSignIn(latchkey, owner.authenticator, "counter", { counter });
    });

    test("is logged with the account when it is refused", async () => {
      await signInBy(owner.authenticator, { counter: 3 });
      expect(JSON.parse(latchkey.logLines().at(-1) ?? "")).toMatchObject({ userId: owner.userId });
    });

    test("with a higher counter works", async () => {
      expect(await signInBy(owner.authenticator, { counter: 4_294_967_295 })).toMatchObject({ status: 302 });
    });

    test("with a higher counter works after a refused one", async () => {
      await signInBy(owner.authenticator, { counter: 3 });
      expect(await signInBy(owner.authenticator, { counter: 4_294_967_295 })).toMatchObject({ status: 302 });
    });
  });

  test("of a suspended account is refused as an unknown passkey is", async () => {
    await suspendUser(owner.userId);
    await expectNoSignIn(latchkey, owner.authenticator, "suspended");
  });

  test("of a restored account works again", async () => {
    await suspendUser(owner.userId);
    await restoreUser(owner.userId);
    expect(await signInBy(owner.authenticator)).toMatchObject({ status: 302, location: "/dashboard" });
  });

  test("of a deleted account is unknown", async () => {
    expect(await act(owner.session, "delete-account", { email: "ada@example.com" })).toMatchObject({ status: 302 });
    expect(await passkeyRows()).toEqual([]);
    await expectNoSignIn(latchkey, owner.authenticator, "unknown");
  });

  test("works after a reset", async () => {
    await resetWith(await resetLink(latchkey, "ada@example.com"), newPassword);
    expect(await signInBy(owner.authenticator)).toMatchObject({ status: 302, location: "/dashboard" });
  });

  test("is mentioned with the number of passkeys by the mail of a reset", async () => {
    await resetLink(latchkey, "ada@example.com");
    expect(latchkey.mails().at(-1)?.text).toContain("Your account has passkeys (1).");
  });

  test("works after a change of address", async () => {
    await latchkey.execute("update users set email = 'new@example.com'");
    const { cookies } = await signInBy(owner.authenticator);
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
    const fail = () => signInBy(owner.authenticator, { userHandle: "AAAA" }, { facts });

    beforeEach(() => latchkey.countUp("login:client:192.0.2.1", 99));

    test("fails once more", async () => {
      expect(await fail()).toMatchObject({ status: 422 });
      expect(await fail()).toMatchObject({ status: 429 });
    });

    test("works without being counted", async () => {
      for (let count = 0; count < 3; count++) {
        expect(await signInBy(owner.authenticator, {}, { facts })).toMatchObject({ status: 302 });
      }
      expect(await fail()).toMatchObject({ status: 422 });
    });
  });

  describe("after a hundred failures of a client", () => {
    const facts = { client: "192.0.2.1" };

    beforeEach(() => latchkey.countUp("login:client:192.0.2.1", 100));

    test("is 429 with the time to wait", async () => {
      const throttled = await signInBy(owner.authenticator, {}, { facts });
      const data = { message: expect.stringContaining("Too many attempts.") };
      expect(throttled).toMatchObject({ status: 429, data });
      expect(throttled.headers.get("Retry-After")).toMatch(/^\d+$/);
      expect(latchkey.events().at(-1)).toEqual({ event: "login.throttled" });
    });

    test("works for another client", async () => {
      expect(await signInBy(owner.authenticator)).toMatchObject({ status: 302 });
    });

    test("works in a known browser of the same network", async () => {
      const { cookies } = await signInBy(owner.authenticator);
      const cookie = `device=${cookies.device}`;
      expect(await signInBy(owner.authenticator, {}, { facts, cookie })).toMatchObject({ status: 302 });
    });

    test.each(["0".repeat(64), "device"])("is 429 with the unknown device %s", async (device) => {
      const unknown = await signInBy(owner.authenticator, {}, { facts, cookie: `device=${device}` });
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
        expect(await signInBy(owner.authenticator, { userHandle: "AAAA" }, { cookie })).toMatchObject({ status: 422 });
      }
    });

    test("is 429 in this browser", async () => {
      expect(await signInBy(owner.authenticator, {}, { cookie: `device=${device}` })).toMatchObject({ status: 429 });
    });

    test("is counted for nobody else", async () => {
      const counted = await latchkey.execute<{ key: string }>("select key from rate_limits order by key");
      const hash = sha256(device);
      expect(counted.map(({ key }) => key)).toEqual([`login:device:${hash}`, `passkey:owner:${hash}`]);
      expect(await signInBy(owner.authenticator)).toMatchObject({ status: 302 });
    });
  });

  test("without a challenge of this browser counts for nobody", async () => {
    const asked = await ask("sign-in");
    const answers = ["", "{}", owner.authenticator.get({ challenge: "AAAA" }), owner.authenticator.get(asked.options)];
    await latchkey.unchanged(async () => {
      for (const answer of answers) expect(await answerWith(answer)).toMatchObject(refusedSignIn);
      expect(await answerWith("{}", { cookie: asked.cookie })).toMatchObject(refusedSignIn);
    });
  });
});
