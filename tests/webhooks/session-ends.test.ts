import { beforeEach, describe, expect, test } from "vitest";
import { sidOf } from "#server/accounts/sessions/announced-ends";
import { purgeExpired } from "#server/features/operator/purge";
import { endEverySession, setEmail, suspendUser } from "#server/features/operator/user-access";
import { deleteAccount } from "#server/features/owner/account-deletion";
import { endOtherSessions } from "#server/features/owner/own-sessions";
import { unlinkProvider } from "#server/features/owner/provider-link";
import { act, confirmAddress, logIn, logOut, resetWith } from "../support/account-calls";
import { Authenticator } from "../support/authenticator";
import { google } from "../support/google-sign-in";
import { startLatchkey } from "../support/latchkey";
import { emailChangeLink, resetLink } from "../support/mailed-links";
import { addPasskey } from "../support/passkeys";
import { goodPassword, newPassword, twice } from "../support/passwords";
import { statementsOf } from "../support/statements";

const webhook = {
  WEBHOOK_URL: "http://127.0.0.1:9/",
  WEBHOOK_SECRET: `whsec_${Buffer.alloc(24).toString("base64")}`,
};
const latchkey = startLatchkey({ ...google, ...webhook, WEBHOOK_SESSIONS: "on" });

let id: string;
let cookie: string;
let own: string;
let other: string;

const sessionsOf = async (userId = id) =>
  (
    await latchkey.execute<{ id: string }>("select id from sessions where user_id = ? order by created_at, id", [
      userId,
    ])
  ).map((session) => session.id);

beforeEach(async () => {
  id = await latchkey.createUser({ idpId: "1001" });
  cookie = await latchkey.signedIn(id);
  [own = ""] = await sessionsOf();
  await latchkey.signedIn(id);
  other = (await sessionsOf()).find((session) => session !== own) ?? "";
});

interface Told {
  type: string;
  data: { id: string; email: string; reason?: string; sids?: string[] };
}

const told = async () =>
  (
    await latchkey.execute<{ data: Told }>(
      "select data from pgboss.job where name = 'latchkey-webhooks' order by created_on",
    )
  ).map(({ data: { type, data } }) => ({ type, ...data }));

/** Each webhook in its order: its type, or of `session.ended` the reason and the sids. */
const heard = async () =>
  (await told()).map(({ type, reason, sids }) => (type === "session.ended" ? [reason, ...(sids ?? [])] : [type]));

const actor = () => ({ user: { id }, sessionId: null });
const renewed = () => ["renewed", sidOf(own)];
const both = () => [own, other].map(sidOf).sort();
const change = { currentPassword: goodPassword, ...twice(newPassword) };

type Case = [reason: string, change: () => Promise<unknown>, heard: () => unknown[][]];

test.each<Case>([
  ["a logout", () => logOut(cookie), () => [["logout", sidOf(own)]]],
  [
    "the end of one session by its owner",
    () => act(cookie, "end-session", { sessionId: other }),
    () => [["ended_by_user", sidOf(other)]],
  ],
  [
    "the end of all others",
    () => act(cookie, "end-other-sessions"),
    () => [["ended_by_user", sidOf(other)], renewed()],
  ],
  [
    "a changed password",
    () => act(cookie, "change-password", change),
    () => [["user.password_changed"], ["password_changed", sidOf(other)], renewed()],
  ],
  [
    "a removed password",
    () => act(cookie, "remove-password"),
    () => [["user.password_changed"], ["password_removed", sidOf(other)], renewed()],
  ],
  [
    "a disconnected provider",
    () => unlinkProvider({ user: { id }, sessionId: own }),
    () => [["user.provider_unlinked"], ["unlinked", sidOf(other)], renewed()],
  ],
  ["a new sign-in in the browser", () => logIn({ cookie }), () => [["replaced", sidOf(own)]]],
  [
    "a confirmed change of the address",
    async () => confirmAddress(await emailChangeLink(latchkey, cookie, "lovelace@example.com"), { cookie }),
    () => [["user.email_changed"], ["email_changed", sidOf(other)], renewed()],
  ],
])("%s tells of the sessions that end, after its own webhook", async (_what, end, expected) => {
  await end();
  expect(await heard()).toEqual(expected());
});

test.each<[reason: string, change: () => Promise<unknown>, before: string[]]>([
  ["ended_by_operator", () => endOtherSessions(actor()), []],
  ["ended_by_operator", endEverySession, []],
  ["account_suspended", () => suspendUser(id), ["user.suspended"]],
  ["email_changed", () => setEmail(id, "lovelace@example.com"), ["user.email_changed"]],
  ["password_reset", async () => resetWith(await resetLink(latchkey), newPassword), ["user.password_changed"]],
])("%s tells of both sessions in one webhook", async (reason, end, before) => {
  await end();
  const webhooks = await told();
  expect(webhooks.map(({ type }) => type)).toEqual([...before, "session.ended"]);
  const last = webhooks.at(-1);
  expect([last?.reason, ...[...(last?.sids ?? [])].sort()]).toEqual([reason, ...both()]);
});

test("a removed passkey tells of the others", async () => {
  await addPasskey(new Authenticator(), cookie);
  const [passkey] = await latchkey.execute<{ id: string }>("select credential_id as id from passkeys");
  await act(cookie, "remove-passkey", { passkey: passkey?.id ?? "" });
  expect(await heard()).toEqual([["passkey_removed", sidOf(other)], renewed()]);
});

test("a provider's logout has the reason provider_logout", async () => {
  const { endAllAccess } = await import("#server/accounts/sessions/sessions");
  const { unitOfWork } = await import("#server/database/unit-of-work");
  await unitOfWork((em) => endAllAccess(em, id, "provider_logout"));
  expect((await told()).map(({ reason }) => reason)).toEqual(["provider_logout"]);
});

test("the fifty-first sign-in tells of the session that was used least recently", async () => {
  for (let count = 2; count < 50; count += 1) await latchkey.signedIn(id);
  await latchkey.execute("update sessions set last_seen_at = now() - interval '1 hour' where id = ?", [other]);
  await logIn();
  expect(await heard()).toEqual([["too_many", sidOf(other)]]);
});

test("the sign-in of another account tells the account whose session it replaces", async () => {
  await latchkey.createUser({ email: "grace@example.com" });
  await logIn({ email: "grace@example.com", cookie });
  expect(await told()).toEqual([expect.objectContaining({ id, email: "ada@example.com", sids: [sidOf(own)] })]);
});

test("data is the user after the change", async () => {
  await setEmail(id, "lovelace@example.com");
  expect((await told()).at(-1)).toMatchObject({ type: "session.ended", email: "lovelace@example.com" });
});

describe("nothing is told of", () => {
  const expire = "update sessions set expires_at = now() - interval '1 second'";

  test.each<[string, () => Promise<unknown>]>([
    ["a logout of a session that its time has ended", () => logOut(cookie)],
    ["the end of sessions that their time has ended", () => endOtherSessions(actor())],
    ["the end of every session", endEverySession],
    ["the purge", purgeExpired],
  ])("%s", async (_what, end) => {
    await latchkey.execute(expire);
    await end();
    expect(await told()).toEqual([]);
  });

  test("a refused change", async () => {
    await act(cookie, "change-password", { ...change, currentPassword: "wrong" });
    expect(await told()).toEqual([]);
  });
});

test("a deletion tells user.deleted alone", async () => {
  await deleteAccount(actor(), "ada@example.com", "ada@example.com");
  expect(await heard()).toEqual([["user.deleted"]]);
});

describe("a logout", () => {
  test("locks the user's row first", async () => {
    const sent = (await statementsOf(() => logOut(cookie))).map(({ text }) => text);
    const lock = sent.findIndex((text) => /from users .* for update/.test(text));
    expect(lock).toBeGreaterThan(-1);
    expect(sent.findIndex((text) => /delete from sessions/.test(text))).toBeGreaterThan(lock);
  });

  test("is one statement without WEBHOOK_SESSIONS, and tells nobody", async () => {
    latchkey.configure({ WEBHOOK_SESSIONS: "" });
    expect(await statementsOf(() => logOut(cookie))).toHaveLength(1);
    expect(await told()).toEqual([]);
  });
});
