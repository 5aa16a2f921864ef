import { beforeEach, describe, expect, test } from "vitest";
import { suspendUser } from "#server/features/operator/user-access";
import * as passkeyRoute from "~/routes/auth.passkey";
import * as completeRegistration from "~/routes/register_.complete";
import * as resetPassword from "~/routes/reset-password";
import { logIn, openAccount, openLogin, registerWith, resetWith } from "../support/account-calls";
import { Authenticator, type Changes } from "../support/authenticator";
import { startLatchkey } from "../support/latchkey";
import { type MailedLink, registrationLink, resetLink } from "../support/mailed-links";
import { ask, signInBy, storePasskey } from "../support/passkeys";
import { goodPassword, newPassword, twice } from "../support/passwords";
import { call, get, type Outcome, post, type RequestOptions } from "../support/route-calls";

const webhooks = {
  WEBHOOK_URL: "http://127.0.0.1:9/hook",
  WEBHOOK_SECRET: `whsec_${Buffer.alloc(32).toString("base64")}`,
};
const latchkey = startLatchkey();

let userId: string;

beforeEach(async () => {
  userId = await latchkey.createUser();
});

const passkeys = () =>
  latchkey.execute<{ user_id: string; name: string }>("select user_id, name from passkeys order by created_at");

const kinds = {
  reset: {
    link: () => resetLink(latchkey),
    path: "/reset-password",
    action: resetPassword.action,
    withPassword: resetWith,
    invalid: "This reset link is invalid or has expired.",
    location: "/login?notice=passkey_set",
  },
  register: {
    link: () => registrationLink(latchkey),
    path: "/register/complete",
    action: completeRegistration.action,
    withPassword: registerWith,
    invalid: "This link is invalid or has expired.",
    location: "/dashboard",
  },
} as const;

type Kind = keyof typeof kinds;

async function begin(kind: Kind, link: MailedLink, browser: RequestOptions = {}) {
  const fields = { purpose: kind, ...link };
  const asked = await call(passkeyRoute.action, post("/auth/passkey", fields, browser));
  const cookie = `passkey=${asked.cookies.passkey}`;
  return { ...asked, options: asked.data === "" ? null : JSON.parse(asked.data), cookie };
}

const finish = (kind: Kind, fields: Record<string, string>, options: RequestOptions = {}) =>
  call(kinds[kind].action, post(kinds[kind].path, fields, options));

async function useLink(kind: Kind, link: MailedLink, authenticator = new Authenticator(), changes: Changes = {}) {
  const { options, cookie } = await begin(kind, link);
  return finish(kind, { ...link, passkey: authenticator.create(options, changes) }, { cookie });
}

const failed = "The passkey was not created, and the link still works. Try again, or choose a password.";

describe.each(["reset", "register"] as const)("the link of a %s", (kind) => {
  const { link: mailLink, withPassword, invalid, location } = kinds[kind];
  let link: MailedLink;

  beforeEach(async () => {
    link = await mailLink();
  });

  test("makes a passkey with which its owner signs in", async () => {
    const authenticator = new Authenticator();
    expect(await useLink(kind, link, authenticator)).toMatchObject({ status: 302, location });
    expect(await signInBy(authenticator)).toMatchObject({ status: 302, location: "/dashboard" });
  });

  test("asks the authenticator to verify the person", async () => {
    const { options } = await begin(kind, link);
    expect(options.authenticatorSelection).toMatchObject({ residentKey: "required", userVerification: "required" });
  });

  test("works once for a simultaneous password and passkey", async () => {
    const { options, cookie } = await begin(kind, link);
    const passkey = new Authenticator().create(options);
    const done = await Promise.all([withPassword(link, newPassword), finish(kind, { ...link, passkey }, { cookie })]);
    expect(done.map(({ status }) => status).sort()).toEqual([302, 422]);
    expect(done.find(({ status }) => status === 422)?.data).toMatchObject({ invalidLink: invalid });
  });

  describe.each<[string, Record<string, string>]>([
    ["a password with a passkey", { passkey: "{}", ...twice(newPassword) }],
    ["a confirmation with a passkey", { passkey: "{}", passwordConfirmation: newPassword }],
    ["neither", { passkey: "", password: "", passwordConfirmation: "" }],
  ])("with %s", (_what, fields) => {
    test("is refused", async () => {
      expect((await latchkey.unchanged(() => finish(kind, { ...link, ...fields }))).status).toBe(422);
    });

    test("stays usable", async () => {
      await finish(kind, { ...link, ...fields });
      expect((await withPassword(link, newPassword)).status).toBe(302);
    });
  });

  test("takes a password with an empty field for the passkey", async () => {
    expect((await finish(kind, { ...link, ...twice(newPassword), passkey: "" })).status).toBe(302);
  });

  test("that is dead makes no challenge", async () => {
    await withPassword(link, newPassword);
    expect(await latchkey.unchanged(() => begin(kind, link))).toMatchObject({ status: 422, options: null });
  });

  test("that is dead is refused in the same words as with a password", async () => {
    const { options, cookie } = await begin(kind, link);
    await withPassword(link, newPassword);
    const passkey = new Authenticator().create(options);
    const refused = await latchkey.unchanged(() => finish(kind, { ...link, passkey }, { cookie }));
    expect(refused).toMatchObject({ status: 422, data: { typed: link, invalidLink: invalid } });
  });

  describe.each<[string, Changes]>([
    ["another origin", { origin: "https://evil.example" }],
    ["another relying party", { rpId: "evil.example" }],
    ["another challenge", { challenge: Buffer.alloc(32).toString("base64url") }],
    ["no verification of the person", { userVerified: false }],
    ["nobody present", { userPresent: false }],
    ["the type of a sign-in", { type: "webauthn.get" }],
  ])("with an answer with %s", (_what, changes) => {
    test("is refused", async () => {
      const refused = await latchkey.unchanged(
        () => useLink(kind, link, new Authenticator(), changes),
        "passkey_challenges",
        "rate_limits",
      );
      expect(refused).toMatchObject({ status: 422, data: { typed: link, errors: { passkey: failed } } });
    });

    test("stays usable", async () => {
      await useLink(kind, link, new Authenticator(), changes);
      expect((await useLink(kind, link)).status).toBe(302);
    });
  });

  const other = kind === "reset" ? "register" : "reset";

  test.each<[string, () => ReturnType<typeof begin>]>([
    ["another purpose", async () => begin(other, await kinds[other].link())],
    ["an addition", async () => ask("add", { cookie: await latchkey.signedIn(userId) })],
    ["a sign-in", () => ask("sign-in")],
    ["another link of the same kind", async () => begin(kind, await mailLink())],
  ])("refuses the challenge of %s", async (_what, asked) => {
    const { options, cookie } = await asked();
    const passkey = new Authenticator().create({ ...options, user: { id: "" } });
    const refused = await latchkey.unchanged(() => finish(kind, { ...link, passkey }, { cookie }));
    expect(refused).toMatchObject({ status: 422, data: { errors: { passkey: failed } } });
    expect(latchkey.events().at(-1)).toEqual({ event: "passkey.failed", reason: "challenge" });
  });

  test("refuses the challenge of another browser", async () => {
    const { options } = await begin(kind, link);
    const passkey = new Authenticator().create(options);
    const refused = await finish(kind, { ...link, passkey }, { cookie: `passkey=${"0".repeat(64)}` });
    expect(refused).toMatchObject({ status: 422, data: { errors: { passkey: failed } } });
  });

  test("refuses a challenge that was used", async () => {
    const { options, cookie } = await begin(kind, link);
    const passkey = new Authenticator().create(options, { userVerified: false });
    await finish(kind, { ...link, passkey }, { cookie });
    const again = await finish(kind, { ...link, passkey: new Authenticator().create(options) }, { cookie });
    expect(again).toMatchObject({ status: 422, data: { errors: { passkey: failed } } });
  });

  describe("with a credential that is registered already", () => {
    let bob: string;
    let refused: Outcome;

    beforeEach(async () => {
      const authenticator = new Authenticator();
      bob = await latchkey.createUser({ email: "bob@example.com" });
      await storePasskey(authenticator, bob);
      refused = await useLink(kind, link, authenticator, { id: authenticator.credentials[0]!.id });
    });

    test("is refused", async () => {
      expect(refused).toMatchObject({ status: 422 });
      expect(await passkeys()).toMatchObject([{ user_id: bob }]);
    });

    test("stays usable", async () => {
      expect((await withPassword(link, newPassword)).status).toBe(302);
    });
  });

  test("issues at most 300 challenges in a quarter of an hour to a client", async () => {
    await latchkey.countUp("passkey:client:192.0.2.9", 300);
    expect((await begin(kind, link, { facts: { client: "192.0.2.9" } })).status).toBe(429);
  });

  test("is dead with PASSWORDS=off", async () => {
    latchkey.configure({ IDP_CLIENT_ID: "id", IDP_CLIENT_SECRET: "secret", PASSWORDS: "off" });
    expect(await latchkey.unchanged(() => begin(kind, link))).toMatchObject({ status: 422, options: null });
  });

  test("offers a passkey where passkeys are on", async () => {
    const loader = kind === "reset" ? resetPassword.loader : completeRegistration.loader;
    const open = () => call(loader, get(`${kinds[kind].path}?${new URLSearchParams(link)}`));
    expect((await open()).data).toMatchObject({ passkeys: true, problem: null });
    latchkey.configure({ APP_URL: "http://127.0.0.1" });
    expect((await open()).data).toMatchObject({ passkeys: false });
  });
});

describe("a reset by a passkey", () => {
  /** The types of the messages to the application. */
  const toldTypes = async () => {
    const select = "select data ->> 'type' as type from pgboss.job where name like '%webhooks'";
    return (await latchkey.execute<{ type: string }>(select)).map(({ type }) => type);
  };

  test("takes the password away", async () => {
    await useLink("reset", await resetLink(latchkey));
    expect(await latchkey.execute("select password_hash from users")).toEqual([{ password_hash: null }]);
    expect((await logIn({ password: goodPassword })).status).toBe(422);
  });

  test("ends every session", async () => {
    await latchkey.signedIn(userId);
    await useLink("reset", await resetLink(latchkey));
    expect(await latchkey.execute("select * from sessions")).toEqual([]);
  });

  test("signs nobody in", async () => {
    const done = await useLink("reset", await resetLink(latchkey));
    expect(Object.keys(done.cookies)).toEqual(["device", "login-address"]);
    expect(await latchkey.execute("select * from sessions")).toEqual([]);
  });

  test("ends every reset link of the address", async () => {
    const [first, second] = [await resetLink(latchkey), await resetLink(latchkey)];
    await useLink("reset", first);
    expect(await latchkey.execute("select * from password_resets")).toEqual([]);
    expect((await resetWith(second, newPassword)).status).toBe(422);
  });

  test("excludes the passkeys that the account has", async () => {
    const authenticator = new Authenticator();
    await storePasskey(authenticator, userId);
    const { options } = await begin("reset", await resetLink(latchkey));
    const id = authenticator.credentialId;
    expect(options.excludeCredentials).toEqual([expect.objectContaining({ id })]);
  });

  test("excludes no passkey of another account", async () => {
    await storePasskey(new Authenticator(), await latchkey.createUser({ email: "bob@example.com" }));
    const { options } = await begin("reset", await resetLink(latchkey));
    expect(options.excludeCredentials).toEqual([]);
  });

  test("puts the earlier passkey alone in question", async () => {
    await storePasskey(new Authenticator(), userId, "Old phone");
    const authenticator = new Authenticator();
    await useLink("reset", await resetLink(latchkey), authenticator);
    const { cookies } = await signInBy(authenticator);
    const { data } = await openAccount(`session=${cookies.session}`);
    expect(data.passkeys.items.map((item: { questioned: boolean }) => item.questioned)).toEqual([true, false]);
  });

  describe("of an account with 20 passkeys", () => {
    const addOne = () => storePasskey(new Authenticator(), userId);
    let link: MailedLink;

    beforeEach(async () => {
      for (let count = 0; count < 19; count++) await addOne();
      link = await resetLink(latchkey);
    });

    test("is not begun, so that the browser makes none", async () => {
      await addOne();
      expect(await latchkey.unchanged(() => begin("reset", link))).toMatchObject({ status: 403, options: null });
    });

    describe("which got the last one after the ceremony began", () => {
      let refused: Outcome;

      beforeEach(async () => {
        const { options, cookie } = await begin("reset", link);
        await addOne();
        refused = await finish("reset", { ...link, passkey: new Authenticator().create(options) }, { cookie });
      });

      test("is refused", () => {
        expect(refused).toMatchObject({ status: 422, data: { errors: { passkey: failed } } });
      });

      test("leaves the link usable", async () => {
        expect((await resetWith(link, newPassword)).status).toBe(302);
      });
    });
  });

  test("of a suspended account is a dead link", async () => {
    const link = await resetLink(latchkey);
    await suspendUser(userId);
    expect(await latchkey.unchanged(() => begin("reset", link))).toMatchObject({ status: 422 });
  });

  test("is told to the application as a change of the password", async () => {
    latchkey.configure(webhooks);
    await useLink("reset", await resetLink(latchkey));
    expect(await toldTypes()).toEqual(["user.password_changed"]);
    expect(latchkey.events()).toContainEqual({ event: "password_reset.completed" });
  });

  test("with a credential that is registered already is told in no history", async () => {
    const authenticator = new Authenticator();
    await storePasskey(authenticator, await latchkey.createUser({ email: "bob@example.com" }));
    await useLink("reset", await resetLink(latchkey), authenticator, { id: authenticator.credentials[0]!.id });
    const told = await latchkey.execute("select type from account_events where type = 'password_reset.completed'");
    expect(told).toEqual([]);
  });

  test("is told in the history as one by a passkey", async () => {
    await useLink("reset", await resetLink(latchkey));
    const told = await latchkey.execute("select type, detail from account_events where actor = 'owner'");
    expect(told).toEqual([{ type: "password_reset.completed", detail: "passkey" }]);
  });

  test("is mailed to the owner as a replacement of the password", async () => {
    await useLink("reset", await resetLink(latchkey));
    await latchkey.drain();
    const mail = latchkey.mails().at(-1);
    expect(mail?.subject).toBe("A passkey replaced your password");
    expect(mail?.text).toMatch(/reset your password first.+\/forgot-password.+remove every passkey.+\/dashboard/s);
  });

  describe("of an account without a password", () => {
    beforeEach(async () => {
      latchkey.configure(webhooks);
      await latchkey.execute("update users set password_hash = null");
      await useLink("reset", await resetLink(latchkey));
    });

    test("is not told to the application", async () => {
      expect(await toldTypes()).toEqual([]);
    });

    test("is mailed to the owner as a passkey that was added alone", async () => {
      await latchkey.drain();
      expect(latchkey.mails().map(({ subject }) => subject)).toEqual(["Reset your password", "A passkey was added"]);
    });

    test("is mailed to the owner with the name of the passkey", async () => {
      await latchkey.drain();
      const [passkey] = await passkeys();
      expect(latchkey.mails().at(-1)?.text).toContain(`“${passkey?.name}”`);
    });
  });

  test("keeps which way this browser signed in last", async () => {
    expect((await useLink("reset", await resetLink(latchkey))).cookies).not.toHaveProperty("last_sign_in");
  });

  test("ends at a login page that says so", async () => {
    expect((await openLogin("?notice=passkey_set")).data).toMatchObject({ notice: "passkey_set" });
  });
});

describe("a registration by a passkey", () => {
  test("makes an account without a password", async () => {
    await useLink("register", await registrationLink(latchkey));
    expect(await latchkey.execute("select email, password_hash from users where email = 'grace@example.com'")).toEqual([
      { email: "grace@example.com", password_hash: null },
    ]);
  });

  test("signs in", async () => {
    const { cookies } = await useLink("register", await registrationLink(latchkey));
    expect(await openAccount(`session=${cookies.session}`)).toMatchObject({ status: 200 });
  });

  test("is remembered by the browser as its way to sign in", async () => {
    expect((await useLink("register", await registrationLink(latchkey))).cookies.last_sign_in).toBe("passkey");
  });

  test("carries return_to", async () => {
    const link = await registrationLink(latchkey);
    expect(await useLink("register", { ...link, return_to: "/notes" })).toMatchObject({ location: "/notes" });
  });

  test("has a user handle that only the token tells", async () => {
    const [one, other] = [await registrationLink(latchkey), await registrationLink(latchkey)];
    const handles = [await begin("register", one), await begin("register", one), await begin("register", other)];
    const [first, again, second] = handles.map(({ options }) => options.user.id);
    expect(again).toBe(first);
    expect(second).not.toBe(first);
  });

  test("is dead while registration is closed", async () => {
    const link = await registrationLink(latchkey);
    latchkey.configure({ REGISTRATION: "closed" });
    expect(await latchkey.unchanged(() => begin("register", link))).toMatchObject({ status: 422 });
  });
});
