import { expect, test } from "vitest";
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

const post = (path: string, fields: Record<string, string>) => () => latchkey.visit().post(path, fields);

test("registration: requested, sent, completed, refused", async () => {
  const email = "registers@example.com";
  await expectEvents(
    () => latchkey.register(email),
    inRequest("registration.requested"),
    inJob("registration.sent"),
    inRequest("registration.completed", { userId: uuid }),
  );
  await expectEvents(
    post("/register", { email }),
    inRequest("registration.requested"),
    inJob("registration.sent", { userId: await logIn(email), reason: "account_exists" }),
  );
  const guess = { email: "nobody@example.com", token: "0".repeat(64), ...renewed };
  await expectEvents(post("/register/complete", guess), inRequest("registration.refused", { reason: "invalid_link" }));
});

test("login: failed, succeeded, throttled; logout", { tags: ["16.2.1", "16.3.1", "16.3.3"] }, async () => {
  const email = "logs-in@example.com";
  await latchkey.register(email);
  const visitor = latchkey.visit();
  const wrong = post("/login", { email, password: "wrong password" });
  const failed = inRequest("login.failed", { reason: "wrong_credentials" });
  await expectEvents(wrong, failed);
  await expectEvents(post("/login", { email: "who@example.com", password: goodPassword }), failed);

  const userId = await logIn(email);
  const succeeded = inRequest("login.succeeded", { userId });
  await expectEvents(() => visitor.logIn(email), succeeded);
  const replaced = inRequest("session.ended", { userId, reason: "replaced", count: 1 });
  await expectEvents(() => visitor.logIn(email), replaced, succeeded);
  await expectEvents(() => visitor.post("/logout"), inRequest("session.ended", { userId, reason: "logout", count: 1 }));
  for (let at = 0; at < 9; at++) await wrong();
  await expectEvents(wrong, inRequest("login.throttled"));
});

test("password reset: requested, sent, refused, completed, and its ended sessions", { tags: "16.3.1" }, async () => {
  const email = "resets@example.com";
  await latchkey.register(email);
  const userId = await logIn(email);
  await expectEvents(
    post("/forgot-password", { email }),
    inRequest("password_reset.requested"),
    inJob("password_reset.sent", { userId }),
  );
  const { link } = await latchkey.mailTo(email, "Reset your password");
  const form = { ...Object.fromEntries(link?.searchParams ?? []), ...renewed };
  await expectEvents(
    post("/reset-password", { ...form, token: "0".repeat(64) }),
    inRequest("password_reset.refused", { reason: "invalid_link" }),
  );
  await expectEvents(
    post("/reset-password", form),
    inRequest("password_reset.completed", { userId }),
    inRequest("session.ended", { userId, reason: "password_reset", count: 2 }),
  );
});

test("passkeys: added, succeeded, failed, removed", { tags: "16.3.1" }, async () => {
  const email = "has-a-passkey@example.com";
  await latchkey.register(email);
  const userId = await logIn(email);
  const visitor = latchkey.visit();
  await visitor.logIn(email);
  const authenticator = new Authenticator(latchkey.url());
  const options = async (purpose: string) => JSON.parse((await visitor.post("/auth/passkey", { purpose })).body);
  const add = authenticator.create(await options("add"));
  await expectEvents(
    () => visitor.post("/dashboard", { intent: "add-passkey", passkey: add }),
    inRequest("passkey.added", { userId }),
  );
  const answer = { passkey: authenticator.get(await options("sign-in"), { counter: 7 }) };
  await expectEvents(
    () => visitor.post("/auth/passkey", answer),
    inRequest("session.ended", { userId, reason: "replaced", count: 1 }),
    inRequest("passkey.succeeded", { userId }),
  );
  await expectEvents(() => visitor.post("/auth/passkey", answer), inRequest("passkey.failed", { reason: "challenge" }));
  const old = { ...answer, passkey: authenticator.get(await options("sign-in"), { counter: 6 }) };
  await expectEvents(
    () => visitor.post("/auth/passkey", old),
    inRequest("passkey.failed", { reason: "counter", userId }),
  );
  const passkey = authenticator.credentials[0]?.id.toString("base64url") ?? "";
  await expectEvents(
    () => visitor.post("/dashboard", { intent: "remove-passkey", passkey }),
    inRequest("passkey.removed", { userId }),
    inRequest("session.ended", { userId, reason: "passkey_removed", count: 2 }),
  );
});

test("external sign-in: started, succeeded, linked, unlinked, failed", { tags: "16.3.1" }, async () => {
  const email = "federated@example.com";
  await latchkey.register(email);
  const userId = await logIn(email);
  provider.answerWith({ profile: json({ sub: "federated", email, email_verified: true }) });
  const visitor = latchkey.visit();
  await expectEvents(
    () => visitor.signInExternally(),
    inRequest("idp.started"),
    inRequest("idp.linked", { userId }),
    inRequest("idp.succeeded", { userId }),
  );
  await expectEvents(
    () => visitor.post("/dashboard", { intent: "unlink-provider" }),
    inRequest("idp.unlinked", { userId }),
    inRequest("session.ended", { userId, reason: "unlinked", count: 2 }),
  );
  provider.answerWith({ profile: json({ sub: "federated", email, email_verified: false }) });
  await expectEvents(
    () => latchkey.visit().signInExternally(),
    inRequest("idp.started"),
    inRequest("idp.failed", { reason: "no_verified_email" }),
  );
});

test.each([
  ["authorization: access_denied", "state=STATE&error=access_denied&error_description=%0a%7B%22event%22%3A%22x%22%7D"],
  ["authorization: other", "state=STATE&error=%0a%7B%22event%22%3A%22login.succeeded%22%7D"],
  ["no_code", "state=STATE"],
])("external sign-in failed: %s", { tags: "16.3.3" }, async (reason, query) => {
  const visitor = latchkey.visit();
  const own = query.replace("STATE", await visitor.leave());
  await expectEvents(() => visitor.get(`/auth/idp/callback?${own}`), inRequest("idp.failed", { reason }));
});

test("password: changed; email change: requested, refused, completed", async () => {
  const [email, newEmail] = ["changes@example.com", "changed@example.com"];
  const visitor = await latchkey.register(email);
  const userId = await logIn(email);
  const act = (intent: string, fields: Record<string, string>) => () =>
    visitor.post("/dashboard", { intent, ...fields });
  await expectEvents(
    act("change-password", { currentPassword: "wrong", ...renewed }),
    inRequest("login.failed", { reason: "wrong_credentials" }),
  );
  await expectEvents(
    act("change-password", { currentPassword: goodPassword, ...renewed }),
    inRequest("password.changed", { userId }),
    inRequest("session.ended", { userId, reason: "password_changed", count: 1 }),
  );
  await expectEvents(act("change-email", { email: newEmail }), inRequest("email_change.requested", { userId }));
  const { link } = await latchkey.mailTo(newEmail, "Confirm your new email address");
  const confirm = (token: string) => post("/account/email", { email: newEmail, token });
  await expectEvents(confirm("0".repeat(64)), inRequest("email_change.refused", { reason: "invalid_link" }));
  await expectEvents(
    confirm(link?.searchParams.get("token") ?? ""),
    inRequest("session.ended", { userId, reason: "email_changed", count: 1 }),
    inRequest("email_change.completed", { userId }),
  );
});

test("sessions ended by the user, and an account deleted", async () => {
  const email = "deletes@example.com";
  const visitor = await latchkey.register(email);
  const userId = await logIn(email);
  await expectEvents(
    () => visitor.post("/dashboard", { intent: "end-other-sessions" }),
    inRequest("session.ended", { userId, reason: "ended_by_user", count: 1 }),
  );
  await expectEvents(
    () => visitor.post("/dashboard", { intent: "delete-account", email }),
    inRequest("session.ended", { userId, reason: "account_deleted", count: 1 }),
    inRequest("account.deleted", { userId }),
  );
});

test("no line contains an address, and every request has a new id", async () => {
  const events = await latchkey.eventsOf(async () => {
    await latchkey.visit().logIn("s3cret-name@example.com", "s3cret-word");
    await latchkey.visit().logIn("s3cret-name@example.com", "s3cret-word");
    await latchkey.visit().askForReset("s3cret-name@example.com");
    await latchkey.register("the-last-one@example.com");
  });
  const lines = latchkey.output().replace(/^--- mail ---\n[\s\S]*?\n--- end mail ---$/gm, "");
  expect(lines).not.toMatch(/@|%40|s3cret/);
  const ids = events.filter(({ jobId }) => !jobId).map(({ requestId }) => requestId);
  expect(ids).toHaveLength(5);
  expect(new Set(ids).size).toBe(5);
});
