import { beforeEach, describe, expect, test } from "vitest";
import { linkProvider } from "#server/features/owner/provider-link";
import { act, confirmAddress, logIn, openAccount, resetWith } from "../support/account-calls";
import { Authenticator } from "../support/authenticator";
import { google, signInWithGoogle } from "../support/google-sign-in";
import { startLatchkey } from "../support/latchkey";
import { emailChangeLink, resetLink } from "../support/mailed-links";
import { addPasskey, passkeyOwner, signInBy, storePasskey } from "../support/passkeys";
import { newPassword } from "../support/passwords";

const latchkey = startLatchkey(google);

const owner = passkeyOwner(latchkey);

beforeEach(async () => {
  await storePasskey(owner.authenticator, owner.userId, "Old phone");
});

const profile = { sub: "1001", email: "ada@example.com", email_verified: true, name: "Ada" };
const connected = { email: "ada@example.com", emailVerified: true, name: null, pictureUrl: null };
const link = () => latchkey.execute("update users set idp_id = '1001', idp_issuer = 'google'");

const reset = async () => resetWith(await resetLink(latchkey), newPassword);

const cookieOf = ({ cookies }: { cookies: Record<string, string> }) => `session=${cookies.session}`;

const loggedIn = async () => cookieOf(await logIn({ password: newPassword }));

/** The names of the passkeys about which the account page asks, and whether it asks about the provider's link. */
async function asked(cookie: string) {
  const { data } = await openAccount(cookie);
  const items: { name: string; questioned: boolean }[] = data.passkeys.items;
  return {
    passkeys: items.filter(({ questioned }) => questioned).map(({ name }) => name),
    provider: data.user.isLinkQuestioned,
  };
}

const keepPasskey = (cookie: string) => act(cookie, "keep-passkey", { passkey: owner.authenticator.credentialId });

const noticeOf = async (subject: string) => {
  await latchkey.drain();
  return latchkey.mails().flatMap((mail) => (mail.subject === subject ? [mail.text] : []));
};

describe("the account page asks about every earlier way in", () => {
  test("after a reset", async () => {
    await link();
    await reset();
    expect(await asked(await loggedIn())).toEqual({ passkeys: ["Old phone"], provider: true });
  });

  test("after a change of address that was confirmed without the owner's session", async () => {
    await link();
    await confirmAddress(await emailChangeLink(latchkey, owner.session, "new@example.com"));
    const cookie = await latchkey.signedIn(owner.userId);
    expect(await asked(cookie)).toEqual({ passkeys: ["Old phone"], provider: true });
  });

  test("after a provider was linked by address", async () => {
    const cookie = cookieOf(await signInWithGoogle(profile));
    expect(await asked(cookie)).toEqual({ passkeys: ["Old phone"], provider: false });
  });

  test("even a year later", async () => {
    await reset();
    await latchkey.execute("update passkeys set questioned_at = now() - interval '1 year'");
    expect((await asked(await loggedIn())).passkeys).toEqual(["Old phone"]);
  });
});

describe("the account page does not ask", () => {
  test("about a passkey that was added since", async () => {
    await reset();
    const cookie = await loggedIn();
    await addPasskey(new Authenticator(), cookie, { name: "New phone" });
    expect((await asked(cookie)).passkeys).toEqual(["Old phone"]);
  });

  test("about the provider after a sign-in there with PASSWORDS=off", async () => {
    latchkey.configure({ PASSWORDS: "off" });
    await link();
    await confirmAddress(await emailChangeLink(latchkey, owner.session, "new@example.com"));
    const cookie = cookieOf(await signInWithGoogle(profile));
    expect(await asked(cookie)).toEqual({ passkeys: ["Old phone"], provider: false });
    expect(await keepPasskey(cookie)).toMatchObject({ status: 200 });
  });

  test("after a change of address in the owner's browser", async () => {
    const changed = await confirmAddress(await emailChangeLink(latchkey, owner.session, "new@example.com"), {
      cookie: owner.session,
    });
    expect(await asked(cookieOf(changed))).toEqual({ passkeys: [], provider: false });
  });
});

describe("the notice", () => {
  test("of a reset names every earlier way in", async () => {
    await link();
    await reset();
    const [text] = await noticeOf("Your password was changed");
    expect(text).toContain("they still work: passkey “Old phone” and Google.");
  });

  test("of a reset shows no name that a mail client could make a link of", async () => {
    await latchkey.execute("update passkeys set name = 'evil.example/login'");
    await reset();
    const [text] = await noticeOf("Your password was changed");
    expect(text).toContain("they still work: a passkey.");
  });

  test("of a change of address names them to both addresses", async () => {
    await confirmAddress(await emailChangeLink(latchkey, owner.session, "new@example.com"));
    const texts = await noticeOf("Your email address was changed");
    expect(texts.map((text) => text.includes("passkey “Old phone”"))).toEqual([true, true]);
  });

  test("of a link by address names them", async () => {
    await signInWithGoogle(profile);
    const [text] = await noticeOf("Sign-in with Google was added");
    expect(text).toContain("they still work: passkey “Old phone”.");
  });

  test("of a reset without an earlier way in names none", async () => {
    await latchkey.execute("delete from passkeys");
    await reset();
    const [text] = await noticeOf("Your password was changed");
    expect(text).not.toContain("still work");
  });
});

describe("to keep", () => {
  const told = async (type: string) =>
    (await latchkey.execute("select from account_events where actor = 'owner' and type = ?", [type])).length;

  test("a passkey answers the question", async () => {
    await reset();
    const cookie = await loggedIn();
    expect(await keepPasskey(cookie)).toMatchObject({ status: 200, data: { done: "It stays." } });
    expect((await asked(cookie)).passkeys).toEqual([]);
    expect(latchkey.events().at(-1)).toEqual({ event: "passkey.kept" });
    expect(await told("passkey.kept")).toBe(1);
  });

  test("the provider answers the question", async () => {
    await link();
    await reset();
    const cookie = await loggedIn();
    expect(await act(cookie, "keep-provider")).toMatchObject({ status: 200 });
    expect((await asked(cookie)).provider).toBe(false);
    expect(latchkey.events().at(-1)).toEqual({ event: "idp.kept" });
    expect(await told("idp.kept")).toBe(1);
  });

  const expectRefused = async (keep: () => Promise<unknown>) =>
    expect(await latchkey.unchanged(keep)).toMatchObject({
      status: 422,
      data: {
        errors: { question: "This session cannot answer that. Log in again, with your new password or passkey." },
      },
    });

  test("is refused to a session that began by the passkey in question", async () => {
    await reset();
    const cookie = cookieOf(await signInBy(owner.authenticator));
    await expectRefused(() => keepPasskey(cookie));
  });

  test("the provider is refused to a session that began by a passkey in question", async () => {
    await link();
    await reset();
    const cookie = cookieOf(await signInBy(owner.authenticator));
    await expectRefused(() => act(cookie, "keep-provider"));
  });

  test("a passkey is refused to a session that began by the provider in question", async () => {
    await link();
    await reset();
    const cookie = cookieOf(await signInWithGoogle(profile));
    await expectRefused(() => keepPasskey(cookie));
  });

  test("is refused without a password by naming the link that sets one", async () => {
    await latchkey.execute("update users set password_hash = null");
    await latchkey.execute("update passkeys set questioned_at = now() - interval '1 second'");
    const refused = await keepPasskey(cookieOf(await signInBy(owner.authenticator)));
    expect(refused.data.errors.question).toMatch(/Choose “Set a password by mail” below\.$/);
  });

  test("is refused to a session that is older than the question", async () => {
    await reset();
    const cookie = await loggedIn();
    await latchkey.execute("update passkeys set questioned_at = now() + interval '1 second'");
    await expectRefused(() => keepPasskey(cookie));
  });

  test("is refused to a session of which nobody knows how it began", async () => {
    await reset();
    const cookie = await loggedIn();
    await latchkey.execute("update sessions set way = null");
    await expectRefused(() => keepPasskey(cookie));
  });

  test("what is not in question stays", async () => {
    expect(await latchkey.unchanged(() => keepPasskey(owner.session))).toMatchObject({ data: { done: "It stays." } });
    await link();
    const provider = await latchkey.unchanged(() => act(owner.session, "keep-provider"));
    expect(provider).toMatchObject({ data: { done: "It stays." } });
  });

  test("a provider that is not connected is refused", async () => {
    await expectRefused(() => act(owner.session, "keep-provider"));
  });

  test("the passkey of another account is refused", async () => {
    await reset();
    const bob = await latchkey.createUser({ email: "bob@example.com" });
    const cookie = await latchkey.signedIn(bob);
    const answer = await latchkey.unchanged(() => keepPasskey(cookie));
    expect(answer).toMatchObject({
      status: 422,
      data: { errors: { passkey: "There is no such passkey any more." } },
    });
  });

  test("a text that PostgreSQL cannot store is refused as an unknown passkey", async () => {
    const answer = await latchkey.unchanged(() => act(owner.session, "keep-passkey", { passkey: "\0" }));
    expect(answer).toMatchObject({
      status: 422,
      data: { errors: { passkey: "There is no such passkey any more." } },
    });
  });

  test("is possible with a passkey that was added after the question", async () => {
    await reset();
    const added = new Authenticator();
    await addPasskey(added, await loggedIn());
    expect(await keepPasskey(cookieOf(await signInBy(added)))).toMatchObject({ status: 200 });
  });
});

describe("in question is what a thief adds:", () => {
  test("a passkey that is added in a session which began by a passkey in question", async () => {
    await reset();
    const thiefs = cookieOf(await signInBy(owner.authenticator));
    const added = new Authenticator();
    await addPasskey(added, thiefs, { name: "Another phone" });
    expect((await asked(thiefs)).passkeys).toEqual(["Old phone", "Another phone"]);
    expect(await keepPasskey(cookieOf(await signInBy(added)))).toMatchObject({ status: 422 });
  });

  test("a passkey that is added in a session which is older than the question", async () => {
    await signInWithGoogle(profile); // links by address, and ends no session
    await addPasskey(new Authenticator(), owner.session, { name: "Another phone" });
    expect((await asked(owner.session)).passkeys).toEqual(["Old phone", "Another phone"]);
  });

  test("a provider that is connected in such a session", async () => {
    await reset();
    const thiefs = cookieOf(await signInBy(owner.authenticator));
    const { sessionId } = (await latchkey.execute<{ sessionId: string }>('select id as "sessionId" from sessions'))[0]!;
    await linkProvider({ user: { id: owner.userId }, sessionId }, { ...connected, id: "666" });
    expect((await asked(thiefs)).provider).toBe(true);
  });
});

describe("to remove", () => {
  test("a passkey in question ends the session that began by it", async () => {
    await reset();
    const cookie = cookieOf(await signInBy(owner.authenticator));
    const removed = await act(cookie, "remove-passkey", { passkey: owner.authenticator.credentialId });
    expect(removed).toMatchObject({ status: 302, location: "/login" });
    expect(removed.cookies).not.toHaveProperty("notice"); // "Try again" would be wrong: it is removed.
    expect(await latchkey.execute("select * from sessions")).toEqual([]);
  });

  test("the provider in question ends the session that began by it", async () => {
    await link();
    await reset();
    const removed = await act(cookieOf(await signInWithGoogle(profile)), "unlink-provider");
    expect(removed).toMatchObject({ status: 302, location: "/login" });
    expect(await latchkey.execute("select * from sessions")).toEqual([]);
  });

  test("a passkey in question keeps the owner's session", async () => {
    await reset();
    const cookie = await loggedIn();
    const removed = await act(cookie, "remove-passkey", { passkey: owner.authenticator.credentialId });
    expect(removed).toMatchObject({ status: 302, location: "/dashboard?notice=sessions_ended" });
  });
});
