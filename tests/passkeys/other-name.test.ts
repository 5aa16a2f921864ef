import { beforeEach, describe, expect, test } from "vitest";
import { fillMissingRpIds } from "#server/accounts/passkeys/relying-party";
import { act, openAccount } from "../support/account-calls";
import { Authenticator } from "../support/authenticator";
import { startLatchkey } from "../support/latchkey";
import { resetLink } from "../support/mailed-links";
import { answerWith, ask } from "../support/passkeys";

const former = { APP_URL: "https://login.example.org", IDP_CLIENT_ID: "id", IDP_CLIENT_SECRET: "secret" };
const parent = { ...former, PASSKEY_RP_ID: "example.org" };
const latchkey = startLatchkey(former);
const facts = { origin: former.APP_URL };

let userId: string;
let session: string;
let old: Authenticator;

const secure = (cookie: string) => cookie.replace("session=", "__Host-session=");

async function add(authenticator: Authenticator, cookie = session) {
  const asked = await ask("add", { cookie, facts });
  return act(asked.cookie, "add-passkey", { passkey: authenticator.create(asked.options, rpOf(asked)) }, { facts });
}

const rpOf = ({ options }: { options: { rp?: { id: string }; rpId?: string } }) => ({
  rpId: options.rp?.id ?? options.rpId ?? "",
});

async function signInBy(authenticator: Authenticator) {
  const asked = await ask("sign-in", { facts });
  return answerWith(authenticator.get(asked.options, rpOf(asked)), { cookie: asked.cookie, facts });
}

const stored = () => latchkey.execute<{ rp_id: string | null }>("select rp_id from passkeys order by created_at");
const account = async () => (await openAccount(session, { facts })).data;

beforeEach(async () => {
  latchkey.configure(former);
  userId = await latchkey.createUser();
  session = secure(await latchkey.signedIn(userId));
  old = new Authenticator(former.APP_URL);
  expect((await add(old)).status).toBe(200);
});

test("a passkey is stored with the name that it was made for", async () => {
  expect(await stored()).toEqual([{ rp_id: "login.example.org" }]);
});

test("a passkey for the parent of the host signs in", async () => {
  latchkey.configure(parent);
  const added = new Authenticator(former.APP_URL);
  await add(added);
  expect(await stored()).toEqual([{ rp_id: "login.example.org" }, { rp_id: "example.org" }]);
  expect(await signInBy(added)).toMatchObject({ status: 302 });
});

test("a passkey of another host of the parent is refused", async () => {
  latchkey.configure(parent);
  const asked = await ask("add", { cookie: session, facts });
  const answer = new Authenticator("https://app.example.org").create(asked.options, rpOf(asked));
  expect((await act(asked.cookie, "add-passkey", { passkey: answer }, { facts })).status).toBe(422);
});

test("an old release's passkey gets the host of APP_URL, also when the parent is set at once", async () => {
  await latchkey.execute("update passkeys set rp_id = null");
  latchkey.configure(parent);
  await fillMissingRpIds(latchkey.em());
  expect(await stored()).toEqual([{ rp_id: "login.example.org" }]);
});

describe("a passkey that was made for another name", () => {
  beforeEach(() => void latchkey.configure(parent));

  test("signs nobody in", async () => {
    expect((await signInBy(old)).status).toBe(422);
  });

  test("is apart on the account page, which names that name", async () => {
    expect((await account()).passkeys).toMatchObject({
      items: [],
      unusable: [{ id: old.credentialId, madeFor: "login.example.org" }],
      account: { rpId: "example.org" },
    });
  });

  test("is removed by the account page", async () => {
    await act(session, "remove-passkey", { passkey: old.credentialId }, { facts });
    expect(await stored()).toEqual([]);
  });

  test("is removed where it is all that the account has", async () => {
    await latchkey.execute("update users set password_hash = null");
    expect((await act(session, "remove-passkey", { passkey: old.credentialId }, { facts })).status).toBe(302);
  });

  test("does not let the last usable one be removed", async () => {
    const usable = new Authenticator(former.APP_URL);
    await add(usable);
    await latchkey.execute("update users set password_hash = null");
    expect((await act(session, "remove-passkey", { passkey: usable.credentialId }, { facts })).status).toBe(422);
  });

  test("is not asked about", async () => {
    await latchkey.execute("update passkeys set questioned_at = now() - interval '1 second'");
    const later = secure(await latchkey.signedIn(userId));
    expect((await act(later, "keep-passkey", { passkey: old.credentialId }, { facts })).status).toBe(422);
  });

  test("is not excluded from a new one", async () => {
    const { options } = await ask("add", { cookie: session, facts });
    expect(options.excludeCredentials).toEqual([]);
  });

  test("is not one of the 20", async () => {
    await latchkey.execute(`
      insert into passkeys (credential_id, user_id, rp_id, public_key, counter, transports, backed_up, name, created_at)
      select 'old-' || n, user_id, rp_id, '', 0, '{}', false, name, now() from passkeys, generate_series(1, 19) n`);
    expect((await add(new Authenticator(former.APP_URL))).status).toBe(200);
  });

  test("leaves the browser free to make a passkey without a click", async () => {
    expect((await ask("upgrade", { cookie: session, facts })).options).not.toBeNull();
  });

  test("does not let the password be removed", async () => {
    const refused = await act(session, "remove-password", {}, { facts });
    expect(refused.data.errors).toEqual({ removal: "This is the only way into your account: add another one first." });
  });

  test("does not let the provider be disconnected", async () => {
    await latchkey.execute("update users set password_hash = null, idp_id = '1', idp_issuer = 'google'");
    expect((await act(session, "unlink-provider", {}, { facts })).status).toBe(422);
  });

  test("is not counted by the mail of a reset", async () => {
    await latchkey.drain();
    await resetLink(latchkey);
    expect(latchkey.mails().at(-1)?.text).not.toContain("passkey");
  });

  test("is none of the ways of `user list --no-way-in`, and is counted by `doctor`", async () => {
    latchkey.configure({ ...parent, PASSWORDS: "off" });
    expect((await latchkey.command("user", "list", "--no-way-in")).stdout).toContain("ada@example.com");
    const { stdout } = await latchkey.command("doctor", "--json");
    expect(JSON.parse(stdout)).toContainEqual({
      status: "warn",
      name: "passkeys",
      found: "made for another name, for which they sign nobody in: 1; accounts with nothing else: 1",
      fix: "let their owners add one at this name (docs/moving.md)",
    });
  });

  test("is in the data of the account, with its name", async () => {
    const { stdout } = await latchkey.command("user", "show", "ada@example.com");
    expect(stdout).toMatch(/for login\.example\.org/);
  });

  test("is usable again with that name", async () => {
    latchkey.configure(former);
    expect((await signInBy(old)).status).toBe(302);
  });
});
