import nock from "nock";
import { beforeEach, describe, expect, test } from "vitest";
import { fillMissingIssuers } from "#server/accounts/provider/provider-identities";
import { linkProvider } from "#server/features/owner/provider-link";
import * as start from "~/routes/auth.idp._index";
import * as dashboard from "~/routes/dashboard";
import { act, openAccount } from "../support/account-calls";
import { connectCookie, ownState } from "../support/cookies";
import { comeBack, discovers, google, googleAnswers, signInWithGoogle } from "../support/google-sign-in";
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

/** What the history tells of the provider's link. */
const toldOfLinks = () => latchkey.execute("select type, actor from account_events where type like 'idp.%'");

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
  describe("changes", () => {
    let owner: string;
    let bob: string;
    let done: Outcome;

    beforeEach(async () => {
      owner = await latchkey.createUser({ idpId: "1001" });
      const cookie = await latchkey.signedIn(owner);
      await latchkey.signedIn(owner);
      bob = await latchkey.createUser({ email: "bob@example.com" });
      await latchkey.signedIn(bob);
      done = await act(cookie, "unlink-provider");
      expect(done.location).toBe("/dashboard?notice=idp_disconnected");
    });

    test("the stored id to none that blocks linking by address", async () => {
      expect((await users())[0]).toMatchObject({ idp_id: null, idp_issuer: null, idp_blocked_at: expect.any(String) });
    });

    test("no session but the account's other ones", async () => {
      const sessions = await latchkey.execute<{ user_id: string }>("select user_id from sessions");
      expect(sessions.map(({ user_id }) => user_id).sort()).toEqual([owner, bob].sort());
      expect((await openAccount(`session=${done.cookies.session}`)).status).toBe(200);
    });

    test("are told in the history as the owner's", async () => {
      expect(await toldOfLinks()).toEqual([{ type: "idp.unlinked", actor: "owner" }]);
    });

    test("are mailed to the owner", async () => {
      await latchkey.drain();
      expect(latchkey.mails()).toMatchObject([{ to: "ada@example.com", subject: "Sign-in with Google was removed" }]);
    });
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

  test("redirects to the consent screen with a new state", async () => {
    const started = await act(cookie, "connect-provider");
    expect(started.status).toBe(302);
    expect(started.location).toMatch(/^https:\/\/accounts\.google\.com\/o\/oauth2\/v2\/auth\?/);
    expect(started.cookies.oauth_state).toBe(stateOf(started));
  });

  test("may lead to an authorization endpoint of another host than the issuer's, once it is discovered", async () => {
    const issuer = "https://issuer.example";
    latchkey.configure({ ...google, IDP_PROVIDER: "oidc", IDP_ISSUER: issuer });
    discovers(issuer, { authorization_endpoint: "https://consent.example/authorize" });
    expect((await openAccount(cookie)).formTargets).toEqual([issuer]);
    await act(cookie, "connect-provider");
    expect((await openAccount(cookie)).formTargets).toEqual(["https://consent.example"]);
  });

  test("sets two cookies for ten minutes", async () => {
    const started = await act(cookie, "connect-provider");
    expect(started.headers.getSetCookie()).toEqual([
      `oauth_state=${stateOf(started)}; HttpOnly; Max-Age=600; Path=/auth/idp; SameSite=Lax`,
      expect.stringMatching(/^oauth_connect=[0-9a-f]{64}; HttpOnly; Max-Age=600; Path=\/auth\/idp; SameSite=Lax$/),
    ]);
  });

  describe("with another address in the profile", () => {
    const connectOther = () => connect({ sub: "1001", email: "other@example.com", email_verified: false }, cookie);

    test("ends at the account page", async () => {
      const connected = await connectOther();
      expect(connected).toMatchObject({ status: 302, location: "/dashboard?notice=idp_connected" });
      expect(connected.cookies).toEqual({ oauth_state: "", oauth_connect: "" });
    });

    test("stores the id", async () => {
      await connectOther();
      expect(latchkey.events()).toEqual([{ event: "idp.started" }, { event: "idp.linked" }]);
      expect(await users()).toMatchObject([{ email: "ada@example.com", idp_id: "1001", idp_issuer: "google" }]);
    });

    test("keeps the session", async () => {
      const before = await latchkey.execute("select * from sessions");
      await connectOther();
      expect(await latchkey.execute("select * from sessions")).toEqual(before);
    });

    test("is told in the history as the owner's", async () => {
      await connectOther();
      expect(await toldOfLinks()).toEqual([{ type: "idp.linked", actor: "owner" }]);
    });

    test("sends a mail to the owner", async () => {
      await connectOther();
      await latchkey.drain();
      expect(latchkey.mails()).toMatchObject([{ to: "ada@example.com", subject: "Sign-in with Google was added" }]);
    });
  });

  test("after disconnecting lets external sign-in work again", async () => {
    await connect(ada, cookie);
    const { cookies } = await act(cookie, "unlink-provider");
    await connect(ada, `session=${cookies.session}`);
    expect(await users()).toMatchObject([{ idp_id: "1001", idp_blocked_at: null }]);
    expect((await signInWithGoogle(ada)).location).toBe("/dashboard");
  });

  test("is refused when external sign-in is off", async () => {
    latchkey.configure({ IDP_CLIENT_ID: "", IDP_CLIENT_SECRET: "" });
    expect(await act(cookie, "connect-provider")).toMatchObject({ status: 422, location: null });
  });

  test("is refused to an account that is already linked", async () => {
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
    return refused;
  }

  test("with another account's id changes nothing", { tags: ["CVE-2026-105207", "CVE-2026-15571"] }, async () => {
    await latchkey.createUser({ email: "bob@example.com", idpId: "1001" });
    const location = "/dashboard?notice=idp_failed";
    const refused = await expectRefused((started) => `${cookie}; ${cookiesOf(started)}`, ada, location);
    expect(latchkey.events().at(-1)).toEqual({ event: "idp.failed", reason: "id_of_another_account" });
    const page = await call(dashboard.loader, get(location, { cookie: `${cookie}; notice=${refused.cookies.notice}` }));
    expect(page.data).toMatchObject({ connectProblem: "takenIdentity" });
  });

  test("with another account's session changes nothing", {
    tags: ["CVE-2026-105207", "CVE-2026-15571"],
  }, async () => {
    const bobs = await latchkey.signedIn({ email: "bob@example.com" });
    await expectRefused((started) => `${bobs}; ${cookiesOf(started)}`, ada, "/dashboard?notice=idp_failed");
  });

  test("without a session changes nothing", { tags: ["CVE-2026-105207", "CVE-2026-15571"] }, async () => {
    await expectRefused(cookiesOf, ada, "/login?notice=idp_failed");
  });

  test.each([
    ["foreign", sha256("planted")],
    ["empty", ""],
    ["malformed", "x"],
  ])("with a %s oauth_connect changes nothing", async (_what, planted) => {
    const replaced = (started: Outcome) =>
      `${cookie}; oauth_state=${stateOf(started)}; oauth_connect=${planted}; oauth_connect=${planted}`;
    await expectRefused(replaced, ada, "/dashboard?notice=idp_failed");
    expect(latchkey.events().at(-1)).toEqual({ event: "idp.failed", reason: "another_session" });
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
    expect(denied.cookies).toEqual({ oauth_state: "", oauth_connect: "", notice: expect.any(String) });
    const sent = `${cookie}; notice=${denied.cookies.notice}`;
    const page = await call(dashboard.loader, get("/dashboard?notice=idp_failed", { cookie: sent }));
    expect(page.data).toMatchObject({ notice: "idp_failed", connectProblem: "cancelled" });
    expect(page.cookies).toMatchObject({ notice: "" });
  });

  test("that cannot start says why", async () => {
    latchkey.configure({ ...google, IDP_PROVIDER: "oidc", IDP_ISSUER: "https://away.example" });
    nock("https://away.example").get("/.well-known/openid-configuration").reply(503);
    const failed = await act(cookie, "connect-provider");
    expect(failed).toMatchObject({
      location: "/dashboard?notice=idp_failed",
      cookies: { notice: "problem%3DnoAnswer" },
    });
  });

  test("with cookies forged from a copied session cookie is refused after an old sign-in", async () => {
    await latchkey.execute("update sessions set created_at = created_at - interval '26 minutes'");
    const state = ownState("connect");
    const binding = connectCookie(state, cookie.replace("session=", ""));
    googleAnswers(ada);
    const forged = `${cookie}; oauth_state=${state}; oauth_connect=${binding}`;
    const refused = await latchkey.unchanged(() => comeBack({ code: "c", state }, forged));
    expect(latchkey.events()).toEqual([{ event: "idp.failed", reason: "sign_in_too_old" }]);
    expect(refused.location).toBe("/dashboard?notice=idp_failed");
  });

  describe("of an owner", () => {
    const profile = { id: "1001", email: null, emailVerified: false, name: null, pictureUrl: null };

    async function ownerOf() {
      const [session] = await latchkey.execute<{ id: string; user_id: string }>("select id, user_id from sessions");
      return { user: { id: session!.user_id }, sessionId: session!.id, language: "en" } as const;
    }

    test("whose account was linked meanwhile is refused", async () => {
      await latchkey.execute("update users set idp_id = '77', idp_issuer = 'google'");
      const connecting = async () => linkProvider(await ownerOf(), profile);
      await latchkey.unchanged(() => expect(connecting()).rejects.toMatchObject({ reason: "already_connected" }));
    });

    test("whose session ended is refused", async () => {
      const ended = { ...(await ownerOf()), sessionId: crypto.randomUUID() };
      await latchkey.unchanged(() =>
        expect(linkProvider(ended, profile)).rejects.toMatchObject({ reason: "another_session" }),
      );
    });
  });
});

describe("the issuer of an id", () => {
  test("is added at a sign-in when it is missing", { tags: "6.8.1" }, async () => {
    await latchkey.createUser({ idpId: "1001" });
    expect((await signInWithGoogle(ada)).location).toBe("/dashboard");
    expect(await users()).toMatchObject([{ idp_id: "1001", idp_issuer: "google" }]);
  });

  test("is added at a start to every id without one", async () => {
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

  test("of another provider makes the same id another user", { tags: ["6.8.1", "10.5.2"] }, async () => {
    await latchkey.createUser({ email: "bob@example.com", password: null, idpId: "1001" });
    await latchkey.execute("update users set idp_issuer = 'github'");
    expect((await signInWithGoogle(ada)).location).toBe("/dashboard");
    expect(await users()).toMatchObject([
      { email: "ada@example.com", idp_id: "1001", idp_issuer: "google" },
      { email: "bob@example.com", idp_id: "1001", idp_issuer: "github" },
    ]);
  });

  test("of another provider is replaced by a sign-in with the account's verified address", async () => {
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
    expect((await openAccount(cookie)).data).toMatchObject({ user: { isLinked: false }, canConnect: true });
  });
});

describe("a returning user's picture", () => {
  const picture = "https://pictures.example/new.png";

  test("is updated from the profile", async () => {
    await latchkey.createUser({ idpId: "1001" });
    await signInWithGoogle({ ...ada, picture });
    expect(await users()).toMatchObject([{ picture_url: picture }]);
  });

  test("is kept when the profile has none", async () => {
    await latchkey.createUser({ idpId: "1001" });
    await signInWithGoogle({ ...ada, picture });
    await signInWithGoogle(ada);
    expect(await users()).toMatchObject([{ picture_url: picture }]);
  });
});
