import { rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { blockedUntil, countAttempt, countLogin, loginLimit } from "#server/accounts/limits/rate-limits";
import { issueLink, newLink } from "#server/accounts/links/mailed-links";
import { capSessions } from "#server/accounts/sessions/sessions";
import { recordMail } from "#server/accounts/users/history";
import { mintToken, sha256 } from "#server/crypto/tokens";
import { AccountEvent, EmailChange, PasswordReset, Registration, User } from "#server/database/entities";
import { DatabaseUnavailable } from "#server/errors";
import { suspendUser } from "#server/features/operator/user-access";
import { deleteAccount } from "#server/features/owner/account-deletion";
import { changeEmail } from "#server/features/owner/email-change";
import { endOtherSessions, logOut } from "#server/features/owner/own-sessions";
import { changePassword } from "#server/features/owner/password-change";
import { linkProvider, unlinkProvider } from "#server/features/owner/provider-link";
import { signInToAccount } from "#server/features/visitor/external-sign-in";
import { type Authenticated, authenticate, startVerifiedSession } from "#server/features/visitor/login";
import { storeWayIn } from "#server/features/visitor/password-reset";
import { registerUser } from "#server/features/visitor/registration";
import { JobQueue } from "#server/queue/job-queue";
import * as dashboard from "~/routes/dashboard";
import { createUser, owner, signedIn, unknownVisitor } from "../support/accounts";
import { failed } from "../support/command";
import { startLatchkey } from "../support/latchkey";
import { recordLog } from "../support/logged";
import { goodPassword, newPassword, twice } from "../support/passwords";
import { call, post } from "../support/route-calls";
import { until } from "../support/until";

// Each test needs a second connection during a transaction. The embedded database has only one connection.

const latchkey = startLatchkey({ IDP_CLIENT_ID: "client", IDP_CLIENT_SECRET: "secret" });
const log = recordLog();
const email = "ada@example.com";

/** What the provider says of Ada. */
const profile = { id: "ada", email, emailVerified: true, name: null, pictureUrl: null };
const withoutEmail = { ...profile, email: null, emailVerified: false };

const inAnHour = () => new Date(Date.now() + 3_600_000);

function statementsAreBlocked(count: number): Promise<void> {
  const waiting = "select pid from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'";
  return until(async () => (await latchkey.execute(waiting)).length === count, `${count} wait for the lock`);
}

async function verifiedUser(): Promise<Authenticated> {
  const verified = await authenticate(unknownVisitor, { email, password: goodPassword });
  if (!verified) throw new Error("The password is right.");
  return verified;
}

async function whileUncommitted<Second>(id: string, change: object, second: () => Promise<Second>): Promise<Second> {
  const { waiting } = await latchkey.em().transactional(async (em) => {
    await em.nativeUpdate(User, { id }, change);
    const waiting = second();
    await statementsAreBlocked(1);
    return { waiting }; // The promise is wrapped, or it would be awaited before the commit.
  });
  return waiting;
}

test("mails that end at one moment leave fifty events about mails", async () => {
  const id = await createUser(latchkey.em());
  await latchkey.execute(
    `insert into account_events (user_id, at, type) select ?, now() - n * interval '1 s', 'mail.sent' from generate_series(1, 49) n`,
    [id],
  );
  const sent = { type: "mail.sent", isUndeliverable: false } as const;
  const { waiting } = await latchkey.em().transactional(async (em) => {
    await em.nativeUpdate(User, { id }, { name: "Ada" });
    const waiting = [1, 2, 3].map(() => recordMail(email, sent));
    await statementsAreBlocked(3);
    return { waiting };
  });
  await Promise.all(waiting);
  expect(await latchkey.em().count(AccountEvent, { user: id })).toBe(50);
});

test("a login during an uncommitted reset starts no session", async () => {
  await createUser(latchkey.em());
  const token = await issueLink(latchkey.em(), PasswordReset, email);
  const verified = await verifiedUser();
  const { first, second } = await during(
    () => storeWayIn(unknownVisitor, { email, token }, { passwordHash: "a hash" }),
    () => startVerifiedSession(unknownVisitor, verified),
  );
  expect(first).not.toBeNull();
  expect(second).toBeNull();
  expect(await latchkey.execute("select * from sessions")).toEqual([]);
});

test("an external sign-in during an uncommitted disconnect starts no session", async () => {
  const id = await createUser(latchkey.em(), { email, idpId: "ada" });
  const outcome = await whileUncommitted(id, { idpId: null }, () =>
    signInToAccount(unknownVisitor, withoutEmail).catch(({ reason }) => reason),
  );
  expect(outcome).toBe("no_email");
  expect(await latchkey.execute("select * from sessions")).toEqual([]);
});

test.each<[string, unknown, (token: string) => Promise<() => Promise<unknown>>]>([
  [
    "a login",
    null,
    async () => {
      const verified = await verifiedUser();
      return () => startVerifiedSession(unknownVisitor, verified);
    },
  ],
  ["a reset", null, async (token) => () => storeWayIn(unknownVisitor, { email, token }, { passwordHash: "a hash" })],
  [
    "an external sign-in",
    "suspended",
    async () => () => signInToAccount(unknownVisitor, profile).catch(({ reason }) => reason),
  ],
  [
    "a change of the address",
    "invalid_link",
    async (token) => () => changeEmail(unknownVisitor, { email: "new@example.com", token }),
  ],
])("%s during an uncommitted suspension changes nothing", async (_what, refusal, prepare) => {
  const id = await createUser(latchkey.em(), { email, idpId: "ada" });
  const token = await issueLink(latchkey.em(), PasswordReset, email);
  const change = { tokenHash: sha256(token), email: "new@example.com", expiresAt: inAnHour(), user: id };
  await latchkey.em().insert(EmailChange, change);
  const attempt = await prepare(token);
  expect(await whileUncommitted(id, { suspendedAt: new Date() }, attempt)).toBe(refusal);
  const [user] = await latchkey.execute("select email, password_hash from users where suspended_at is not null");
  expect(user).toMatchObject({ email });
  expect(await latchkey.execute("select * from sessions")).toEqual([]);
  expect(await latchkey.jobs()).toEqual([]);
});

test("a suspension during an uncommitted change of the address suspends the account under its new one", async () => {
  const id = await createUser(latchkey.em());
  await issueLink(latchkey.em(), PasswordReset, "new@example.com");
  expect(await whileUncommitted(id, { email: "new@example.com" }, () => suspendUser(id))).toBe(0);
  const [user] = await latchkey.execute("select email from users where suspended_at is not null");
  expect(user).toEqual({ email: "new@example.com" });
  expect(await latchkey.execute("select * from password_resets")).toEqual([]);
  expect(log.events().at(-1)).toEqual({ event: "user.suspended" });
});

test("a suspension during an uncommitted login ends the session that it starts", async () => {
  const id = await createUser(latchkey.em());
  const verified = await verifiedUser();
  const { waiting } = await latchkey.em().transactional(async (em) => {
    await em.execute("select from users where id = ? for update", [id]);
    const login = startVerifiedSession(unknownVisitor, verified);
    await statementsAreBlocked(1);
    const suspension = suspendUser(id);
    await statementsAreBlocked(2);
    return { waiting: Promise.all([login, suspension]) };
  });
  const [login, ended] = await waiting;
  expect(login).not.toBeNull(); // it was the first in the queue of the row's lock
  expect(ended).toBe(1);
  expect(await latchkey.execute("select * from sessions")).toEqual([]);
});

test("an external sign-in during another process's uncommitted link of its id links nothing again", async () => {
  const id = await createUser(latchkey.em());
  const linked = { idpId: "ada", idpIssuer: "google" };
  const session = await whileUncommitted(id, linked, () => signInToAccount(unknownVisitor, profile));
  expect(session).toMatchObject({ userId: id });
  expect(log.events()).toEqual([{ event: "idp.succeeded" }]);
  expect(await latchkey.jobs()).toEqual([]);
});

test("connecting an id that another process is linking to another account is refused", async () => {
  const userId = await createUser(latchkey.em());
  const bob = await createUser(latchkey.em(), { email: "bob@example.com" });
  await signedIn(userId);
  const [session] = await latchkey.execute<{ id: string }>("select id from sessions");
  const by = { user: { id: userId }, sessionId: session!.id, language: "en" } as const;
  const outcome = await whileUncommitted(bob, { idpId: "ada", idpIssuer: "google" }, () =>
    linkProvider(by, withoutEmail).catch(({ reason }) => reason),
  );
  expect(outcome).toBe("id_of_another_account");
  expect(await latchkey.execute("select id from users where idp_id is not null")).toEqual([{ id: bob }]);
  expect(await latchkey.jobs()).toEqual([]);
});

test("a logout of several sessions of a user does not deadlock with the end of all of them", async () => {
  const userId = await createUser(latchkey.em());
  const bob = await createUser(latchkey.em(), { email: "bob@example.com" });
  const addSession = "insert into sessions (id, token_hash, user_id, created_at, last_seen_at, expires_at)";
  const tokens = Array.from({ length: 3 }, mintToken).sort((a, b) => (sha256(a) < sha256(b) ? 1 : -1));
  const addOne = `${addSession} select gen_random_uuid(), ?, ?, now(), now(), now()`;
  for (const token of tokens) await latchkey.execute(addOne, [sha256(token), userId]);
  // In a large table, PostgreSQL reads the rows of the tokens in the order of their index: here, the reverse of the user's.
  await latchkey.execute(
    `${addSession} select gen_random_uuid(), n, ?, now(), now(), now() from generate_series(1, 20000) n`,
    [bob],
  );
  await latchkey.execute("analyze sessions");
  const { ends } = await latchkey.em().transactional(async (em) => {
    await em.execute("select id from sessions where token_hash = ? for update", [sha256(tokens[1]!)]);
    const loggedOut = logOut(tokens);
    await statementsAreBlocked(1);
    const ended = endOtherSessions({ user: { id: userId }, sessionId: null });
    await statementsAreBlocked(2);
    return { ends: [loggedOut, ended] };
  });
  await Promise.all(ends);
  expect(await latchkey.execute("select id from sessions where user_id = ?", [userId])).toEqual([]);
});

test("eight starts with a shorter SESSION_MAX do not deadlock with users who end their sessions", async () => {
  const users = await Promise.all(
    Array.from({ length: 20 }, (_, at) =>
      createUser(latchkey.em(), { email: `user${at}@example.com`, password: null }),
    ),
  );
  latchkey.configure({ SESSION_MAX: "1" });
  for (let start = 0; start < 8; start++) {
    // The rows lie in the reverse order of their ids, which all sessions of a user are locked in.
    await latchkey.execute(
      `insert into sessions (id, token_hash, user_id, created_at, last_seen_at, expires_at)
       select lpad((1000000 - n)::text, 32, '0')::uuid, n, (?::uuid[])[n % 20 + 1], now(), now(), now() + interval '1 day'
       from generate_series(1, 6000) n`,
      [`{${users}}`],
    );
    const ends = users.map((userId) => endOtherSessions({ user: { id: userId }, sessionId: null }));
    await Promise.all([capSessions(latchkey.em()), ...ends]);
    expect(await latchkey.execute("select id from sessions where expires_at > now() + interval '2 hours'")).toEqual([]);
  }
}, 60_000);

test("a shorter SESSION_MAX does not deadlock with a logout that holds a later session", async () => {
  const userId = await createUser(latchkey.em());
  const ids = ["3", "2", "1"].map((digit) => digit.repeat(32)); // as the rows lie
  for (const id of ids) {
    await latchkey.execute(
      `insert into sessions (id, token_hash, user_id, created_at, last_seen_at, expires_at)
       values (?, ?, ?, now(), now(), now() + interval '1 day')`,
      [id, id, userId],
    );
  }
  latchkey.configure({ SESSION_MAX: "1" });
  const { ended } = await latchkey.em().transactional(async (em) => {
    await em.execute("select id from sessions where token_hash = ? for update", [ids[1]]);
    const capped = capSessions(latchkey.em());
    await statementsAreBlocked(1);
    const ends = endOtherSessions({ user: { id: userId }, sessionId: null });
    await statementsAreBlocked(2);
    return { ended: Promise.all([capped, ends]) };
  });
  await ended;
  expect(await latchkey.execute("select id from sessions")).toEqual([]);
});

async function userWithFiftySessions() {
  const userId = await createUser(latchkey.em());
  await latchkey.execute(
    `insert into sessions (id, token_hash, user_id, created_at, last_seen_at, expires_at)
     select gen_random_uuid(), n, ?, now(), now() - interval '1 day' * (51 - n), now() from generate_series(1, 50) n`,
    [userId],
  );
  return verifiedUser();
}

test.each(["sessions", "devices"])(
  "a sign-in while fifty %s of the user are removed keeps the new one",
  async (table) => {
    const verified = await userWithFiftySessions();
    await latchkey.execute(
      `insert into devices (token_hash, user_id, created_at, last_seen_at)
     select token_hash, user_id, now(), now() from sessions`,
    );
    await latchkey.em().transactional(async (em) => {
      await em.execute(`delete from ${table}`);
      expect(await startVerifiedSession(unknownVisitor, verified)).not.toBeNull();
    });
    expect(await latchkey.execute(`select * from ${table}`)).toHaveLength(1);
  },
);

test("a sign-in while the least recently used of fifty sessions is used ends the next one", async () => {
  const verified = await userWithFiftySessions();
  await latchkey.em().transactional(async (em) => {
    await em.execute("update sessions set last_seen_at = now() where token_hash = '1'");
    expect(await startVerifiedSession(unknownVisitor, verified)).not.toBeNull();
  });
  const left = await latchkey.execute<{ token_hash: string }>("select token_hash from sessions");
  expect(left).toHaveLength(50);
  expect(left.map(({ token_hash }) => token_hash)).toContain("1");
  expect(left.map(({ token_hash }) => token_hash)).not.toContain("2");
});

/** Runs `first` and, while its transaction is not committed, `second`, whose statements must wait for locks of it. */
async function during<First, Second>(
  first: () => Promise<First>,
  second: () => Promise<Second>,
  statements = 1,
): Promise<{ first: First; second: Second }> {
  const { enqueue } = JobQueue.prototype;
  let waiting: Promise<Second> | undefined;
  vi.spyOn(JobQueue.prototype, "enqueue").mockImplementation(async function (this: JobQueue, em, job) {
    await enqueue.call(this, em, job);
    if (waiting) return;
    waiting = second();
    await statementsAreBlocked(statements);
  });
  const done = await first();
  if (!waiting) throw new Error("The first one has enqueued no job.");
  return { first: done, second: await waiting };
}

test.each([
  ["unlink-provider", {}],
  ["delete-account", { email }],
  ["end-session", { sessionId: crypto.randomUUID() }],
  ["end-other-sessions", {}],
  ["change-email", { email: "eve@example.com" }],
])("during an uncommitted reset %s by a session that the reset ends changes nothing", async (intent, fields) => {
  const cookie = await signedIn(await createUser(latchkey.em(), { email, idpId: "ada" }));
  const token = await issueLink(latchkey.em(), PasswordReset, email);
  const { first, second } = await during(
    () => storeWayIn(unknownVisitor, { email, token }, { passwordHash: "a hash" }),
    () => call(dashboard.action, post("/dashboard", { intent, ...fields }, { cookie })),
  );
  expect(first).not.toBeNull();
  expect(second).toMatchObject({ status: 302, location: "/login" });
  expect(second.cookies).toEqual({ notice: "notice%3Dsession_ended" });
  expect(await latchkey.execute("select email, idp_id, idp_blocked_at from users")).toEqual([
    { email, idp_id: "ada", idp_blocked_at: null },
  ]);
  expect(await latchkey.jobs()).toEqual([
    { task: "mail_password_changed", email, language: "en", questioned: { passkeys: [], provider: true } },
  ]);
});

test("a change of the password does not succeed while the account is being deleted", async () => {
  const id = await createUser(latchkey.em());
  const cookie = await signedIn(id);
  const fields = { currentPassword: goodPassword, ...twice(newPassword) };
  const { first, second } = await during(
    () => deleteAccount({ user: { id: id }, sessionId: null }, email, email),
    () => call(dashboard.action, post("/dashboard", { intent: "change-password", ...fields }, { cookie })),
  );
  expect(first).toBe("deleted");
  expect(second).toMatchObject({ status: 302, location: "/login" });
});

/** An external sign-in that waits for a lock, and then a deletion of the account that waits too. */
async function signInAndDeletion(id: string) {
  const session = signInToAccount(unknownVisitor, profile);
  await statementsAreBlocked(1);
  const deletion = deleteAccount({ user: { id: id }, sessionId: null }, email, email);
  const [{ userId }, outcome] = await Promise.all([session, deletion]);
  return { userId, outcome };
}

test("an external sign-in does not deadlock with a deletion during an uncommitted disconnect", async () => {
  const id = await createUser(latchkey.em(), { email, idpId: "ada" });
  const { first, second } = await during(
    () => unlinkProvider({ user: { id: id }, sessionId: null }),
    () => signInAndDeletion(id),
    2,
  );
  expect([first, second.outcome]).toEqual([{ count: 0, kept: null }, "deleted"]);
  expect(await latchkey.execute("select id, email, idp_id from users")).toEqual([
    { id: second.userId, email, idp_id: "ada" },
  ]);
  expect(second.userId).not.toBe(id);
});

describe("during an uncommitted change of the password", () => {
  const change = async () => {
    const userId = await createUser(latchkey.em());
    await signedIn(userId);
    await signedIn(userId);
    const sessions = await latchkey.execute<{ id: string }>("select id from sessions order by created_at");
    const verified = await verifiedUser();
    const by = (at: number, password: string) =>
      changePassword(owner(userId, sessions[at]?.id ?? ""), verified, password);
    return { by, verified };
  };

  const first = (by: (at: number, password: string) => Promise<unknown>) => () => by(0, "the first new password");

  test.each([
    ["another one by this session", 0],
    ["another one by another session", 1],
  ])("%s is refused", async (_what, other) => {
    const { by } = await change();
    const outcomes = await during(first(by), () => by(other, "the second new password"));
    expect(outcomes).toMatchObject({ first: { count: 1 }, second: "session_ended" });
    expect(await authenticate(unknownVisitor, { email, password: "the first new password" })).not.toBeNull();
    expect(await latchkey.execute("select * from sessions")).toHaveLength(1);
  });

  const token = "1".repeat(64);

  test.each<[string, string, (verified: Authenticated) => Promise<unknown>]>([
    ["a login", "starts no session", (verified) => startVerifiedSession(unknownVisitor, verified)],
    ["a reset", "its link is invalid", () => storeWayIn(unknownVisitor, { email, token }, { passwordHash: "a hash" })],
  ])("%s waits: %s", async (_what, _outcome, other) => {
    const { by, verified } = await change();
    await latchkey.em().insert(PasswordReset, { tokenHash: sha256(token), email, expiresAt: inAnHour() });
    expect(await during(first(by), () => other(verified))).toMatchObject({ first: { count: 1 }, second: null });
    expect(await authenticate(unknownVisitor, { email, password: "the first new password" })).not.toBeNull();
    expect(await latchkey.execute("select * from sessions")).toHaveLength(1);
  });
});

describe("during an uncommitted change of the address", () => {
  const newEmail = "lovelace@example.com";

  async function linkOf(userId: string): Promise<string> {
    const { token, row } = newLink(newEmail);
    await latchkey.em().insert(EmailChange, { ...row, user: userId });
    return token;
  }

  const confirm = (token: string) => changeEmail(unknownVisitor, { email: newEmail, token });

  const bob = "bob@example.com";

  test.each<[string, (link: { id: string; token: string }) => Promise<() => Promise<unknown>>, unknown, string[]]>([
    ["another post of its link", async ({ token }) => confirm.bind(null, token), "invalid_link", [newEmail]],
    [
      "that of another account to the same address",
      async () => {
        const token = await linkOf(await createUser(latchkey.em(), { email: bob }));
        return () => confirm(token);
      },
      "invalid_link",
      [bob, newEmail],
    ],
    [
      "a registration of the new address",
      async () => {
        const token = await issueLink(latchkey.em(), Registration, newEmail);
        return () => registerUser(unknownVisitor, { email: newEmail, token }, { passwordHash: "a hash" });
      },
      null,
      [newEmail],
    ],
    [
      "a reset by the old address",
      async () => {
        const token = await issueLink(latchkey.em(), PasswordReset, email);
        return () => storeWayIn(unknownVisitor, { email, token }, { passwordHash: "a hash" });
      },
      null,
      [newEmail],
    ],
    [
      "a deletion that names the old address",
      async ({ id }) => deleteAccount.bind(null, { user: { id: id }, sessionId: null }, email, email),
      "not_confirmed",
      [newEmail],
    ],
  ])("%s changes nothing", async (_what, prepare, refusal, emails) => {
    const id = await createUser(latchkey.em());
    const token = await linkOf(id);
    const other = await prepare({ id, token });
    expect(await during(() => confirm(token), other)).toMatchObject({
      first: { count: 0, kept: null },
      second: refusal,
    });
    const users = await latchkey.execute<{ email: string }>("select email from users order by email");
    expect(users.map(({ email }) => email)).toEqual(emails);
    expect(await authenticate(unknownVisitor, { email: newEmail, password: goodPassword })).not.toBeNull();
  });

  test("an external sign-in with the old address gets an account of its own beside a deletion", async () => {
    const id = await createUser(latchkey.em());
    const token = await linkOf(id);
    const { first, second } = await during(
      () => confirm(token),
      () => signInAndDeletion(id),
      2,
    );
    expect([first, second.outcome]).toEqual([{ count: 0, kept: null }, "not_confirmed"]);
    expect(await latchkey.execute("select id, email, idp_id from users order by email")).toEqual([
      { id: second.userId, email, idp_id: "ada" },
      { id, email: newEmail, idp_id: null },
    ]);
  });

  test("an import that adds a user with the new address makes the link invalid", async () => {
    const id = await createUser(latchkey.em());
    const token = await linkOf(id);
    const { enqueue } = JobQueue.prototype;
    vi.spyOn(JobQueue.prototype, "enqueue").mockImplementationOnce(async function (this: JobQueue, ...job) {
      await enqueue.apply(this, job);
      await createUser(latchkey.em(), { email: newEmail, password: null }); // An import locks no address.
    });
    expect(await confirm(token)).toBe("invalid_link");
    expect(await latchkey.execute("select id from users where email = ?", [email])).toEqual([{ id }]);
    expect(await latchkey.jobs()).toEqual([]);
  });
});

describe("while another transaction holds the counter of the address", () => {
  async function holdingCounter<Done>(work: () => Promise<Done>): Promise<Done> {
    return latchkey.em().transactional(async (em) => {
      await em.execute("select from rate_limits for update");
      return work();
    });
  }

  describe("a reset", () => {
    const store = (token: string) => storeWayIn(unknownVisitor, { email, token }, { passwordHash: "a hash" });

    async function resetWhileHeld(): Promise<string> {
      await createUser(latchkey.em());
      const token = await issueLink(latchkey.em(), PasswordReset, email);
      await countAttempt(loginLimit, email, "192.0.2.1");
      await holdingCounter(() => expect(store(token)).rejects.toThrow(DatabaseUnavailable));
      return token;
    }

    test("changes nothing", async () => {
      await resetWhileHeld();
      expect(await authenticate(unknownVisitor, { email, password: goodPassword })).not.toBeNull();
    });

    test("works afterwards", async () => {
      const token = await resetWhileHeld();
      expect(await store(token)).not.toBeNull();
      expect(await blockedUntil(loginLimit, email)).toBeNull();
    });
  });

  test("a login that succeeds stays counted", async () => {
    await createUser(latchkey.em());
    const verified = await verifiedUser();
    let letGo = () => {};
    const loggedIn = new Promise<void>((resolve) => {
      letGo = resolve;
    });
    let holding: Promise<void> | undefined;
    const login = countLogin(unknownVisitor, email, async () => {
      await new Promise<void>((held) => {
        holding = holdingCounter(() => {
          held();
          return loggedIn;
        });
      });
      return startVerifiedSession(unknownVisitor, verified);
    });
    expect(await login).toMatchObject({ session: { userId: verified.id } });
    letGo();
    await holding;
    expect(await latchkey.execute("select points from rate_limits where key like 'login:address:%'")).toEqual([
      { points: 1 },
    ]);
  });
});

describe("an import", () => {
  async function fileOfAda(): Promise<string> {
    const file = join(tmpdir(), `latchkey-import-${process.pid}`);
    await writeFile(file, '{ "email": "ada@example.com", "idpId": "42", "idpIssuer": "github" }\n');
    onTestFinished(() => rm(file));
    return file;
  }

  /** An import whose account another transaction makes meanwhile. */
  async function importMeanwhile(work = async () => {}) {
    const file = await fileOfAda();
    const { imported } = await latchkey.em().transactional(async (em) => {
      await em.execute(`insert into users (id, email, idp_id, idp_issuer, created_at)
        values (gen_random_uuid(), 'linus@example.com', '42', 'github', now())`);
      const imported = latchkey.command("user", "import", file);
      await statementsAreBlocked(1);
      await work();
      return { imported };
    });
    return imported;
  }

  test("is refused while another one runs", async () => {
    await importMeanwhile(async () => {
      expect(await latchkey.command("user", "import", "/dev/null")).toEqual(
        failed("Nothing was imported: another import is running.\n"),
      );
    });
  });

  test("changes nothing when its accounts are changed meanwhile", async () => {
    expect(await importMeanwhile()).toEqual(
      failed("Nothing was imported: others changed the same accounts at the same time. Run it again.\n"),
    );
    expect(await latchkey.execute("select email from users")).toEqual([{ email: "linus@example.com" }]);
  });
});
