import { createReadStream } from "node:fs";
import { copyFile, mkdir, mkdtemp, readdir, readFile, rm, stat, truncate, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { create } from "tar";
import { beforeAll, describe, expect, test, vi } from "vitest";
import { openDatabase } from "#server/database/orm";
import { importLines } from "../support/accounts";
import { commandHere } from "../support/command";
import { type RunningServer, startServer } from "../support/server";
import { createFolder } from "../support/template-copy";
import { Visitor } from "../support/visitor";

let home: string;
let server: RunningServer;
let source: Record<string, string>;
/** A backup that was made beside the service. */
let whole: string;
let madeAt: Date;

/** Webhooks wait: nothing listens there. */
const keys = {
  WEBHOOK_URL: "http://127.0.0.1:9/",
  WEBHOOK_SECRET: `whsec_${Buffer.alloc(32, 1).toString("base64")}`,
  IDENTITY_TOKENS: "on",
  IDENTITY_KEY: Buffer.alloc(32, 1).toString("base64"),
  TRUST_PROXY: "true",
};
const settingsOf = (name: string) => ({ ...keys, DATABASE_URL: `pglite:${join(home, name)}` });

const emails = Array.from({ length: 10 }, (_, n) => `${n}@example.com`);

beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), "latchkey-backup-"));
  source = settingsOf("source");
  await createFolder(join(home, "source"));
  server = await startServer(source);
  const accounts = join(home, "accounts");
  await writeFile(accounts, await importLines(emails));
  expect(await commandHere(["user", "import", accounts], source)).toMatchObject({ status: 0 });
  const visitor = new Visitor(server.url);
  await visitor.askForReset(emails[0]);
  await server.mail(emails[0] as string, "Reset your password");
  expect(await visitor.logIn(emails[0])).toMatchObject({ status: 302 });
  whole = join(home, "whole");
  expect(await commandHere(["database", "backup", whole], source)).toMatchObject({ status: 0 });
  madeAt = new Date((await labelOf(whole)).madeAt);
  return async () => {
    await server.stop();
    await rm(home, { recursive: true });
  };
});

/** The last file of a backup. */
async function labelOf(file: string): Promise<{ release: string; postgres: string; madeAt: string }> {
  const [label = ""] = /\{"release":.+?\}/.exec((await readFile(file)).subarray(-4096).toString()) ?? [];
  return JSON.parse(label);
}

const refused = (stderr: string) => ({ status: 1, stdout: "", stderr });

/** How many rows each table of a folder's database has, which no service holds. */
async function counts(name: string, ...tables: string[]): Promise<number[]> {
  const { orm, close } = await openDatabase(settingsOf(name).DATABASE_URL);
  const selected = tables.map((table, at) => `(select count(*)::int from ${table}) as "${at}"`);
  const [row] = await orm.em.fork().execute<Record<string, number>[]>(`select ${selected.join(", ")}`);
  await close();
  return Object.values(row ?? {});
}

const waiting = "pgboss.job where state in ('created', 'retry')";

describe("a backup beside the service", () => {
  test("is a file that its owner alone can read, and leaves nothing else", async () => {
    expect((await stat(whole)).mode & 0o777).toBe(0o600);
    const files = [...(await readdir(home)), ...(await readdir(join(home, "source")))];
    expect(files.filter((name) => name.includes("unfinished"))).toEqual([]);
  });

  test("is restored as it was", async () => {
    expect(await commandHere(["database", "restore", whole, "--as-it-was"], settingsOf("as-it-was"))).toMatchObject({
      status: 0,
      stdout: `Restored the copy of ${madeAt.toISOString()}. Accounts, passkeys and tokens are as they were then.\n`,
    });
    const kept = ["sessions", "password_resets", "users", "signing_keys"];
    const [waitingJobs, ...rows] = await counts("as-it-was", waiting, ...kept);
    expect(waitingJobs).toBeGreaterThan(0);
    expect(rows).toEqual([1, 1, emails.length, 1]);
  });
});

describe("a backup from standard input", () => {
  const piped = () => settingsOf("piped");

  beforeAll(async () => {
    vi.spyOn(process, "stdin", "get").mockReturnValue(createReadStream(whole) as unknown as typeof process.stdin);
    expect(await commandHere(["database", "restore", "-"], piped())).toMatchObject({ status: 0 });
  });

  test("is restored with its accounts", async () => {
    const { stdout } = await commandHere(["user", "list"], piped());
    expect(stdout.trim().split("\n")).toHaveLength(emails.length);
  });

  test("is restored without its sessions, mailed links and waiting webhooks", async () => {
    expect(await counts("piped", waiting, "sessions", "password_resets")).toEqual([0, 0, 0]);
  });
});

test("a backup overwrites no file", async () => {
  const file = join(home, "other");
  await writeFile(file, "other");
  expect(await commandHere(["database", "backup", file], source)).toEqual(refused(`${file} is there already.\n`));
  expect(await readFile(file, "utf8")).toBe("other");
});

describe("a restore is refused, and leaves the folder as it was,", () => {
  const noBackup = "Nothing was restored: the file is not a backup of Latchkey, is damaged or is cut short.\n";

  test.each([
    ["that is cut short", (file: string) => truncate(file, 1_000_000)],
    ["whose end is missing", async (file: string) => truncate(file, (await stat(file)).size - 2048)],
    ["that is none", (file: string) => writeFile(file, "no backup")],
    ["that is empty", (file: string) => truncate(file, 0)],
  ])("of a file %s", async (_what, change) => {
    const changed = join(home, "changed");
    await copyFile(whole, changed);
    await change(changed);
    expect(await commandHere(["database", "restore", changed], settingsOf("changed-restored"))).toEqual(
      refused(noBackup),
    );
    expect(await readdir(join(home, "changed-restored"))).toEqual(["lock"]);
  });

  test("of a file of another PostgreSQL", async () => {
    const changed = join(home, "other-postgres");
    await writeFile(join(home, "latchkey.json"), JSON.stringify({ ...(await labelOf(whole)), postgres: "17" }));
    await create({ file: changed, cwd: home }, ["latchkey.json"]);
    expect(await commandHere(["database", "restore", changed], settingsOf("other-restored"))).toEqual(
      refused(
        "Nothing was restored: the backup is of another version of PostgreSQL: use the release of Latchkey that made it.\n",
      ),
    );
  });

  test("of a file of a newer release, which was made without a service", async () => {
    const settings = settingsOf("newer");
    await createFolder(join(home, "newer"));
    const { orm, close } = await openDatabase(settings.DATABASE_URL);
    const migration = "insert into mikro_orm_migrations (name) values ('Migration29991231000000')";
    await orm.em.fork().execute(migration);
    await close();
    const newer = join(home, "of-a-newer-release");
    expect(await commandHere(["database", "backup", newer], settings)).toMatchObject({ status: 0 });
    expect(await readdir(join(home, "newer"))).not.toContain(".unfinished");
    expect(await commandHere(["database", "restore", newer], settingsOf("newer-restored"))).toEqual(
      refused("Nothing was restored: a newer release made the backup: use its command line.\n"),
    );
    expect(await readdir(join(home, "newer-restored"))).toEqual(["lock"]);
  });

  test("into a folder that has a database", async () => {
    const database = join(home, "taken", "pglite");
    await mkdir(database, { recursive: true });
    await writeFile(join(database, "PG_VERSION"), "18\n");
    expect(await commandHere(["database", "restore", whole], settingsOf("taken"))).toEqual(
      refused("Nothing was restored: the data folder has a database.\n"),
    );
    expect(await readdir(database)).toEqual(["PG_VERSION"]);
  });
});

test.each(["backup", "restore"])("`database %s` on PostgreSQL names its own programs", async (name) => {
  expect(await commandHere(["database", name, "file"], { DATABASE_URL: "postgresql://ada@127.0.0.1:1/x" })).toEqual(
    refused("PostgreSQL has `pg_dump` and `pg_restore` for this (docs/operation.md).\n"),
  );
});
