import { describe, expect, test } from "vitest";
import * as authorize from "~/routes/auth.idp._index";
import {
  act,
  askForAccount,
  askForReset,
  confirmAddress,
  logIn,
  logOut,
  registerWith,
  resetWith,
} from "../support/account-calls";
import { Authenticator } from "../support/authenticator";
import { comeBack, google, signInWithGoogle, state } from "../support/google-sign-in";
import { startLatchkey } from "../support/latchkey";
import { emailChangeLink, registrationLink, resetLink } from "../support/mailed-links";
import { addPasskey, answerWith, ask } from "../support/passkeys";
import { goodPassword, newPassword, twice } from "../support/passwords";
import { call, get } from "../support/route-calls";

const latchkey = startLatchkey(google);

const email = "ada@example.com";
const uuid = expect.stringMatching(/^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/);
const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
const inRequest = (event: string, more = {}) => ({ level: 30, time, requestId: uuid, event, ...more });
const inJob = (event: string, more = {}) => ({ level: 30, time, jobId: uuid, event, ...more });

/** The lines of the events that `work` logs. */
async function expectEvents(work: () => Promise<unknown>, ...expected: object[]): Promise<void> {
  const before = latchkey.logLines().length;
  await work();
  const lines = latchkey.logLines().slice(before);
  expect(lines.map((line) => JSON.parse(line)).filter(({ event }) => event)).toEqual(expected);
}

/** A new account with two sessions, and the cookie of one of them. */
async function createAccount() {
  const userId = await latchkey.createUser({ email });
  await latchkey.signedIn(userId);
  return { userId, cookie: await latchkey.signedIn(userId) };
}

const unknownLink = { email, token: "0".repeat(64) };

describe("the events of a registration", () => {
  test("of a new address", async () => {
    await expectEvents(
      async () => registerWith(await registrationLink(latchkey), goodPassword),
      inRequest("registration.requested"),
      inJob("registration.sent"),
      inRequest("registration.completed", { userId: uuid }),
    );
  });

  test("of an address that has an account", async () => {
    const { userId } = await createAccount();
    await expectEvents(
      async () => {
        await askForAccount(email);
        await latchkey.drain();
      },
      inRequest("registration.requested"),
      inJob("registration.sent", { userId, reason: "account_exists" }),
    );
  });

  test("with an invalid link", async () => {
    await expectEvents(
      () => registerWith(unknownLink, newPassword),
      inRequest("registration.refused", { reason: "invalid_link" }),
    );
  });
});

describe("the events of a login", () => {
  const failed = inRequest("login.failed", { reason: "wrong_credentials" });
  const wrong = () => logIn({ password: "wrong password" });

  test("with a wrong password", { tags: ["16.2.1", "16.3.1", "16.3.3"] }, async () => {
    await createAccount();
    await expectEvents(wrong, failed);
  });

  test("of an unknown address", { tags: ["16.2.1", "16.3.1", "16.3.3"] }, async () => {
    await expectEvents(() => logIn({ email: "who@example.com" }), failed);
  });

  test("that is right", { tags: ["16.2.1", "16.3.1", "16.3.3"] }, async () => {
    const { userId } = await createAccount();
    await expectEvents(() => logIn(), inRequest("login.succeeded", { userId }));
  });

  test("that replaces a session", { tags: ["16.2.1", "16.3.1", "16.3.3"] }, async () => {
    const { cookie, userId } = await createAccount();
    await expectEvents(
      () => logIn({ cookie }),
      inRequest("session.ended", { userId, reason: "replaced", count: 1 }),
      inRequest("login.succeeded", { userId }),
    );
  });

  test("after ten wrong passwords", { tags: ["16.2.1", "16.3.1", "16.3.3"] }, async () => {
    await createAccount();
    for (let at = 0; at < 10; at++) await wrong();
    await expectEvents(wrong, inRequest("login.throttled"));
  });

  test("that is ended by a logout", { tags: ["16.2.1", "16.3.1", "16.3.3"] }, async () => {
    const { cookie, userId } = await createAccount();
    await expectEvents(() => logOut(cookie), inRequest("session.ended", { userId, reason: "logout", count: 1 }));
  });

  test("that is ended with the browser's other session of the user", async () => {
    const { cookie, userId } = await createAccount();
    const other = await latchkey.signedIn(userId);
    await expectEvents(
      () => logOut(`${cookie}; ${other}`),
      inRequest("session.ended", { userId, reason: "logout", count: 2 }),
    );
  });
});

describe("the events of a password reset", () => {
  test("that is requested", { tags: "16.3.1" }, async () => {
    const { userId } = await createAccount();
    await expectEvents(
      async () => {
        await askForReset(email);
        await latchkey.drain();
      },
      inRequest("password_reset.requested"),
      inJob("password_reset.sent", { userId }),
    );
  });

  test("with an invalid link", { tags: "16.3.1" }, async () => {
    await createAccount();
    await resetLink(latchkey);
    await expectEvents(
      () => resetWith(unknownLink, newPassword),
      inRequest("password_reset.refused", { reason: "invalid_link" }),
    );
  });

  test("that ends two sessions", { tags: "16.3.1" }, async () => {
    const { userId } = await createAccount();
    const link = await resetLink(latchkey);
    await expectEvents(
      () => resetWith(link, newPassword),
      inRequest("password_reset.completed", { userId }),
      inRequest("session.ended", { userId, reason: "password_reset", count: 2 }),
    );
  });
});

describe("the events of a passkey", () => {
  const authenticator = new Authenticator();

  async function createOwner() {
    const { userId, cookie } = await createAccount();
    return { userId, cookie, add: () => addPasskey(authenticator, cookie) };
  }

  /** Answers in the browser of the session with a counter. @returns what sends the answer */
  async function answer(counter: number, cookie = "") {
    const asked = await ask("sign-in", { cookie });
    const passkey = authenticator.get(asked.options, { counter });
    return () => answerWith(passkey, { cookie: asked.cookie });
  }

  test("that is added", { tags: "16.3.1" }, async () => {
    const { add, userId } = await createOwner();
    await expectEvents(add, inRequest("passkey.added", { userId }));
  });

  test("that signs in", { tags: "16.3.1" }, async () => {
    const { add, cookie, userId } = await createOwner();
    await add();
    await expectEvents(
      await answer(7, cookie),
      inRequest("session.ended", { userId, reason: "replaced", count: 1 }),
      inRequest("passkey.succeeded", { userId }),
    );
  });

  test("whose answer was used", { tags: "16.3.1" }, async () => {
    const { add } = await createOwner();
    await add();
    const signIn = await answer(7);
    await signIn();
    await expectEvents(signIn, inRequest("passkey.failed", { reason: "challenge" }));
  });

  test("whose counter goes back", { tags: "16.3.1" }, async () => {
    const { add, userId } = await createOwner();
    await add();
    await (await answer(7))();
    await expectEvents(await answer(6), inRequest("passkey.failed", { reason: "counter", userId }));
  });

  test("that is removed", { tags: "16.3.1" }, async () => {
    const { add, cookie, userId } = await createOwner();
    await add();
    const passkey = authenticator.credentialId;
    await expectEvents(
      () => act(cookie, "remove-passkey", { passkey }),
      inRequest("passkey.removed", { userId }),
      inRequest("session.ended", { userId, reason: "passkey_removed", count: 1 }),
    );
  });
});

describe("the events of an external sign-in", () => {
  const leave = () => call(authorize.loader, get("/auth/idp"));
  const profile = { sub: "1001", email, email_verified: true };

  test("that begins", { tags: "16.3.1" }, () => expectEvents(leave, inRequest("idp.started")));

  test("that links an account", { tags: "16.3.1" }, async () => {
    const { userId } = await createAccount();
    await expectEvents(
      () => signInWithGoogle(profile),
      inRequest("idp.linked", { userId }),
      inRequest("idp.succeeded", { userId }),
    );
  });

  test("that is unlinked", { tags: "16.3.1" }, async () => {
    const { userId } = await createAccount();
    const { cookies } = await signInWithGoogle(profile);
    await expectEvents(
      () => act(`session=${cookies.session}`, "unlink-provider"),
      inRequest("idp.unlinked", { userId }),
      inRequest("session.ended", { userId, reason: "unlinked", count: 2 }),
    );
  });

  test("without a verified address", { tags: "16.3.1" }, async () => {
    await createAccount();
    await expectEvents(
      () => signInWithGoogle({ ...profile, email_verified: false }),
      inRequest("idp.failed", { reason: "no_verified_email" }),
    );
  });
});

test.each<[string, Record<string, string>]>([
  ["authorization: access_denied", { error: "access_denied", error_description: '\n{"event":"x"}' }],
  ["authorization: other", { error: '\n{"event":"login.succeeded"}' }],
  ["no_code", {}],
])("the event of a failed external sign-in: %s", { tags: "16.3.3" }, async (reason, query) => {
  await expectEvents(() => comeBack({ state, ...query }), inRequest("idp.failed", { reason }));
});

describe("the events of a change of the password", () => {
  const change = (cookie: string, currentPassword: string) =>
    act(cookie, "change-password", { currentPassword, ...twice(newPassword) });

  test("with a wrong password", async () => {
    const { cookie } = await createAccount();
    await expectEvents(() => change(cookie, "wrong"), inRequest("login.failed", { reason: "wrong_credentials" }));
  });

  test("that ends the other session", async () => {
    const { cookie, userId } = await createAccount();
    await expectEvents(
      () => change(cookie, goodPassword),
      inRequest("password.changed", { userId }),
      inRequest("session.ended", { userId, reason: "password_changed", count: 1 }),
    );
  });
});

describe("the events of a change of the address", () => {
  const newEmail = "new@example.com";

  test("that is requested", async () => {
    const { cookie, userId } = await createAccount();
    await expectEvents(
      () => act(cookie, "change-email", { email: newEmail }),
      inRequest("email_change.requested", { userId }),
    );
  });

  test("with an invalid link", async () => {
    const { cookie } = await createAccount();
    await emailChangeLink(latchkey, cookie, newEmail);
    await expectEvents(
      () => confirmAddress({ ...unknownLink, email: newEmail }),
      inRequest("email_change.refused", { reason: "invalid_link" }),
    );
  });

  test("that ends the sessions", async () => {
    const { cookie, userId } = await createAccount();
    const link = await emailChangeLink(latchkey, cookie, newEmail);
    await expectEvents(
      () => confirmAddress(link),
      inRequest("session.ended", { userId, reason: "email_changed", count: 2 }),
      inRequest("email_change.completed", { userId }),
    );
  });
});

test("the events of sessions that the user ends", async () => {
  const { cookie, userId } = await createAccount();
  await expectEvents(
    () => act(cookie, "end-other-sessions"),
    inRequest("session.ended", { userId, reason: "ended_by_user", count: 1 }),
  );
});

test("the events of an account that the user deletes", async () => {
  const { cookie, userId } = await createAccount();
  await expectEvents(
    () => act(cookie, "delete-account", { email }),
    inRequest("session.ended", { userId, reason: "account_deleted", count: 2 }),
    inRequest("account.deleted", { userId }),
  );
});
