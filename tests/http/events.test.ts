import { expect, test } from "vitest";
import { leave, signInExternally } from "../support/external-sign-in";
import { password, runLatchkey } from "../support/running-latchkey";
import { json, runScriptedProvider } from "../support/scripted-provider";
import { twice } from "../support/twice";

const provider = await runScriptedProvider();
const latchkey = runLatchkey(provider.settings.oidc);

const uuid = expect.stringMatching(/^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/);
const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
const inRequest = (event: string, more = {}) => ({ level: 30, time, requestId: uuid, event, ...more });
const inJob = (event: string, more = {}) => ({ level: 30, time, jobId: uuid, event, ...more });

const renewed = twice("an entirely new password");

test("registration: requested, sent, completed", async () => {
  const events = await latchkey.eventsOf(() => latchkey.register("registers@example.com"), 1);
  expect(events).toEqual([
    inRequest("registration.requested"),
    inJob("registration.sent"),
    inRequest("registration.completed", { userId: uuid }),
  ]);
  expect(
    await latchkey.eventsOf(() => latchkey.visit().post("/register", { email: "registers@example.com" }), 1),
  ).toEqual([
    inRequest("registration.requested"),
    inJob("registration.sent", { userId: events[2]?.userId, reason: "account_exists" }),
  ]);
});

test("registration: refused", async () => {
  const guess = { email: "nobody@example.com", token: "0".repeat(64), ...renewed };
  expect(await latchkey.eventsOf(() => latchkey.visit().post("/register/complete", guess))).toEqual([
    inRequest("registration.refused", { reason: "invalid_link" }),
  ]);
});

test("login: failed, succeeded, throttled; logout", async () => {
  const email = "logs-in@example.com";
  await latchkey.register(email);
  const visitor = latchkey.visit();
  const failed = await latchkey.eventsOf(() => visitor.post("/login", { email, password: "wrong password" }));
  expect(failed).toEqual([inRequest("login.failed", { reason: "wrong_credentials" })]);
  const unknown = await latchkey.eventsOf(() => visitor.post("/login", { email: "who@example.com", password }));
  expect(unknown).toEqual([inRequest("login.failed", { reason: "wrong_credentials" })]);

  const succeeded = await latchkey.eventsOf(() => visitor.post("/login", { email, password }));
  expect(succeeded).toEqual([inRequest("login.succeeded", { userId: uuid })]);
  const userId = succeeded[0]?.userId;
  expect(await latchkey.eventsOf(() => visitor.post("/login", { email, password }))).toEqual([
    inRequest("session.ended", { userId, reason: "replaced", count: 1 }),
    inRequest("login.succeeded", { userId }),
  ]);
  expect(await latchkey.eventsOf(() => visitor.post("/logout"))).toEqual([
    inRequest("session.ended", { userId, reason: "logout", count: 1 }),
  ]);

  const wrong = () => latchkey.visit().post("/login", { email, password: "wrong password" });
  await latchkey.eventsOf(async () => {
    for (let at = 0; at < 9; at++) await wrong();
  });
  expect(await latchkey.eventsOf(wrong)).toEqual([inRequest("login.throttled")]);
});

test("password reset: requested, sent, refused, completed, and its ended sessions", async () => {
  const email = "resets@example.com";
  await latchkey.register(email);
  let link = { email, token: "" };
  const asked = await latchkey.eventsOf(async () => {
    link = await latchkey.resetLink(email);
  }, 1);
  expect(asked).toEqual([inRequest("password_reset.requested"), inJob("password_reset.sent", { userId: uuid })]);
  const userId = asked[1]?.userId;

  const refused = () => latchkey.visit().post("/reset-password", { ...link, ...renewed, token: "0".repeat(64) });
  expect(await latchkey.eventsOf(refused)).toEqual([inRequest("password_reset.refused", { reason: "invalid_link" })]);
  expect(await latchkey.eventsOf(() => latchkey.visit().post("/reset-password", { ...link, ...renewed }))).toEqual([
    inRequest("password_reset.completed", { userId }),
    inRequest("session.ended", { userId, reason: "password_reset", count: 1 }),
  ]);
});

test("external sign-in: started, succeeded, linked, unlinked, failed", async () => {
  const email = "federated@example.com";
  await latchkey.register(email);
  provider.answerWith({ profile: json({ sub: "federated", email, email_verified: true }) });
  const visitor = latchkey.visit();
  const linked = await latchkey.eventsOf(() => signInExternally(visitor));
  const userId = linked[1]?.userId;
  expect(linked).toEqual([
    inRequest("idp.started"),
    inRequest("idp.linked", { userId: uuid }),
    inRequest("idp.succeeded", { userId }),
  ]);
  expect(await latchkey.eventsOf(() => visitor.post("/dashboard", { intent: "unlink-provider" }))).toEqual([
    inRequest("idp.unlinked", { userId }),
    inRequest("session.ended", { userId, reason: "unlinked", count: 1 }), // The session of the registration.
  ]);

  provider.answerWith({ profile: json({ sub: "federated", email, email_verified: false }) });
  expect(await latchkey.eventsOf(() => signInExternally(latchkey.visit()))).toEqual([
    inRequest("idp.started"),
    inRequest("idp.failed", { reason: "no_verified_email" }),
  ]);
});

test("external sign-in failed: state", async () => {
  const forged = () => latchkey.visit().get("/auth/idp/callback?code=c&state=x");
  expect(await latchkey.eventsOf(forged)).toEqual([inRequest("idp.failed", { reason: "state" })]);
});

test.each([
  ["denied", "error=access_denied&error_description=%0a%7B%22event%22%3A%22login.succeeded%22%7D"],
  ["no_code", ""],
])("external sign-in failed: %s", async (reason, query) => {
  const visitor = latchkey.visit();
  const state = (await leave(visitor)).get("state");
  const events = await latchkey.eventsOf(() => visitor.get(`/auth/idp/callback?state=${state}&${query}`));
  expect(events.at(-1)).toEqual(inRequest("idp.failed", { reason }));
  expect(events.filter(({ event }) => event === "idp.failed")).toHaveLength(1);
});

test("password: changed; email change: requested, refused, completed", async () => {
  const email = "changes@example.com";
  const newEmail = "changed@example.com";
  const visitor = await latchkey.register(email);
  const [login] = await latchkey.eventsOf(() => latchkey.visit().post("/login", { email, password }));
  const userId = login?.userId;
  const change = { intent: "change-password", currentPassword: password, ...renewed };
  expect(await latchkey.eventsOf(() => visitor.post("/dashboard", { ...change, currentPassword: "wrong" }))).toEqual([
    inRequest("login.failed", { reason: "wrong_credentials" }),
  ]);
  expect(await latchkey.eventsOf(() => visitor.post("/dashboard", change))).toEqual([
    inRequest("password.changed", { userId }),
    inRequest("session.ended", { userId, reason: "password_changed", count: 1 }),
  ]);

  const ask = () => visitor.post("/dashboard", { intent: "change-email", email: newEmail });
  expect(await latchkey.eventsOf(ask)).toEqual([inRequest("email_change.requested", { userId })]);
  const { link } = await latchkey.mailTo(newEmail, "Confirm your new email address");
  const confirm = (token: string) => latchkey.visit().post("/account/email", { email: newEmail, token });
  expect(await latchkey.eventsOf(() => confirm("0".repeat(64)))).toEqual([
    inRequest("email_change.refused", { reason: "invalid_link" }),
  ]);
  expect(await latchkey.eventsOf(() => confirm(link?.searchParams.get("token") ?? ""))).toEqual([
    inRequest("email_change.completed", { userId }),
    inRequest("session.ended", { userId, reason: "email_changed", count: 1 }),
  ]);
});

test("sessions ended by the user, and an account deleted", async () => {
  const email = "deletes@example.com";
  const visitor = await latchkey.register(email);
  const [login] = await latchkey.eventsOf(() => latchkey.visit().post("/login", { email, password }));
  const userId = login?.userId;
  expect(await latchkey.eventsOf(() => visitor.post("/dashboard", { intent: "end-other-sessions" }))).toEqual([
    inRequest("session.ended", { userId, reason: "ended_by_user", count: 1 }),
  ]);
  expect(await latchkey.eventsOf(() => visitor.post("/dashboard", { intent: "delete-account", email }))).toEqual([
    inRequest("session.ended", { userId, reason: "account_deleted", count: 1 }),
    inRequest("account.deleted", { userId }),
  ]);
});

test("no line contains an address, and every request has a new id", async () => {
  const events = await latchkey.eventsOf(async () => {
    await latchkey.visit().post("/login", { email: "s3cret-name@example.com", password: "s3cret-word" });
    await latchkey.visit().post("/login", { email: "s3cret-name@example.com", password: "s3cret-word" });
    await latchkey.visit().post("/forgot-password", { email: "s3cret-name@example.com" });
    await latchkey.register("the-last-one@example.com");
  });
  const lines = latchkey.output().replace(/^--- mail ---\n[\s\S]*?\n--- end mail ---$/gm, "");
  expect(lines).not.toMatch(/@|%40|s3cret/);
  const ids = events.filter(({ jobId }) => !jobId).map(({ requestId }) => requestId);
  expect(ids).toHaveLength(5);
  expect(new Set(ids).size).toBe(5);
});
