import { cp } from "node:fs/promises";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { entityTables } from "#server/database/copy-rows";
import { openDatabase } from "#server/database/orm";
import { commandHere } from "../support/command";
import { createDatabases } from "../support/databases";
import { type MailService, startMailService } from "../support/mail-service";
import { twice } from "../support/passwords";
import { ada, startScriptedProvider } from "../support/scripted-provider";
import { createEmptyDatabase, freePort, startServer, type TestDatabase } from "../support/server";
import { createDatabase } from "../support/template-copy";
import { Visitor } from "../support/visitor";

const cluster = createDatabases();
let embedded: TestDatabase;

beforeAll(async () => {
  embedded = await createEmptyDatabase("embedded");
  await commandHere(["database", "migrate"], { DATABASE_URL: embedded.url });
});

afterAll(() => embedded.drop());

/** Runs statements on a database that no process has open. Returns the rows of each. */
async function queries(url: string, statements: string[]): Promise<unknown[][]> {
  const { orm, close } = await openDatabase(url);
  try {
    const results: unknown[][] = [];
    for (const sql of statements) results.push(await orm.em.fork().execute(sql));
    return results;
  } finally {
    await close();
  }
}

const query = async (url: string, sql: string) => (await queries(url, [sql]))[0];

const tables = [...entityTables().map(({ table }) => table), "pgboss.job"];

async function rowsOf(url: string): Promise<Record<string, unknown[]>> {
  const unfinished = (table: string) => (table === "pgboss.job" ? "where state <> 'completed'" : "");
  const rows = await queries(
    url,
    tables.map((table) => `select t::text from ${table} t ${unfinished(table)} order by 1`),
  );
  return Object.fromEntries(tables.map((table, at) => [table, rows[at]!]));
}

/** The relations of a database that is not a service's yet. */
const relations = (url: string) =>
  query(url, "select relname from pg_class where relnamespace > 16384 or relnamespace = 2200");

/** A migrated database until the end of the test. */
async function sourceDatabase(): Promise<string> {
  const { url, drop } = await createDatabase();
  onTestFinished(drop);
  return url;
}

async function embeddedDatabase(): Promise<string> {
  const { url, drop } = await createEmptyDatabase("embedded");
  onTestFinished(drop);
  await cp(embedded.url.slice("pglite:".length), url.slice("pglite:".length), { recursive: true });
  return url;
}

const copy = (target: string, settings: { DATABASE_URL: string }) =>
  commandHere(["database", "copy", target], settings);

async function mailTo(mailService: MailService, email: string, subject: string) {
  const find = () => mailService.mails.find((mail) => mail.to === email && mail.subject === subject);
  await mailService.when(() => find() !== undefined);
  return find()!;
}

test("a service that moves to PostgreSQL goes on where it stopped", async () => {
  const source = await embeddedDatabase();
  const target = await cluster.createDatabase();
  const mailService = await startMailService();
  const provider = await startScriptedProvider();
  onTestFinished(async () => {
    await Promise.all([mailService.stop(), provider.stop()]);
  });
  const PORT = String(await freePort());
  const settings = { ...mailService.settings, ...provider.settings.oidc, TRUST_PROXY: "1", PORT };

  const first = await startServer({ ...settings, DATABASE_URL: source });
  const browser = new Visitor(first.url);
  await browser.post("/register", { email: ada.email });
  const registration = await mailTo(mailService, ada.email, "Finish creating your account");
  await browser.finishRegistration({ email: ada.email, token: registration.token });
  expect(await new Visitor(first.url).signInExternally()).toMatchObject({ status: 302, location: "/dashboard" });
  await new Visitor(first.url).askForReset(ada.email);
  const reset = await mailTo(mailService, ada.email, "Reset your password");
  for (let n = 0; n < 3; n++) await new Visitor(first.url).logIn(ada.email, "wrong");
  mailService.setBehaviour({ kind: "answer", status: 500, body: "Down" });
  await browser.post("/register", { email: "waiting@example.com" });
  await browser.post("/logout");
  await browser.logIn(ada.email);
  await new Visitor(first.url).post("/register", { email: "waiting@example.com" });
  await first.waitFor(/A job failed and will be retried/);
  expect(await first.stop()).toBe(0);

  const before = await rowsOf(source);
  const copied = await copy(target, { ...settings, DATABASE_URL: source });
  expect(copied).toMatchObject({ status: 0, stderr: "" });
  const counts = Object.entries(before).map(([table, rows]) => `${table} ${rows.length}\n`);
  expect(copied.stdout.replaceAll(/ +/g, " ")).toBe(counts.join(""));
  for (const table of ["users", "sessions", "password_resets", "devices", "rate_limits", "pgboss.job"]) {
    expect(before[table]?.length).toBeGreaterThan(0);
  }
  expect(await rowsOf(target)).toEqual(before);
  expect(await rowsOf(source)).toEqual(before);

  mailService.setBehaviour({ kind: "accept" });
  await query(target, "update pgboss.job set start_after = now() where state = 'retry'");
  const moved = await startServer({ ...settings, DATABASE_URL: target });
  onTestFinished(() => moved.kill());
  expect(await browser.get("/dashboard")).toMatchObject({ status: 200 });
  expect((await mailService.to("waiting@example.com")).subject).toBe("Finish creating your account");
  expect(await new Visitor(moved.url).signInExternally()).toMatchObject({ status: 302, location: "/dashboard" });
  const visitor = new Visitor(moved.url);
  expect((await visitor.logIn(ada.email)).location).toBe("/dashboard");
  const claim = { email: ada.email, token: reset.token, ...twice("another good password") };
  expect((await visitor.post("/reset-password", claim)).location).toBe("/login?notice=password_reset");
  await mailTo(mailService, ada.email, "Your password was changed");
  expect(await query(target, "select count(*)::int as users from users")).toEqual([{ users: 1 }]);
}, 120_000);

describe("a copy", () => {
  let before: Record<string, unknown[]>;
  let target: string;
  let copied: Awaited<ReturnType<typeof copy>>;

  beforeAll(async () => {
    const { url: source, drop } = await createDatabase();
    target = await cluster.createDatabase();
    const states = ["created", "retry", "active", "completed", "cancelled", "failed"];
    await queries(source, [
      `insert into users (id, email, name, picture_url, created_at)
       select gen_random_uuid(), 'user' || n || '@example.com', e'a "quote", a \\\\ and 你好 \\u0627 \\n' || n, null,
         now() - n * interval '1 microsecond' from generate_series(1, 2500) n`,
      "insert into rate_limits values ('key', 3, 9007199254740993)",
      ...states.map((state) => `insert into pgboss.job (name, state, data) values ('latchkey', '${state}', '{}')`),
    ]);
    before = await rowsOf(source);
    copied = await copy(target, { DATABASE_URL: source });
    await drop();
  });

  test("of more than one batch is complete", () => {
    expect(copied.status).toBe(0);
    expect(copied.stdout).toMatch(/^users +2500$/m);
  });

  test("has every value as it was", async () => {
    expect(await rowsOf(target)).toEqual(before);
  });

  test("is without finished jobs", async () => {
    expect(copied.stdout).toMatch(/^pgboss\.job +5$/m);
    expect(await query(target, "select from pgboss.job")).toHaveLength(5);
  });
});

test("every table belongs to an entity", async () => {
  const names = "select tablename as name from pg_tables where schemaname = 'public'";
  const stored = (await query(await sourceDatabase(), names)) as { name: string }[];
  expect(stored.map(({ name }) => name).sort()).toEqual(
    ["mikro_orm_migrations", ...tables.filter((table) => table !== "pgboss.job")].sort(),
  );
});

describe("a target that is not empty", () => {
  async function copyToUsed() {
    const source = await sourceDatabase();
    const target = await cluster.createDatabase();
    await query(target, "create table notes (id int)");
    const before = await relations(target);
    return { before, copied: await copy(target, { DATABASE_URL: source }), after: await relations(target) };
  }

  test("is refused", async () => {
    expect((await copyToUsed()).copied).toMatchObject({
      status: 1,
      stdout: "",
      stderr: "Nothing was copied: the database TO is not empty.\n",
    });
  });

  test("is unchanged", async () => {
    const { before, after } = await copyToUsed();
    expect(after).toEqual(before);
  });
});

describe("a row that the target refuses", () => {
  async function copyRefused() {
    const source = await sourceDatabase();
    const target = await cluster.createDatabase();
    await queries(source, [
      "alter table users drop constraint users_email_normalized",
      "insert into users (id, email, created_at) values (gen_random_uuid(), 'Not@Normal', now())",
    ]);
    return { source, target, copied: await copy(target, { DATABASE_URL: source }) };
  }

  test("is one message without the row", async () => {
    const { status, stdout, stderr } = (await copyRefused()).copied;
    expect({ status, stdout }).toEqual({ status: 1, stdout: "" });
    expect(stderr).toMatch(/^Nothing was copied: .*"users_email_normalized"\.$/m);
    expect(stderr).not.toContain("Not@Normal");
  });

  test("leaves the target empty", async () => {
    expect(await relations((await copyRefused()).target)).toEqual([]);
  });

  test("leaves the source as it was", async () => {
    expect(await query((await copyRefused()).source, "select email from users")).toEqual([{ email: "Not@Normal" }]);
  });
});

async function newerDatabase(): Promise<string> {
  const newer = await sourceDatabase();
  await query(newer, "insert into mikro_orm_migrations (name) values ('Migration99991231000000')");
  return newer;
}

test.each<[string, () => Promise<string>, string]>([
  [
    "without every migration",
    () => cluster.createDatabase(),
    "The database is not up to date: `latchkey database migrate` runs the migrations.\n",
  ],
  ["of a newer version", newerDatabase, "A newer version has migrated the database: use its command line.\n"],
])("a source %s is refused", async (_what, createSource, stderr) => {
  const target = await cluster.createDatabase();
  expect(await copy(target, { DATABASE_URL: await createSource() })).toMatchObject({ status: 1, stderr });
  expect(await relations(target)).toEqual([]);
});

test.each([
  ["pglite:./data", "TO must be a postgresql:// URL."],
  ["postgresql://u@h", "TO must be postgresql://USER:PASSWORD@HOST/DATABASE, each part percent-encoded."],
])("the target %s is wrong usage", async (to, problem) => {
  const { status, stdout, stderr } = await copy(to, { DATABASE_URL: await sourceDatabase() });
  expect({ status, stdout }).toEqual({ status: 2, stdout: "" });
  expect(stderr).toContain(`${problem}\n\nUsage: latchkey database copy TO\n`);
});

test("an unreachable target is named without its password", async () => {
  const port = await freePort();
  const to = `postgresql://postgres:a-secret@127.0.0.1:${port}/latchkey`;
  expect(await copy(to, { DATABASE_URL: await sourceDatabase() })).toMatchObject({
    status: 1,
    stdout: "",
    stderr: `The database at 127.0.0.1:${port}/latchkey cannot be used: connect ECONNREFUSED 127.0.0.1:${port}.\n`,
  });
});
