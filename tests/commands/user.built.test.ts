import { expect, onTestFinished, test } from "vitest";
import { openDatabase } from "#server/database/orm";
import { failed, latchkey, succeeded } from "../support/command";
import { mailsIn } from "../support/printed-mails";
import { createEmptyDatabase, type RunningServer, startServer } from "../support/server";
import { createDatabase } from "../support/template-copy";
import { twice } from "../support/twice";
import { Visitor } from "../support/visitor";

const email = "ada@example.com";
const userId = "5f0c7a7e-3d9c-4d2b-9c1a-0f1e2d3c4b5a";
const now = "2026-11-22T10:00:00.000Z";
const logged = { actor: "cli", userId };

/** A database and at most one server, until the end of the test. */
async function startFixture(make = createDatabase, environment: Record<string, string> = {}) {
  const { url, drop } = await make();
  const DATABASE_URL = url;
  let server: RunningServer | undefined;
  onTestFinished(async () => {
    await server?.kill();
    await drop();
  });

  async function leaveDatabase() {
    if (!url.startsWith("pglite:")) return;
    await server?.stop();
    server = undefined;
  }

  async function execute<T>(sql: string, values: unknown[] = []): Promise<T[]> {
    await leaveDatabase();
    const { orm, close } = await openDatabase(url);
    const rows = await orm.em.fork().execute<T[]>(sql, values);
    await close();
    return rows;
  }

  return {
    /** The service. On PostgreSQL it keeps running beside the commands; on the embedded database it runs between them. */
    service: async () => (server ??= await startServer({ DATABASE_URL })),
    async run(...words: string[]) {
      await leaveDatabase();
      return latchkey(words, { DATABASE_URL, APP_URL: "https://login.example.com", ...environment });
    },
    execute,
    add: ({ password_hash = "", idp_id = "" }) =>
      execute(
        "insert into users (id, email, password_hash, idp_id, idp_issuer, created_at) values (?, ?, nullif(?, ''), nullif(?, ''), 'github', ?)",
        [userId, email, password_hash, idp_id, now],
      ),
  };
}

function claimOf(stdout: string): { email: string; token: string } {
  const link = /^https:\/\/login\.example\.com\/reset-password\?email=ada%40example\.com&token=([0-9a-f]{64})\n$/m;
  return { email, token: link.exec(stdout)?.[1] ?? "no token" };
}

test("an application's tests: migrate, create, start and a password by the printed link make a signed-in user", async () => {
  const fixture = await startFixture(createEmptyDatabase);
  expect(await fixture.run("database", "migrate")).toMatchObject({ status: 0 });
  const { stdout, events, ...created } = await fixture.run("user", "create", " Ada@Example.com", "--name", "Ada L.");
  expect(created).toEqual({ status: 0, stderr: "" });
  const [user] = await fixture.execute<{ id: string }>("select id, email, name, password_hash from users");
  expect(user).toEqual({ id: expect.any(String), email, name: "Ada L.", password_hash: null });
  expect(stdout.split("\n", 1)).toEqual([`User id: ${user?.id}`]);
  expect(events).toEqual([
    { event: "registration.completed", actor: "cli", userId: user?.id },
    { event: "password_reset.requested", actor: "cli", userId: user?.id },
  ]);
  expect(await fixture.execute("select data from pgboss.job where data ->> 'email' is not null")).toEqual([]);

  const visitor = new Visitor((await fixture.service()).url);
  const password = "correct horse battery staple";
  const reset = await visitor.post("/reset-password", { ...claimOf(stdout), ...twice(password) });
  expect(reset).toMatchObject({ status: 302, location: "/login?notice=password_reset" });
  expect(await visitor.post("/login", { email, password })).toMatchObject({ status: 302, location: "/dashboard" });
  const verified = await visitor.get("/auth/verify");
  expect([verified.status, verified.headers.get("Remote-User")]).toEqual([200, user?.id]);
});

test("`show` prints no character of a name that a terminal would not show as it is", { tags: "1.3.3" }, async () => {
  const fixture = await startFixture();
  await fixture.add({ idp_id: "4\u20662" });
  await fixture.execute("update users set name = ?", ["Ada \u202eL.\u2028\u3164"]);
  const { stdout } = await fixture.run("user", "show", email);
  expect(stdout).toContain("Name:                Ada \\u202eL.\\u2028\\u3164\n");
  expect(stdout).toContain("Provider:            4\\u20662 of github\n");
  const json = (await fixture.run("user", "show", email, "--json")).stdout;
  expect(json).toMatch(/^[ -~\n]+$/);
  expect(JSON.parse(json)).toMatchObject({ name: "Ada \u202eL.\u2028\u3164", provider: { id: "4\u20662" } });
});

test("`show` lists how the owner signs in, and `reset-link` prints a link", async () => {
  const fixture = await startFixture();
  const hash = "$2y$10$1xcNf4YzKJBR8Bv5o18t8eC/bi9NiVV4QY5idONgkrgAXXQyJkVq.";
  await fixture.add({ password_hash: hash, idp_id: "42" });
  await fixture.execute(
    "insert into passkeys values ('id', ?, 'a key', 0, array['internal'], true, 'My key', ?, null)",
    [userId, now],
  );
  const { stdout, ...printed } = await fixture.run("user", "reset-link", email);
  expect(printed).toEqual({ status: 0, stderr: "", events: [{ event: "password_reset.requested", ...logged }] });
  expect(claimOf(stdout).token).toMatch(/^[0-9a-f]{64}$/);
  expect(await fixture.run("user", "show", email)).toEqual(
    succeeded(`Address:             ada@example.com
User id:             ${userId}
Created:             ${now}
Password:            $2b$10
Provider:            42 of github
Passkeys:            1
  Passkey:           My key, since ${now}, last used never
Reset links:         1
Known browsers:      0
Sessions:            0
`),
  );
  const { stdout: json } = await fixture.run("user", "show", email, "--json");
  expect(JSON.parse(json)).toEqual({
    id: userId,
    email,
    name: null,
    groups: [],
    createdAt: now,
    suspendedAt: null,
    password: "$2b$10",
    provider: { id: "42", issuer: "github" },
    providerBlockedAt: null,
    loginBlockedUntil: null,
    resetMailsBlockedUntil: null,
    resetLinks: 1,
    passkeys: [{ name: "My key", backedUp: true, createdAt: now, lastUsedAt: null }],
    devices: 0,
    sessions: [],
  });
});

test("`unlink` and `delete` do what the owner's actions do, and the service sends the notices", async () => {
  const fixture = await startFixture();
  await fixture.service();
  await fixture.add({ password_hash: "a hash", idp_id: "42" });
  expect(await fixture.run("user", "unlink", email)).toEqual(
    succeeded("The provider is disconnected.\n", { event: "idp.unlinked", ...logged }),
  );
  const unlinked = "select idp_id, idp_issuer, idp_blocked_at is not null as blocked from users";
  expect(await fixture.execute(unlinked)).toEqual([{ idp_id: null, idp_issuer: null, blocked: true }]);
  expect(await fixture.run("user", "delete", email, "--yes")).toEqual(
    succeeded("The account is deleted.\n", { event: "account.deleted", ...logged }),
  );
  expect(await fixture.execute("select from users")).toEqual([]);
  const service = await fixture.service();
  await service.waitFor(/^Subject: Sign-in with another service was removed[\s\S]*^--- end mail/m);
  await service.waitFor(/^Subject: Your account was deleted[\s\S]*^--- end mail/m);
  expect(mailsIn(service.output()).map(({ to }) => to)).toEqual([email, email]);
});

test("`end-sessions` signs the account out everywhere", { tags: "7.4.5" }, async () => {
  const fixture = await startFixture();
  await fixture.add({ password_hash: "a hash" });
  await fixture.execute(
    `insert into sessions (id, token_hash, user_id, created_at, last_seen_at, expires_at)
     select gen_random_uuid(), number::text, ?, now(), now(), now() + interval '1 day' from generate_series(1, 2) as number`,
    [userId],
  );
  expect(await fixture.run("user", "end-sessions", email)).toEqual(
    succeeded("2 sessions ended.\n", { event: "session.ended", ...logged, reason: "ended_by_operator", count: 2 }),
  );
  expect(await fixture.execute("select from sessions")).toEqual([]);
});

test("`suspend` and `restore` end and lift a suspension, and say so; `show` and `list` tell of it", async () => {
  const fixture = await startFixture();
  await fixture.add({ password_hash: "a hash" });
  expect(await fixture.run("user", "suspend", email)).toEqual(
    succeeded("The account is suspended. 0 sessions ended.\n", { event: "user.suspended", ...logged }),
  );
  const [{ suspended_at: since } = {}] = await fixture.execute<{ suspended_at?: string }>(
    "select suspended_at from users",
  );
  const { stdout } = await fixture.run("user", "show", email);
  expect(stdout).toContain(`Suspended:           since ${new Date(since ?? 0).toISOString()}\n`);
  expect(await fixture.run("user", "list", "--suspended")).toEqual(succeeded(`${email}  ${userId}  -  suspended\n`));
  expect(await fixture.run("user", "suspend", email)).toEqual(failed(`The account ${email} is suspended already.\n`));
  expect(await fixture.run("user", "reset-link", email)).toEqual(
    failed(`The account ${email} is suspended: no link would work.\n`),
  );
  expect(await fixture.run("user", "restore", email)).toEqual(
    succeeded("The account is restored.\n", { event: "user.restored", ...logged }),
  );
  expect(await fixture.run("user", "restore", email)).toEqual(failed(`The account ${email} is not suspended.\n`));
  expect(await fixture.run("user", "list", "--suspended")).toEqual(succeeded(""));
});

test("`groups` shows and changes the groups; a wrong name is wrong usage, and one too many changes nothing", async () => {
  const fixture = await startFixture();
  await fixture.add({});
  const changed = { event: "user.groups_changed", ...logged };
  expect(await fixture.run("user", "groups", email)).toEqual(succeeded(""));
  expect(await fixture.run("user", "groups", email, "--add", "staff", "--add", "admin")).toEqual(
    succeeded("admin\nstaff\n", changed),
  );
  expect(await fixture.run("user", "groups", email, "--remove", "admin", "--remove", "nobody")).toEqual(
    succeeded("staff\n", changed),
  );
  for (const name of ["Staff", "-staff", "a b", "", "a".repeat(65), "a,b"]) {
    const { status, stderr } = await fixture.run("user", "groups", email, "--add", name);
    expect(status, name).toBe(2);
    expect(stderr).toContain("A group is in lower case: a-z, 0-9 and, not first, . _ -, at most 64 of them.\n");
  }
  expect((await fixture.run("user", "groups", "--help")).stdout).not.toContain("default");
  const many = Array.from({ length: 32 }, (_, at) => ["--add", `g${at}`]).flat();
  expect(await fixture.run("user", "groups", email, ...many)).toEqual(
    failed("Nothing was changed: a user has at most 32 groups.\n"),
  );
  expect(await fixture.run("user", "list", "--group", "staff")).toEqual(succeeded(`${email}  ${userId}  staff\n`));
  const { stdout } = await fixture.run("user", "list", "--json");
  expect(JSON.parse(stdout)).toEqual({
    id: userId,
    email,
    name: null,
    groups: ["staff"],
    createdAt: now,
    suspendedAt: null,
  });
});

test("`clear-limits` clears what was counted for the address and its known browsers, and nothing of others", async () => {
  const fixture = await startFixture();
  await fixture.add({ password_hash: "a hash" });
  await fixture.execute(
    "insert into devices (token_hash, user_id, created_at, last_seen_at) values ('d', ?, now(), now())",
    [userId],
  );
  const visitor = new Visitor((await fixture.service()).url);
  for (const address of [email, "bob@example.com"]) {
    await visitor.post("/forgot-password", { email: address });
    await visitor.post("/login", { email: address, password: "wrong" });
  }
  const keys = () => fixture.execute<{ key: string }>("select key from rate_limits order by key");
  const before = (await keys()).length;
  expect(await fixture.run("user", "clear-limits", email)).toEqual(succeeded("3 counts cleared.\n"));
  expect(await keys()).toHaveLength(before - 3);
  expect(await fixture.run("user", "clear-limits", email)).toEqual(succeeded("0 counts cleared.\n"));
});

test("`end-all-sessions` signs every account out, after `--yes` only", { tags: "7.4.5" }, async () => {
  const fixture = await startFixture();
  await fixture.add({});
  const session = `insert into sessions (id, token_hash, user_id, created_at, last_seen_at, expires_at)
    values (gen_random_uuid(), 'a hash', ?, now(), now(), now() + interval '1 day')`;
  await fixture.execute(session, [userId]);
  expect((await fixture.run("user", "end-all-sessions")).status).toBe(2);
  expect(await fixture.execute("select from sessions")).toHaveLength(1);
  const ended = { event: "session.ended", actor: "cli", reason: "ended_by_operator", count: 1 };
  expect(await fixture.run("user", "end-all-sessions", "--yes")).toEqual(succeeded("1 session ended.\n", ended));
  expect(await fixture.execute("select from sessions")).toEqual([]);
});

test("with PASSWORDS=off no link is printed: `create` makes the account, `reset-link` is refused", async () => {
  const provider = { IDP_CLIENT_ID: "id", IDP_CLIENT_SECRET: "secret" };
  const fixture = await startFixture(createDatabase, { PASSWORDS: "off", ...provider });
  const { stdout, status } = await fixture.run("user", "create", email);
  expect([stdout, status]).toEqual([expect.stringMatching(/^User id: [0-9a-f-]{36}\n$/), 0]);
  const reason = "There are no passwords: PASSWORDS is off. Accounts come from the provider.\n";
  expect(await fixture.run("user", "reset-link", email)).toEqual(failed(reason));
  expect(await fixture.execute("select from password_resets")).toEqual([]);
});

test("`create --mail` mails an invitation in DEFAULT_LOCALE and prints no link, whatever REGISTRATION is", async () => {
  const fixture = await startFixture(createDatabase, { REGISTRATION: "closed", DEFAULT_LOCALE: "de" });
  const { stdout, status } = await fixture.run("user", "create", email, "--mail");
  const printed = /^User id: [0-9a-f-]{36}\nThe invitation is on its way\.\n$/;
  expect([stdout, status]).toEqual([expect.stringMatching(printed), 0]);
  const jobs = await fixture.execute("select data from pgboss.job where data ->> 'email' is not null");
  expect(jobs).toEqual([{ data: { task: "mail_invitation", email, language: "de" } }]);
});

test("`list --no-way-in` lists who has no password, no provider and no passkey, and is not suspended", async () => {
  const off = { PASSWORDS: "off", IDP_CLIENT_ID: "id", IDP_CLIENT_SECRET: "secret", IDP_PROVIDER: "github" };
  const fixture = await startFixture(createDatabase, off);
  await fixture.execute(`
    insert into users (id, email, password_hash, idp_id, idp_issuer, suspended_at, created_at)
    select gen_random_uuid(), name || '@example.com', hash, idp_id, issuer, suspended, now() from (values
      ('hashed', 'a hash', null, null, null), ('linked', null, '1', 'github', null), ('old-link', null, '2', null, null),
      ('elsewhere', null, '3', 'google', null), ('nothing', null, null, null, null), ('with-passkey', null, null, null, null),
      ('suspended', null, null, null, now())) as one (name, hash, idp_id, issuer, suspended)`);
  await fixture.execute(`
    insert into passkeys (credential_id, user_id, public_key, counter, transports, backed_up, name, created_at)
    select 'key', id, '', 0, '{}', false, 'a key', now() from users where email like 'with-passkey%'`);
  const { stdout } = await fixture.run("user", "list", "--no-way-in", "--json");
  const addresses = stdout.trim().split("\n");
  expect(addresses.map((line) => JSON.parse(line).email.split("@")[0])).toEqual(["elsewhere", "hashed", "nothing"]);
  const { stdout: checks } = await fixture.run("doctor", "--json");
  expect(JSON.parse(checks).filter(({ name }: { name: string }) => name === "accounts")).toEqual([
    {
      status: "warn",
      name: "accounts",
      found: "with PASSWORDS=off, 3 have no way in before they sign in at the provider with their address",
      mend: "`latchkey user list --no-way-in` names them",
    },
  ]);
});

test("what cannot be done is one line and status 1, and changes nothing", async () => {
  const fixture = await startFixture();
  await fixture.add({ idp_id: "42" });
  const before = await fixture.execute("select * from users");
  for (const [words, stderr] of [
    [["create", email], `The address ${email} has an account already.\n`],
    [["create", "ada"], "ada is no email address.\n"],
    [["show", "bob@example.com"], "There is no account with the address bob@example.com.\n"],
    [["unlink", email], `The provider is the only way to sign in to ${email}. Nothing was changed.\n`],
  ] as const) {
    expect(await fixture.run("user", ...words)).toEqual(failed(stderr));
  }
  expect(await fixture.execute("select * from users")).toEqual(before);
});
