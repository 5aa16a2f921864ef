import { describe, expect, test } from "vitest";
import { Authenticator } from "../support/authenticator";
import { goodPassword, newPassword, twice } from "../support/passwords";
import { runLatchkey } from "../support/running-latchkey";
import { json, runScriptedProvider } from "../support/scripted-provider";

const provider = await runScriptedProvider();
const latchkey = runLatchkey(provider.settings.oidc);

const uuid = expect.stringMatching(/^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/);
const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
const inRequest = (event: string, more = {}) => ({ level: 30, time, requestId: uuid, event, ...more });
const inJob = (event: string, more = {}) => ({ level: 30, time, jobId: uuid, event, ...more });

const renewed = twice(newPassword);

async function expectEvents(work: () => Promise<unknown>, ...expected: object[]): Promise<void> {
  const jobs = expected.filter((event) => "jobId" in event).length;
  expect(await latchkey.eventsOf(work, jobs)).toEqual(expected);
}

async function logIn(email: string): Promise<string> {
  const [login] = await latchkey.eventsOf(() => latchkey.visit().logIn(email));
  return login?.userId ?? "";
}

/** A new account with two sessions. */
async function createAccount() {
  const email = `${crypto.randomUUID()}@example.com`;
  const visitor = await latchkey.register(email);
  return { email, visitor, userId: await logIn(email) };
}

const post = (path: string, fields: Record<string, string>) => () => latchkey.visit().post(path, fields);

describe("the events of a registration", () => {
  test("of a new address", async () => {
    await expectEvents(
      () => latchkey.register("registers@example.com"),
      inRequest("registration.requested"),
      inJob("registration.sent"),
      inRequest("registration.completed", { userId: uuid }),
    );
  });

  test("of an address that has an account", async () => {
    const { email, userId } = await createAccount();
    await expectEvents(
      post("/register", { email }),
      inRequest("registration.requested"),
      inJob("registration.sent", { userId, reason: "account_exists" }),
    );
  });

  test("with an invalid link", async () => {
    const guess = { email: "nobody@example.com", token: "0".repeat(64), ...renewed };
    await expectEvents(
      post("/register/complete", guess),
      inRequest("registration.refused", { reason: "invalid_link" }),
    );
  });
});

describe("the events of a login", () => {
  const wrong = (email: string) => post("/login", { email, password: "wrong password" });
  const failed = inRequest("login.failed", { reason: "wrong_credentials" });

  test("with a wrong password", { tags: ["16.2.1", "16.3.1", "16.3.3"] }, async () => {
    const { email } = await createAccount();
    await expectEvents(wrong(email), failed);
  });

  test("of an unknown address", { tags: ["16.2.1", "16.3.1", "16.3.3"] }, async () => {
    await expectEvents(post("/login", { email: "who@example.com", password: goodPassword }), failed);
  });

  test("that is right", { tags: ["16.2.1", "16.3.1", "16.3.3"] }, async () => {
    const { email, userId } = await createAccount();
    await expectEvents(() => latchkey.visit().logIn(email), inRequest("login.succeeded", { userId }));
  });

  test("that replaces a session", { tags: ["16.2.1", "16.3.1", "16.3.3"] }, async () => {
    const { email, userId, visitor } = await createAccount();
    await expectEvents(
      () => visitor.logIn(email),
      inRequest("session.ended", { userId, reason: "replaced", count: 1 }),
      inRequest("login.succeeded", { userId }),
    );
  });

  test("after ten wrong passwords", { tags: ["16.2.1", "16.3.1", "16.3.3"] }, async () => {
    const { email } = await createAccount();
    for (let at = 0; at < 10; at++) await wrong(email)();
    await expectEvents(wrong(email), inRequest("login.throttled"));
  });

  test("that is ended by a logout", { tags: ["16.2.1", "16.3.1", "16.3.3"] }, async () => {
    const { userId, visitor } = await createAccount();
    await expectEvents(
      () => visitor.post("/logout"),
      inRequest("session.ended", { userId, reason: "logout", count: 1 }),
    );
  });
});

describe("the events of a password reset", () => {
  const linkTo = async (email: string) => ({ ...(await latchkey.resetLink(email)), ...renewed });

  test("that is requested", { tags: "16.3.1" }, async () => {
    const { email, userId } = await createAccount();
    await expectEvents(
      post("/forgot-password", { email }),
      inRequest("password_reset.requested"),
      inJob("password_reset.sent", { userId }),
    );
  });

  test("with an invalid link", { tags: "16.3.1" }, async () => {
    const { email } = await createAccount();
    const link = await linkTo(email);
    await expectEvents(
      post("/reset-password", { ...link, token: "0".repeat(64) }),
      inRequest("password_reset.refused", { reason: "invalid_link" }),
    );
  });

  test("that ends two sessions", { tags: "16.3.1" }, async () => {
    const { email, userId } = await createAccount();
    await expectEvents(
      post("/reset-password", await linkTo(email)),
      inRequest("password_reset.completed", { userId }),
      inRequest("session.ended", { userId, reason: "password_reset", count: 2 }),
    );
  });
});

describe("the events of a passkey", () => {
  async function createOwner() {
    const { email, userId } = await createAccount();
    const visitor = latchkey.visit();
    await visitor.logIn(email);
    const authenticator = new Authenticator(latchkey.url());
    const options = async (purpose: string) => JSON.parse((await visitor.post("/auth/passkey", { purpose })).body);
    const passkey = authenticator.create(await options("add"));
    const add = () => visitor.post("/dashboard", { intent: "add-passkey", passkey });
    const answer = async (counter: number) => ({ passkey: authenticator.get(await options("sign-in"), { counter }) });
    const signIn = (passkeyAnswer: { passkey: string }) => () => visitor.post("/auth/passkey", passkeyAnswer);
    const id = () => authenticator.credentials[0]?.id.toString("base64url") ?? "";
    return { userId, visitor, add, answer, signIn, id };
  }

  test("that is added", { tags: "16.3.1" }, async () => {
    const { add, userId } = await createOwner();
    await expectEvents(add, inRequest("passkey.added", { userId }));
  });

  test("that signs in", { tags: "16.3.1" }, async () => {
    const { add, answer, signIn, userId } = await createOwner();
    await add();
    await expectEvents(
      signIn(await answer(7)),
      inRequest("session.ended", { userId, reason: "replaced", count: 1 }),
      inRequest("passkey.succeeded", { userId }),
    );
  });

  test("whose answer was used", { tags: "16.3.1" }, async () => {
    const { add, answer, signIn } = await createOwner();
    await add();
    const used = await answer(7);
    await signIn(used)();
    await expectEvents(signIn(used), inRequest("passkey.failed", { reason: "challenge" }));
  });

  test("whose counter goes back", { tags: "16.3.1" }, async () => {
    const { add, answer, signIn, userId } = await createOwner();
    await add();
    await signIn(await answer(7))();
    await expectEvents(signIn(await answer(6)), inRequest("passkey.failed", { reason: "counter", userId }));
  });

  test("that is removed", { tags: "16.3.1" }, async () => {
    const { add, id, userId, visitor } = await createOwner();
    await add();
    await expectEvents(
      () => visitor.post("/dashboard", { intent: "remove-passkey", passkey: id() }),
      inRequest("passkey.removed", { userId }),
      inRequest("session.ended", { userId, reason: "passkey_removed", count: 2 }),
    );
  });
});

describe("the events of an external sign-in", () => {
  async function createFederated(verified = true) {
    const { email, userId } = await createAccount();
    provider.answerWith({ profile: json({ sub: email, email, email_verified: verified }) });
    return { userId, visitor: latchkey.visit() };
  }

  test("that links an account", { tags: "16.3.1" }, async () => {
    const { userId, visitor } = await createFederated();
    await expectEvents(
      () => visitor.signInExternally(),
      inRequest("idp.started"),
      inRequest("idp.linked", { userId }),
      inRequest("idp.succeeded", { userId }),
    );
  });

  test("that is unlinked", { tags: "16.3.1" }, async () => {
    const { userId, visitor } = await createFederated();
    await visitor.signInExternally();
    await expectEvents(
      () => visitor.post("/dashboard", { intent: "unlink-provider" }),
      inRequest("idp.unlinked", { userId }),
      inRequest("session.ended", { userId, reason: "unlinked", count: 2 }),
    );
  });

  test("without a verified address", { tags: "16.3.1" }, async () => {
    const { visitor } = await createFederated(false);
    await expectEvents(
      () => visitor.signInExternally(),
      inRequest("idp.started"),
      inRequest("idp.failed", { reason: "no_verified_email" }),
    );
  });
});

test.each([
  ["authorization: access_denied", "state=STATE&error=access_denied&error_description=%0a%7B%22event%22%3A%22x%22%7D"],
  ["authorization: other", "state=STATE&error=%0a%7B%22event%22%3A%22login.succeeded%22%7D"],
  ["no_code", "state=STATE"],
])("the event of a failed external sign-in: %s", { tags: "16.3.3" }, async (reason, query) => {
  const visitor = latchkey.visit();
  const own = query.replace("STATE", await visitor.leave());
  await expectEvents(() => visitor.get(`/auth/idp/callback?${own}`), inRequest("idp.failed", { reason }));
});

describe("the events of a change of the password", () => {
  const change = async (currentPassword: string) => {
    const { userId, visitor } = await createAccount();
    const work = () => visitor.post("/dashboard", { intent: "change-password", currentPassword, ...renewed });
    return { userId, work };
  };

  test("with a wrong password", async () => {
    const { work } = await change("wrong");
    await expectEvents(work, inRequest("login.failed", { reason: "wrong_credentials" }));
  });

  test("that ends the other session", async () => {
    const { userId, work } = await change(goodPassword);
    await expectEvents(
      work,
      inRequest("password.changed", { userId }),
      inRequest("session.ended", { userId, reason: "password_changed", count: 1 }),
    );
  });
});

describe("the events of a change of the address", () => {
  async function request() {
    const { email, userId, visitor } = await createAccount();
    const newEmail = `new-${email}`;
    const ask = () => visitor.post("/dashboard", { intent: "change-email", email: newEmail });
    const confirm = (token: string) => post("/account/email", { email: newEmail, token });
    const mailed = async () =>
      (await latchkey.mailTo(newEmail, "Confirm your new email address")).link?.searchParams.get("token") ?? "";
    return { userId, ask, confirm, mailed };
  }

  test("that is requested", async () => {
    const { ask, userId } = await request();
    await expectEvents(ask, inRequest("email_change.requested", { userId }));
  });

  test("with an invalid link", async () => {
    const { ask, confirm, mailed } = await request();
    await ask();
    await mailed();
    await expectEvents(confirm("0".repeat(64)), inRequest("email_change.refused", { reason: "invalid_link" }));
  });

  test("that ends the sessions", async () => {
    const { ask, confirm, mailed, userId } = await request();
    await ask();
    await expectEvents(
      confirm(await mailed()),
      inRequest("session.ended", { userId, reason: "email_changed", count: 2 }),
      inRequest("email_change.completed", { userId }),
    );
  });
});

test("the events of sessions that the user ends", async () => {
  const { userId, visitor } = await createAccount();
  await expectEvents(
    () => visitor.post("/dashboard", { intent: "end-other-sessions" }),
    inRequest("session.ended", { userId, reason: "ended_by_user", count: 1 }),
  );
});

test("the events of an account that the user deletes", async () => {
  const { email, userId, visitor } = await createAccount();
  await expectEvents(
    () => visitor.post("/dashboard", { intent: "delete-account", email }),
    inRequest("session.ended", { userId, reason: "account_deleted", count: 2 }),
    inRequest("account.deleted", { userId }),
  );
});

test("no line contains an address", async () => {
  await latchkey.eventsOf(async () => {
    await latchkey.visit().logIn("s3cret-name@example.com", "s3cret-word");
    await latchkey.visit().askForReset("s3cret-name@example.com");
    await latchkey.register("the-last-one@example.com");
  });
  const lines = latchkey.output().replace(/^--- mail ---\n[\s\S]*?\n--- end mail ---$/gm, "");
  expect(lines).not.toMatch(/@|%40|s3cret/);
});

test("every request has a new id", async () => {
  const events = await latchkey.eventsOf(async () => {
    await latchkey.visit().logIn("nobody@example.com", "a wrong one");
    await latchkey.visit().logIn("nobody@example.com", "a wrong one");
    await latchkey.visit().askForReset("nobody@example.com");
    await latchkey.register("one-more@example.com");
  });
  const ids = events.filter(({ jobId }) => !jobId).map(({ requestId }) => requestId);
  expect(ids).toHaveLength(5);
  expect(new Set(ids).size).toBe(5);
});
