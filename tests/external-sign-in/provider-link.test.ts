import nock from "nock";
import { beforeEach, describe, expect, test } from "vitest";
import { fillMissingIssuers } from "#server/accounts/provider/provider-identities";
import { connectProvider } from "#server/features/owner/provider-link";
import * as start from "~/routes/auth.idp._index";
import * as dashboard from "~/routes/dashboard";
import { act, openAccount } from "../support/account-calls";
import { connectCookie, ownState } from "../support/cookies";
import { comeBack, google, googleAnswers, signInWithGoogle } from "../support/google-sign-in";
import { startLatchkey } from "../support/latchkey";
import { call, get, type Outcome } from "../support/route-calls";
import { sha256 } from "../support/sha256";

const latchkey = startLatchkey(google);
const ada = { sub: "1001", email: "ada@example.com", email_verified: true };

interface UserRow {
  id: string;
  email: string;
  idp_id: string | null;
  idp_issuer: string | null;
  idp_blocked_at: string | null;
}

const users = () => latchkey.execute<UserRow>("select * from users order by email");

const cookiesOf = ({ cookies }: Outcome) =>
  Object.entries(cookies)
    .map((pair) => pair.join("="))
    .join("; ");

const stateOf = (outcome: Outcome) => new URL(outcome.location ?? "").searchParams.get("state") ?? "";

/** Connects the provider on the account page with this session. */
async function connect(profile: object, session: string): Promise<Outcome> {
  const started = await act(session, "connect-provider");
  googleAnswers(profile);
  return comeBack({ code: "c", state: stateOf(started) }, `${session}; ${cookiesOf(started)}`);
}

describe("disconnecting", () => {
  test("removes the id, blocks linking by address, ends every other session and sends a mail to the owner", async () => {
    const id = await latchkey.createUser({ idpId: "1001" });
    const cookie = await latchkey.signedIn(id);
    await latchkey.signedIn(id);
    const bob = await latchkey.createUser({ email: "bob@example.com" });
    await latchkey.signedIn(bob);

    const { location, cookies } = await act(cookie, "unlink-provider");
    expect(location).toBe("/dashboard?notice=idp_disconnected");

    expect((await users())[0]).toMatchObject({ idp_id: null, idp_issuer: null, idp_blocked_at: expect.any(String) });
    const sessions = await latchkey.execute<{ user_id: string }>("select user_id from sessions");
    expect(sessions.map(({ user_id }) => user_id).sort()).toEqual([id, bob].sort());
    expect((await openAccount(`session=${cookies.session}`)).status).toBe(200);
    await latchkey.drain();
    expect(latchkey.mails()).toMatchObject([{ to: "ada@example.com", subject: "Sign-in with Google was removed" }]);
  });

  test("is refused with PASSWORDS=off to an owner with a passkey: a logout at the provider must reach the account", async () => {
    const cookie = await latchkey.signedIn({ idpId: "1001" });
    await latchkey.execute(`
      insert into passkeys (credential_id, user_id, public_key, counter, transports, backed_up, name, created_at)
      select 'key', id, '', 0, '{}', false, 'a key', now() from users`);
    latchkey.configure({ PASSWORDS: "off" });
    const { status, data } = await latchkey.unchanged(() => act(cookie, "unlink-provider"));
    expect([status, data.errors]).toEqual([
      422,
      { provider: "It cannot be disconnected: accounts come from this service." },
    ]);
  });

  test("sends its mail with a general name when external sign-in is off by then", async () => {
    const cookie = await latchkey.signedIn({ idpId: "1001" });
    await act(cookie, "unlink-provider");
    latchkey.configure({ IDP_CLIENT_ID: "", IDP_CLIENT_SECRET: "" });
    await latchkey.drain();
    expect(latchkey.mails()).toMatchObject([{ subject: "Sign-in with another service was removed" }]);
  });

  test("a later external sign-in with the verified address does not link the account again", {
    tags: "CVE-2026-92358",
  }, async () => {
    const cookie = await latchkey.signedIn({ idpId: "1001" });
    await act(cookie, "unlink-provider");
    await latchkey.drain();
    const refused = await latchkey.unchanged(() => signInWithGoogle(ada), "account_events");
    expect(refused).toMatchObject({ status: 302, location: "/login?notice=idp_failed" });
    expect(refused.cookies).toEqual({ oauth_state: "", idp_failure: "0..disconnected" });
    expect(latchkey.events().at(-1)).toEqual({ event: "idp.failed", reason: "disconnected" });
  });
});

describe("connecting", () => {
  let cookie: string;

  beforeEach(async () => {
    cookie = await latchkey.signedIn();
  });

  test("redirects to the consent screen with a new state and a second cookie for ten minutes", async () => {
    const started = await act(cookie, "connect-provider");
    expect(started.status).toBe(302);
    expect(started.location).toMatch(/^https:\/\/accounts\.google\.com\/o\/oauth2\/v2\/auth\?/);
    expect(started.headers.getSetCookie()).toEqual([
      `oauth_state=${stateOf(started)}; HttpOnly; Max-Age=600; Path=/auth/idp; SameSite=Lax`,
      expect.stringMatching(/^oauth_connect=[0-9a-f]{64}; HttpOnly; Max-Age=600; Path=\/auth\/idp; SameSite=Lax$/),
    ]);
  });

  test("stores the id even with another address in the profile, keeps the session and sends a mail to the owner", async () => {
    const before = await latchkey.execute("select * from sessions");
    const connected = await connect({ sub: "1001", email: "other@example.com", email_verified: false }, cookie);
    expect(connected).toMatchObject({ status: 302, location: "/dashboard?notice=idp_connected" });
    expect(connected.cookies).toEqual({ oauth_state: "", oauth_connect: "" });
    expect(latchkey.events()).toEqual([{ event: "idp.started" }, { event: "idp.linked" }]);
    expect(await users()).toMatchObject([{ email: "ada@example.com", idp_id: "1001", idp_issuer: "google" }]);
    expect(await latchkey.execute("select * from sessions")).toEqual(before);
    await latchkey.drain();
    expect(latchkey.mails()).toMatchObject([{ to: "ada@example.com", subject: "Sign-in with Google was added" }]);
  });

  test("after disconnecting removes the block, and external sign-in works again", async () => {
    await connect(ada, cookie);
    const { cookies } = await act(cookie, "unlink-provider");
    await connect(ada, `session=${cookies.session}`);
    expect(await users()).toMatchObject([{ idp_id: "1001", idp_blocked_at: null }]);
    expect((await signInWithGoogle(ada)).location).toBe("/dashboard");
  });

  test("is refused when external sign-in is off, and when the account is already linked", async () => {
    latchkey.configure({ IDP_CLIENT_ID: "", IDP_CLIENT_SECRET: "" });
    expect(await act(cookie, "connect-provider")).toMatchObject({ status: 422, location: null });
    latchkey.configure({});
    await connect(ada, cookie);
    const refused = await act(cookie, "connect-provider");
    expect(refused).toMatchObject({ status: 422, data: { errors: { provider: expect.any(String) } } });
  });

  async function expectRefused(
    cookies: (started: Outcome) => string,
    profile: object,
    location: string,
    state?: string,
  ) {
    const started = await act(cookie, "connect-provider");
    nock.cleanAll();
    googleAnswers(profile);
    const query = { code: "c", state: state ?? stateOf(started) };
    const refused = await latchkey.unchanged(() => comeBack(query, cookies(started)));
    expect(refused).toMatchObject({ status: 302, location });
    expect(Object.keys(refused.cookies)).not.toContain("session");
  }

  test("with another account's id or session changes nothing", {
    tags: ["CVE-2026-105207", "CVE-2026-15571"],
  }, async () => {
    const bob = await latchkey.createUser({ email: "bob@example.com", idpId: "1001" });
    const bobs = await latchkey.signedIn(bob);
    await expectRefused((started) => `${cookie}; ${cookiesOf(started)}`, ada, "/dashboard?notice=idp_failed");
    expect(latchkey.events().at(-1)).toEqual({ event: "idp.failed", reason: "id_of_another_account" });
    const free = { ...ada, sub: "2002" };
    await expectRefused((started) => `${bobs}; ${cookiesOf(started)}`, free, "/dashboard?notice=idp_failed");
    await expectRefused(cookiesOf, free, "/login?notice=idp_failed");
  });

  test("without a fitting oauth_connect is refused and changes nothing, not even as a sign-in", async () => {
    for (const planted of [sha256("planted"), "", "x"]) {
      const replaced = (started: Outcome) =>
        `${cookie}; oauth_state=${stateOf(started)}; oauth_connect=${planted}; oauth_connect=${planted}`;
      await expectRefused(replaced, ada, "/dashboard?notice=idp_failed");
      expect(latchkey.events().at(-1)).toEqual({ event: "idp.failed", reason: "another_session" });
    }
  });

  test("ends when the browser starts an external sign-in", async () => {
    const started = await act(cookie, "connect-provider");
    const sent = `${cookie}; oauth_connect=${started.cookies.oauth_connect}`;
    const signing = await call(start.loader, get("/auth/idp", { cookie: sent }));
    googleAnswers(ada);
    const done = await comeBack({ code: "c", state: stateOf(signing) }, `${sent}; ${cookiesOf(signing)}`);
    expect(done.location).toBe("/dashboard");
    expect(done.cookies).toMatchObject({ oauth_state: "", oauth_connect: "", session: expect.any(String) });
  });

  test("with a denied consent redirects to the account page with a notice", async () => {
    const started = await act(cookie, "connect-provider");
    const denied = await comeBack(
      { error: "access_denied", state: stateOf(started) },
      `${cookie}; ${cookiesOf(started)}`,
    );
    expect(denied).toMatchObject({ status: 302, location: "/dashboard?notice=idp_failed" });
    expect(denied.cookies).toEqual({ oauth_state: "", oauth_connect: "" });
    const page = await call(dashboard.loader, get("/dashboard?notice=idp_failed", { cookie }));
    expect(page.data).toMatchObject({ notice: "idp_failed" });
  });

  test("with cookies forged from a copied session cookie, after an old sign-in, is refused and changes nothing", async () => {
    await latchkey.execute("update sessions set created_at = created_at - interval '26 minutes'");
    const state = ownState("connect");
    const binding = connectCookie(state, cookie.replace("session=", ""));
    googleAnswers(ada);
    const forged = `${cookie}; oauth_state=${state}; oauth_connect=${binding}`;
    const refused = await latchkey.unchanged(() => comeBack({ code: "c", state }, forged));
    expect(latchkey.events()).toEqual([{ event: "idp.failed", reason: "sign_in_too_old" }]);
    expect(refused.location).toBe("/dashboard?notice=idp_failed");
  });

  test("after the session ended, or by an account that was linked meanwhile, is refused and changes nothing", async () => {
    const profile = { id: "1001", email: null, emailVerified: false, name: null, pictureUrl: null };
    const [session] = await latchkey.execute<{ id: string; user_id: string }>("select id, user_id from sessions");
    const owner = { userId: session!.user_id, sessionId: session!.id, language: "en" } as const;
    await latchkey.execute("update users set idp_id = '77', idp_issuer = 'google'");
    const ended = { ...owner, sessionId: crypto.randomUUID() };
    await latchkey.unchanged(async () => {
      await expect(connectProvider(owner, profile)).rejects.toMatchObject({ reason: "already_connected" });
      await expect(connectProvider(ended, profile)).rejects.toMatchObject({ reason: "another_session" });
    });
  });
});

describe("the issuer of an id", () => {
  test("is stored with the id, and added later when it is missing", { tags: "6.8.1" }, async () => {
    await latchkey.createUser({ idpId: "1001" });
    expect((await signInWithGoogle(ada)).location).toBe("/dashboard");
    expect(await users()).toMatchObject([{ idp_id: "1001", idp_issuer: "google" }]);
  });

  test("is added at a start to every id without one, and to no other user", async () => {
    await latchkey.createUser({ idpId: "1001" });
    await latchkey.createUser({ email: "bob@example.com" });
    await latchkey.createUser({ email: "eve@example.com", idpId: "1001" });
    await latchkey.execute("update users set idp_issuer = 'github' where email = 'eve@example.com'");
    await fillMissingIssuers(latchkey.em());
    expect((await users()).map(({ idp_issuer }) => idp_issuer)).toEqual(["google", null, "github"]);
  });

  test("an id of the configured issuer comes before the same id without an issuer", async () => {
    await latchkey.createUser({ email: "bob@example.com", idpId: "1001" });
    const id = await latchkey.createUser({ idpId: "1001" });
    await latchkey.execute("update users set idp_issuer = 'google' where id = ?", [id]);
    expect((await signInWithGoogle(ada)).location).toBe("/dashboard");
    expect(await latchkey.execute("select user_id from sessions")).toEqual([{ user_id: id }]);
    expect((await users()).map(({ idp_issuer }) => idp_issuer)).toEqual(["google", null]);
  });

  test("after a change of provider, the same id is another user", { tags: ["6.8.1", "10.5.2"] }, async () => {
    await latchkey.createUser({ email: "bob@example.com", password: null, idpId: "1001" });
    await latchkey.execute("update users set idp_issuer = 'github'");
    expect((await signInWithGoogle(ada)).location).toBe("/dashboard");
    expect(await users()).toMatchObject([
      { email: "ada@example.com", idp_id: "1001", idp_issuer: "google" },
      { email: "bob@example.com", idp_id: "1001", idp_issuer: "github" },
    ]);
  });

  test("after a change of provider, a sign-in with the account's verified address replaces the stored id", async () => {
    const id = await latchkey.createUser({ idpId: "77" });
    await latchkey.execute("update users set idp_issuer = 'github'");
    expect((await signInWithGoogle(ada)).location).toBe("/dashboard");
    expect(await users()).toMatchObject([{ id, idp_id: "1001", idp_issuer: "google" }]);
    await latchkey.drain();
    expect(latchkey.mails()).toMatchObject([{ subject: "Sign-in with Google was added" }]);
  });

  test("an id of another issuer than the configured one is shown as not connected on the account page", async () => {
    const cookie = await latchkey.signedIn({ idpId: "77" });
    await latchkey.execute("update users set idp_issuer = 'github'");
    expect((await openAccount(cookie)).data).toMatchObject({ user: { linked: false }, canConnect: true });
  });
});

test("a returning user's picture is updated from the profile, and kept when the profile has none", async () => {
  const picture = "https://pictures.example/new.png";
  await latchkey.createUser({ idpId: "1001" });
  await signInWithGoogle({ ...ada, picture });
  expect(await users()).toMatchObject([{ picture_url: picture }]);
  await signInWithGoogle(ada);
  expect(await users()).toMatchObject([{ picture_url: picture }]);
});
