import { beforeEach, describe, expect, test } from "vitest";
import { askForReset, logIn, resetWith } from "../support/account-calls";
import { nothing } from "../support/accounts";
import { failed, succeeded } from "../support/command";
import { startLatchkey } from "../support/latchkey";
import { newPassword } from "../support/passwords";

const latchkey = startLatchkey({ APP_URL: "https://login.example.com" });

const email = "ada@example.com";
const userId = "5f0c7a7e-3d9c-4d2b-9c1a-0f1e2d3c4b5a";
const now = "2026-11-22T10:00:00.000Z";
const logged = { actor: "cli", userId };

const add = ({ password_hash = "", idp_id = "" }) =>
  latchkey.execute(
    "insert into users (id, email, password_hash, idp_id, idp_issuer, created_at) values (?, ?, nullif(?, ''), nullif(?, ''), 'github', ?)",
    [userId, email, password_hash, idp_id, now],
  );

const link = /^https:\/\/login\.example\.com\/reset-password\?email=ada%40example\.com&token=([0-9a-f]{64})\n$/m;

describe("`create`", () => {
  const createAda = () => latchkey.command("user", "create", " Ada@Example.com", "--name", "Ada L.");
  const printed = (stdout: string) => {
    const [, id, token = ""] = new RegExp(`^User id: (.+)\n${link.source.slice(1)}`).exec(stdout) ?? [];
    return { id, token };
  };

  test("makes an account", async () => {
    const { stdout, events, ...created } = await createAda();
    expect(created).toEqual({ status: 0, stderr: "" });
    const { id } = printed(stdout);
    const account = JSON.parse((await latchkey.command("user", "show", email, "--json")).stdout);
    expect(account).toMatchObject({ id, email, name: "Ada L.", password: null, resetLinks: 1 });
  });

  test("logs the account with its link", async () => {
    const { stdout, events } = await createAda();
    const { id } = printed(stdout);
    expect(events).toEqual([
      { event: "registration.completed", actor: "cli", userId: id },
      { event: "password_reset.requested", actor: "cli", userId: id },
    ]);
  });

  test("prints a link with which the owner chooses a password", async () => {
    const { token } = printed((await createAda()).stdout);
    expect(await resetWith({ email, token }, newPassword)).toMatchObject({ location: "/login?notice=password_reset" });
    expect(await logIn({ password: newPassword })).toMatchObject({ status: 302, location: "/dashboard" });
  });
});

test("`delete` takes the id that the log has of an account", async () => {
  await add({ password_hash: "any" });
  expect(await latchkey.command("user", "delete", userId, "--yes")).toMatchObject({
    stdout: "The account is deleted.\n",
  });
  expect(await latchkey.execute("select id from users")).toEqual([]);
});

test("`show` prints no character of a name that a terminal would not show as it is", { tags: "1.3.3" }, async () => {
  await add({ idp_id: "4\u20662" });
  await latchkey.execute("update users set name = ?", ["Ada \u202eL.\u2028\u3164"]);
  const { stdout } = await latchkey.command("user", "show", email);
  expect(stdout).toContain("Name:                Ada \\u202eL.\\u2028\\u3164\n");
  expect(stdout).toContain("Provider:            4\\u20662 of github\n");
  const json = (await latchkey.command("user", "show", email, "--json")).stdout;
  expect(json).toMatch(/^[ -~\n]+$/);
  expect(JSON.parse(json)).toMatchObject({ name: "Ada \u202eL.\u2028\u3164", provider: { id: "4\u20662" } });
});

test("`reset-link` prints a link", async () => {
  await add({ password_hash: "a hash" });
  const { stdout, ...printed } = await latchkey.command("user", "reset-link", email);
  expect(printed).toEqual({ status: 0, stderr: "", events: [{ event: "password_reset.requested", ...logged }] });
  expect(stdout).toMatch(link);
});

describe("`show` of an account with every way to sign in", () => {
  beforeEach(async () => {
    const hash = "$2y$10$1xcNf4YzKJBR8Bv5o18t8eC/bi9NiVV4QY5idONgkrgAXXQyJkVq.";
    await add({ password_hash: hash, idp_id: "42" });
    await latchkey.execute(
      "insert into passkeys values ('id', ?, 'a key', 0, array['internal'], true, 'My key', ?, null)",
      [userId, now],
    );
    await latchkey.command("user", "reset-link", email);
    await latchkey.execute("update account_events set at = ?", [now]);
  });

  test("lists them", async () => {
    expect(await latchkey.command("user", "show", email)).toEqual(
      succeeded(`Address:             ada@example.com
User id:             ${userId}
Created:             2026-11-22T10:00Z
Password:            set (bcrypt)
Provider:            42 of github
Passkeys:            1
  Passkey:           My key, since 2026-11-22T10:00Z, last used never
Reset links:         1
Known browsers:      0
Sessions:            0
Events:              1
  Event:             2026-11-22T10:00Z, password_reset.requested, by the operator
`),
    );
  });

  test("has them in JSON", async () => {
    const { stdout: json } = await latchkey.command("user", "show", email, "--json");
    const details = JSON.parse(json);
    expect(details).toEqual({
      ...nothing(details),
      id: userId,
      email,
      groups: [],
      createdAt: now,
      hasWayIn: true,
      password: "$2b$10",
      provider: { id: "42", issuer: "github" },
      resetLinks: 1,
      passkeys: [{ name: "My key", madeFor: null, backedUp: true, createdAt: now, lastUsedAt: null }],
      devices: 0,
      sessions: [],
      tokens: [],
      events: [
        {
          at: now,
          type: "password_reset.requested",
          actor: "operator",
          way: null,
          browser: null,
          system: null,
          detail: null,
        },
      ],
    });
  });
});

describe("of an account with a provider", () => {
  beforeEach(() => add({ password_hash: "a hash", idp_id: "42" }));

  test("`unlink` disconnects the provider", async () => {
    expect(await latchkey.command("user", "unlink", email)).toEqual(
      succeeded("The provider is disconnected.\n", { event: "idp.unlinked", ...logged }),
    );
    const unlinked = "select idp_id, idp_issuer, idp_blocked_at is not null as blocked from users";
    expect(await latchkey.execute(unlinked)).toEqual([{ idp_id: null, idp_issuer: null, blocked: true }]);
  });

  test("`delete` deletes the account", async () => {
    expect(await latchkey.command("user", "delete", email, "--yes")).toEqual(
      succeeded("The account is deleted.\n", { event: "account.deleted", ...logged }),
    );
    expect(await latchkey.execute("select from users")).toEqual([]);
  });

  test("both send the owner a notice", async () => {
    await latchkey.command("user", "unlink", email);
    await latchkey.drain(); // a deletion removes the mails that wait
    await latchkey.command("user", "delete", email, "--yes");
    await latchkey.drain();
    expect(latchkey.mails()).toMatchObject([
      { to: email, subject: "Sign-in with another service was removed" },
      { to: email, subject: "Your account was deleted" },
    ]);
  });
});

describe("of sessions", () => {
  const ended = { event: "session.ended", reason: "ended_by_operator" };

  beforeEach(async () => {
    await add({ password_hash: "a hash" });
    await latchkey.execute(
      `insert into sessions (id, token_hash, user_id, created_at, last_seen_at, expires_at)
       select gen_random_uuid(), number, ?, now(), now(), now() + interval '1 day' from generate_series(1, 2) number`,
      [userId],
    );
  });

  test("`end-sessions` signs the account out everywhere", { tags: "7.4.5" }, async () => {
    expect(await latchkey.command("user", "end-sessions", email)).toEqual(
      succeeded("2 sessions ended.\n", { ...ended, ...logged, count: 2 }),
    );
    expect(await latchkey.execute("select from sessions")).toEqual([]);
  });

  test("`end-all-sessions` ends none without `--yes`", { tags: "7.4.5" }, async () => {
    expect((await latchkey.command("user", "end-all-sessions")).status).toBe(2);
    expect(await latchkey.execute("select from sessions")).toHaveLength(2);
  });

  test("`end-all-sessions --yes` signs every account out", { tags: "7.4.5" }, async () => {
    expect(await latchkey.command("user", "end-all-sessions", "--yes")).toEqual(
      succeeded("2 sessions ended.\n", { ...ended, actor: "cli", count: 2 }),
    );
    expect(await latchkey.execute("select from sessions")).toEqual([]);
  });

  test("`end-all-sessions --yes` may find none", async () => {
    await latchkey.execute("delete from sessions");
    expect(await latchkey.command("user", "end-all-sessions", "--yes")).toEqual(succeeded("0 sessions ended.\n"));
  });

  test("`end-all-sessions --yes` says one session", async () => {
    await latchkey.execute("delete from sessions where token_hash = '2'");
    expect((await latchkey.command("user", "end-all-sessions", "--yes")).stdout).toBe("1 session ended.\n");
  });
});

describe("a suspension", () => {
  beforeEach(() => add({ password_hash: "a hash" }));

  const suspend = () => latchkey.command("user", "suspend", email);

  test("is made by `suspend`", async () => {
    expect(await suspend()).toEqual(
      succeeded("The account is suspended. 0 sessions ended.\n", { event: "user.suspended", ...logged }),
    );
  });

  test("is in `show`", async () => {
    await suspend();
    const [{ suspended_at: since } = {}] = await latchkey.execute<{ suspended_at?: string }>(
      "select suspended_at from users",
    );
    const { stdout } = await latchkey.command("user", "show", email);
    expect(stdout).toContain(`Suspended:           since ${new Date(since ?? 0).toISOString().slice(0, 16)}Z\n`);
  });

  test("is in `list --suspended`", async () => {
    await suspend();
    expect(await latchkey.command("user", "list", "--suspended")).toEqual(
      succeeded(`${email}  ${userId}  -  suspended\n`),
    );
  });

  test("is not made twice", async () => {
    await suspend();
    expect(await suspend()).toEqual(failed(`The account ${email} is suspended already.\n`));
  });

  test("lets `reset-link` print no link", async () => {
    await suspend();
    expect(await latchkey.command("user", "reset-link", email)).toEqual(
      failed(`The account ${email} is suspended: no link would work.\n`),
    );
  });

  test("is ended by `restore`", async () => {
    await suspend();
    expect(await latchkey.command("user", "restore", email)).toEqual(
      succeeded("The account is restored.\n", { event: "user.restored", ...logged }),
    );
    expect(await latchkey.command("user", "list", "--suspended")).toEqual(succeeded(""));
  });

  test("is needed by `restore`", async () => {
    expect(await latchkey.command("user", "restore", email)).toEqual(
      failed(`The account ${email} is not suspended.\n`),
    );
  });
});

describe("`groups`", () => {
  const changed = { event: "user.groups_changed", ...logged };
  const groups = (...options: string[]) => latchkey.command("user", "groups", email, ...options);

  beforeEach(() => add({}));

  test("shows nothing of a user without groups", async () => {
    expect(await groups()).toEqual(succeeded(""));
  });

  test("adds groups", async () => {
    expect(await groups("--add", "staff", "--add", "admin")).toEqual(succeeded("admin\nstaff\n", changed));
  });

  test("removes groups", async () => {
    await groups("--add", "staff", "--add", "admin");
    expect(await groups("--remove", "admin", "--remove", "nobody")).toEqual(succeeded("staff\n", changed));
  });

  test.each(["Staff", "-staff", "a b", "", "a".repeat(65), "a,b"])("takes no group of the name %j", async (name) => {
    const { status, stderr } = await groups("--add", name);
    expect(status).toBe(2);
    expect(stderr).toContain("A group has 1 to 64 characters: a-z and 0-9, and after the first one also . _ -.\n");
  });

  test("has a help without defaults", async () => {
    expect((await latchkey.command("user", "groups", "--help")).stdout).not.toContain("default");
  });

  test("changes nothing with a 33rd group", async () => {
    await groups("--add", "staff");
    const many = Array.from({ length: 32 }, (_, at) => ["--add", `g${at}`]).flat();
    expect(await latchkey.unchanged(() => groups(...many))).toEqual(
      failed("Nothing was changed: a user has at most 32 groups.\n"),
    );
  });

  test("makes groups that `list --group` knows", async () => {
    await groups("--add", "staff");
    expect(await latchkey.command("user", "list", "--group", "staff")).toEqual(
      succeeded(`${email}  ${userId}  staff\n`),
    );
  });

  test("refuses an invalid name of a group, as `list --group` does", async () => {
    const refusal = /^error: option '--\w+ <NAME>' argument 'Staff' is invalid\. A group has 1 to 64 characters/;
    for (const words of [
      ["groups", email, "--add", "Staff"],
      ["list", "--group", "Staff"],
    ]) {
      const refused = await latchkey.unchanged(() => latchkey.command("user", ...words));
      expect(refused).toMatchObject({ status: 2, stderr: expect.stringMatching(refusal) });
    }
  });

  test("makes groups that `list --json` has", async () => {
    await groups("--add", "staff");
    const { stdout } = await latchkey.command("user", "list", "--json");
    expect(JSON.parse(stdout)).toEqual({
      id: userId,
      email,
      name: null,
      groups: ["staff"],
      createdAt: now,
      suspendedAt: null,
    });
  });
});

describe("`clear-limits`", () => {
  const keys = async () =>
    (await latchkey.execute<{ key: string }>("select key from rate_limits")).map(({ key }) => key);
  const clear = () => latchkey.command("user", "clear-limits", email);

  beforeEach(async () => {
    await add({ password_hash: "a hash" });
    await latchkey.execute(
      "insert into devices (token_hash, user_id, created_at, last_seen_at) values ('d', ?, now(), now())",
      [userId],
    );
    for (const address of [email, "bob@example.com"]) {
      await askForReset(address);
      await logIn({ email: address, password: "wrong" });
    }
    await latchkey.execute("insert into rate_limits values ('login:device:d', 10, 0), ('login:device:other', 10, 0)");
  });

  test("clears what was counted for the address with its known browsers", async () => {
    expect(await clear()).toEqual(succeeded("4 counts cleared.\n"));
    expect(await clear()).toEqual(succeeded("0 counts cleared.\n"));
  });

  test("takes the id of an account", async () => {
    expect(await latchkey.command("user", "clear-limits", userId)).toEqual(succeeded("4 counts cleared.\n"));
  });

  test("leaves what was counted for others", async () => {
    const before = (await keys()).length;
    await clear();
    expect(await keys()).toHaveLength(before - 4);
    expect(await keys()).toContain("login:device:other");
  });
});

const passwordsOff = { PASSWORDS: "off", IDP_CLIENT_ID: "id", IDP_CLIENT_SECRET: "secret" };

test("with PASSWORDS=off `create` prints no link", async () => {
  latchkey.configure(passwordsOff);
  const { stdout, status } = await latchkey.command("user", "create", email);
  expect([stdout, status]).toEqual([expect.stringMatching(/^User id: [0-9a-f-]{36}\n$/), 0]);
  expect(await latchkey.execute("select from password_resets")).toEqual([]);
});

test("with PASSWORDS=off `reset-link` is refused", async () => {
  latchkey.configure(passwordsOff);
  await latchkey.command("user", "create", email);
  const reason = "There are no passwords: PASSWORDS is off. Accounts come from the provider.\n";
  expect(await latchkey.command("user", "reset-link", email)).toEqual(failed(reason));
  expect(await latchkey.execute("select from password_resets")).toEqual([]);
});

describe("`create --mail` with REGISTRATION=closed", () => {
  const create = () => latchkey.command("user", "create", email, "--mail");

  beforeEach(() => void latchkey.configure({ REGISTRATION: "closed", DEFAULT_LOCALE: "de" }));

  test("prints no link", async () => {
    const { stdout, status } = await create();
    const printed = /^User id: [0-9a-f-]{36}\nThe mail is on its way\.\n$/;
    expect([stdout, status]).toEqual([expect.stringMatching(printed), 0]);
  });

  test("mails the link in DEFAULT_LOCALE", async () => {
    await create();
    const jobs = await latchkey.execute("select data from pgboss.job where data ->> 'email' is not null");
    expect(jobs).toEqual([{ data: { task: "mail_invitation", email, language: "de" } }]);
  });

  test("logs the invitation when it is sent", async () => {
    await create();
    await latchkey.drain();
    expect(latchkey.events()).toContainEqual({ event: "registration.sent" });
  });
});

describe("with PASSWORDS=off", () => {
  const accounts = "hashed linked old-link elsewhere nothing with-passkey suspended";

  beforeEach(async () => {
    latchkey.configure({ PASSWORDS: "off", IDP_CLIENT_ID: "id", IDP_CLIENT_SECRET: "secret", IDP_PROVIDER: "github" });
    await latchkey.execute(`
    insert into users (id, email, password_hash, idp_id, idp_issuer, suspended_at, created_at)
    select gen_random_uuid(), name || '@example.com', hash, idp_id, issuer, suspended, now() from (values
      ('hashed', 'a hash', null, null, null), ('linked', null, '1', 'github', null), ('old-link', null, '2', null, null),
      ('elsewhere', null, '3', 'google', null), ('nothing', null, null, null, null), ('with-passkey', null, null, null, null),
      ('suspended', null, null, null, now())) as one (name, hash, idp_id, issuer, suspended)`);
    await latchkey.execute(`
    insert into passkeys (credential_id, user_id, public_key, counter, transports, backed_up, name, created_at)
    select 'key', id, '', 0, '{}', false, 'a key', now() from users where email like 'with-passkey%'`);
  });

  const listed = async (option: string) => {
    const { stdout } = await latchkey.command("user", "list", option, "--json");
    return stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line).email.split("@")[0]);
  };

  test("`list --no-way-in` lists who has no way to sign in", async () => {
    expect(await listed("--no-way-in")).toEqual(["elsewhere", "hashed", "nothing"]);
  });

  test("`list --unlinked` lists whom a logout at the provider does not reach", async () => {
    const reached = ["linked", "old-link"];
    const others = accounts.split(" ").filter((name) => !reached.includes(name));
    expect(await listed("--unlinked")).toEqual(others.sort());
  });

  test("`doctor` counts both", async () => {
    const { stdout } = await latchkey.command("doctor", "--json");
    expect(JSON.parse(stdout).filter(({ name }: { name: string }) => name === "accounts")).toEqual([
      {
        status: "warn",
        name: "accounts",
        found: "with PASSWORDS=off, 3 have no way in before they sign in at the provider with their address",
        fix: "`latchkey user list --no-way-in` names them",
      },
      {
        status: "warn",
        name: "accounts",
        found: "with PASSWORDS=off, 4 are not connected to the provider, whose logout ends no session of theirs",
        fix: "`latchkey user list --unlinked` names them",
      },
    ]);
  });
});

test.each<[string, string, string]>([
  ["create", email, `The address ${email} has an account already.\n`],
  ["create", "ada", "ada is not an email address.\n"],
  ["show", "bob@example.com", "There is no account bob@example.com.\n"],
  ["unlink", email, `The provider is the only way to sign in to ${email}. Nothing was changed.\n`],
])("`%s %s` that cannot be done changes nothing", async (name, operand, stderr) => {
  await add({ idp_id: "42" });
  expect(await latchkey.unchanged(() => latchkey.command("user", name, operand))).toEqual(failed(stderr));
});

describe("`name`", () => {
  const setName = (...names: string[]) => latchkey.command("user", "name", email, ...names);
  const stored = () => latchkey.execute("select name from users");
  const changed = { event: "name.changed", ...logged };

  beforeEach(() => add({ password_hash: "a hash" }));

  test("gives the account a name", async () => {
    expect(await setName(" Ada L. ")).toEqual(succeeded("The account has this name.\n", changed));
    expect(await stored()).toEqual([{ name: "Ada L." }]);
  });

  test("without a name takes it away", async () => {
    await setName("Ada");
    expect(await setName()).toEqual(succeeded("The account has no name.\n", changed));
    expect(await stored()).toEqual([{ name: null }]);
  });

  test("refuses what is no name", async () => {
    expect(await latchkey.unchanged(() => setName("Ada\nL."))).toEqual(
      failed("A name is one line of plain text, of at most 100 characters.\n"),
    );
  });

  test("refuses an address without an account", async () => {
    expect(await latchkey.command("user", "name", "bob@example.com", "Bob")).toEqual(
      failed("There is no account bob@example.com.\n"),
    );
  });
});

describe("`set-email`", () => {
  const newEmail = "lovelace@example.com";
  const setEmail = (to = newEmail) => latchkey.command("user", "set-email", email, to);
  const done = { event: "email_change.completed", ...logged };

  beforeEach(() => add({ password_hash: "a hash" }));

  test("gives the account the address, and keeps its password", async () => {
    expect(await setEmail("Lovelace@EXAMPLE.com")).toEqual(
      succeeded(`The address of the account is ${newEmail}. 0 sessions ended.\n`, done),
    );
    expect(await latchkey.execute("select email, password_hash from users")).toEqual([
      { email: newEmail, password_hash: "a hash" },
    ]);
  });

  test("ends every session", async () => {
    await latchkey.signedIn(userId);
    expect((await setEmail()).stdout).toContain("1 session ended.");
    expect(await latchkey.execute("select 1 from sessions")).toEqual([]);
  });

  test("ends the registrations and the links of both addresses", async () => {
    await latchkey.execute(`insert into registrations (token_hash, email, expires_at)
      values ('a', '${newEmail}', now() + interval '1 hour')`);
    await latchkey.execute(`insert into password_resets (token_hash, email, expires_at)
      values ('b', '${email}', now() + interval '1 hour')`);
    await setEmail();
    expect(await latchkey.execute("select 1 from registrations union all select 1 from password_resets")).toEqual([]);
  });

  test("puts the passkeys in question", async () => {
    await latchkey.execute(`insert into passkeys (credential_id, user_id, public_key, counter, transports, backed_up, name, created_at)
      values ('c', '${userId}', 'k', 0, '{}', false, 'Phone', now())`);
    await setEmail();
    expect(await latchkey.execute("select 1 from passkeys where questioned_at is not null")).toHaveLength(1);
  });

  test("clears the mark of undeliverable mail", async () => {
    await latchkey.execute("update users set undeliverable_at = now(), undeliverable_by = 'mail.bounced'");
    await setEmail();
    expect(await latchkey.execute("select undeliverable_at from users")).toEqual([{ undeliverable_at: null }]);
  });

  test("is told in the history as an operator's", async () => {
    await setEmail();
    expect(await latchkey.execute("select type, actor from account_events where actor is not null")).toEqual([
      { type: "email_change.completed", actor: "operator" },
    ]);
  });

  test("is mailed to both addresses, and the old one does not learn the new one", async () => {
    await setEmail();
    await latchkey.drain();
    const mails = latchkey.mails().map(({ to, subject, text }) => [to, subject, text.includes(newEmail)]);
    expect(mails.sort()).toEqual([
      [email, "Your email address was changed", false],
      [newEmail, "Your email address was changed", true],
    ]);
  });

  test.each([
    ["its own address", email, "it has this address already"],
    ["the address of another account", "bob@example.com", "another account has this address"],
  ])("changes nothing for %s", async (_what, to, problem) => {
    await latchkey.createUser({ email: "bob@example.com" });
    const refused = await latchkey.unchanged(() => setEmail(to));
    expect(refused).toEqual(failed(`The account was not changed: ${problem}.\n`));
  });

  test("changes nothing for a suspended account", async () => {
    await latchkey.execute("update users set suspended_at = now()");
    const refused = await latchkey.unchanged(() => setEmail());
    expect(refused).toEqual(failed("The account was not changed: it is suspended.\n"));
  });

  test("changes nothing without an account", async () => {
    const refused = await latchkey.unchanged(() =>
      latchkey.command("user", "set-email", "nobody@example.com", newEmail),
    );
    expect(refused).toEqual(failed("There is no account nobody@example.com.\n"));
  });

  test("has status 2 for what is not an address", async () => {
    expect((await latchkey.unchanged(() => setEmail("no address"))).status).toBe(2);
  });
});
