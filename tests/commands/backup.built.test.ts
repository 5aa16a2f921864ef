import { spawn } from "node:child_process";
import { once } from "node:events";
import { createReadStream } from "node:fs";
import { copyFile, mkdir, mkdtemp, open, readdir, readFile, rm, stat, truncate, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { create } from "tar";
import { beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { hashPassword } from "#server/accounts/passwords/password-hashing";
import { openDatabase } from "#server/database/orm";
import { unknownVisitor } from "../support/accounts";
import { nodeFlags } from "../support/child-processes";
import { commandHere } from "../support/command";
import { goodPassword } from "../support/passwords";
import { runs } from "../support/property-runs";
import { type RunningServer, startServer } from "../support/server";
import { createFolder } from "../support/template-copy";
import { until } from "../support/until";
import { Visitor } from "../support/visitor";

let home: string;
let server: RunningServer;
let source: Record<string, string>;
/** A backup that the service made during ten sign-ins a second, and the command line wrote to standard output. */
let whole: string;
let madeAt: Date;
/** A reset link that was mailed before. */
let link: Record<string, string>;
const signedIn: { visitor: Visitor; answered: Date }[] = [];

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
  const passwordHash = await hashPassword(unknownVisitor, goodPassword);
  const accounts = join(home, "accounts");
  await writeFile(accounts, emails.map((email) => JSON.stringify({ email, passwordHash })).join("\n"));
  expect(await commandHere(["user", "import", accounts], source)).toMatchObject({ status: 0 });
  await new Visitor(server.url).askForReset(emails[0]);
  const mail = await server.mail(emails[0] as string, "Reset your password");
  link = Object.fromEntries(mail.link?.searchParams ?? []);
  whole = await backUpDuringSignIns();
  madeAt = new Date((await labelOf(whole)).madeAt);
  return async () => {
    await server.stop();
    await rm(home, { recursive: true });
  };
});

async function backUpDuringSignIns(): Promise<string> {
  let isMade = false;
  const backing = until(() => signedIn.length >= 10, "sign-ins are answered").then(printBackup);
  const done = backing.finally(() => {
    isMade = true;
  });
  const signIns: Promise<void>[] = [];
  // A slow machine signs in more slowly: more open attempts for one address than its limit are refused.
  const hasRoom = () => !isMade && signIns.length - signedIn.length < emails.length;
  const each = setInterval(() => hasRoom() && signIns.push(signIn(signIns.length)), 1_000 / runs(10));
  const file = await done;
  clearInterval(each);
  await Promise.all(signIns);
  return file;
}

async function signIn(number: number): Promise<void> {
  const visitor = new Visitor(server.url);
  const email = emails[number % emails.length] as string;
  expect(await visitor.logIn(email)).toMatchObject({ status: 302 });
  signedIn.push({ visitor, answered: new Date() });
}

/** The last file of a backup. */
async function labelOf(file: string): Promise<{ release: string; postgres: string; madeAt: string }> {
  const [label = ""] = /\{"release":.+?\}/.exec((await readFile(file)).subarray(-4096).toString()) ?? [];
  return JSON.parse(label);
}

const refused = (stderr: string) => ({ status: 1, stdout: "", stderr });

async function printBackup(): Promise<string> {
  const path = join(home, "whole");
  const file = await open(path, "w");
  const words = [...nodeFlags, "server/cli.js", "database", "backup", "-"];
  const env = { ...process.env, NODE_ENV: "production" as const, ...source };
  const child = spawn(process.execPath, words, { env, stdio: ["ignore", file.fd, "inherit"] });
  expect(await once(child, "close")).toEqual([0, null]);
  await file.close();
  return path;
}

async function serve(settings: Record<string, string>): Promise<RunningServer> {
  const restored = await startServer(settings);
  onTestFinished(async () => void (await restored.stop()));
  return restored;
}

/** Whether the service knows the session. */
async function isSignedIn({ url }: RunningServer, { cookies }: Visitor): Promise<boolean> {
  const elsewhere = new Visitor(url);
  for (const [name, value] of cookies) elsewhere.cookies.set(name, value);
  return (await elsewhere.get("/dashboard")).status === 200;
}

/** How many rows each table of a folder's database has, which no service holds. */
async function counts(name: string, ...tables: string[]): Promise<number[]> {
  const { orm, close } = await openDatabase(settingsOf(name).DATABASE_URL);
  const selected = tables.map((table, at) => `(select count(*)::int from ${table}) as "${at}"`);
  const [row] = await orm.em.fork().execute<Record<string, number>[]>(`select ${selected.join(", ")}`);
  await close();
  return Object.values(row ?? {});
}

const waiting = "pgboss.job where state in ('created', 'retry')";

const publishedKeys = async ({ url }: RunningServer) => (await fetch(`${url}/.well-known/jwks.json`)).json();

describe("a backup during ten sign-ins a second", () => {
  test("leaves nothing in the data folder, nor does one to a file that its owner alone can read", async () => {
    const file = join(home, "named");
    expect(await commandHere(["database", "backup", file], source)).toMatchObject({ status: 0 });
    expect(Date.parse((await labelOf(file)).madeAt)).toBeGreaterThan(madeAt.getTime());
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect(await readdir(join(home, "source"))).not.toContain(".unfinished");
  });

  test("has every session that was answered before it, every account and every key", async () => {
    expect(await commandHere(["database", "restore", whole, "--as-it-was"], settingsOf("as-it-was"))).toMatchObject({
      status: 0,
      stdout: `Restored the copy of ${madeAt.toISOString()}. Accounts, passkeys and tokens are as they were then.\n`,
    });
    expect(Math.min(...(await counts("as-it-was", waiting, "sessions", "password_resets")))).toBeGreaterThan(0);
    const restored = await serve(settingsOf("as-it-was"));
    const before = signedIn.filter(({ answered }) => answered <= madeAt);
    expect(before.length).toBeGreaterThanOrEqual(10);
    for (const { visitor } of before) expect(await isSignedIn(restored, visitor)).toBe(true);
    for (const email of emails) expect(await new Visitor(restored.url).logIn(email)).toMatchObject({ status: 302 });
    expect((await new Visitor(restored.url).reset(link)).status).toBe(302);
    expect(await publishedKeys(restored)).toEqual(await publishedKeys(server));
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

describe("a backup of a newer release's database, which no service holds,", () => {
  const newer = () => join(home, "of-a-newer-release");

  beforeAll(async () => {
    await createFolder(join(home, "newer"));
    const { orm, close } = await openDatabase(settingsOf("newer").DATABASE_URL);
    const migration = "insert into mikro_orm_migrations (name) values ('Migration29991231000000')";
    await orm.em.fork().execute(migration);
    await close();
    expect(await commandHere(["database", "backup", newer()], settingsOf("newer"))).toMatchObject({ status: 0 });
  });

  test("is a file that its owner alone can read, and leaves nothing beside it", async () => {
    expect((await stat(newer())).mode & 0o777).toBe(0o600);
    expect((await readdir(home)).filter((name) => name.includes("unfinished"))).toEqual([]);
    expect(await readdir(join(home, "newer"))).not.toContain(".unfinished");
  });

  test("is not restored, and the folder is left as it was", async () => {
    expect(await commandHere(["database", "restore", newer()], settingsOf("newer-restored"))).toEqual(
      refused("Nothing was restored: a newer release made the backup: use its command line.\n"),
    );
    expect(await readdir(join(home, "newer-restored"))).toEqual(["lock"]);
  });
});

test.each(["backup", "restore"])("`database %s` on PostgreSQL names its own programs", async (name) => {
  expect(await commandHere(["database", name, "file"], { DATABASE_URL: "postgresql://ada@127.0.0.1:1/x" })).toEqual(
    refused("PostgreSQL has `pg_dump` and `pg_restore` for this (docs/operation.md).\n"),
  );
});
