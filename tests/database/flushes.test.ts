import { execFile } from "node:child_process";
import fs from "node:fs";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { syncBuiltinESMExports } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import pg from "pg";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { countAttempt, loginLimit } from "#server/accounts/limits/rate-limits";
import { fillFolder, openEmbeddedDatabase } from "#server/database/embedded";
import { type Database, openDatabase } from "#server/database/orm";
import { query, setOrm } from "#server/database/unit-of-work";
import { JobQueue, mails } from "#server/queue/job-queue";
import { nodeFlags } from "../support/child-processes";
import { createFolder } from "../support/template-copy";

const folder = await mkdtemp(join(tmpdir(), "latchkey-flush-"));
const dataFolder = join(folder, "data");

const fsyncSync = fs.fsyncSync;
let flushed: string[]; // the paths, since the test began

function replaceFsync(by: typeof fsyncSync): void {
  fs.fsyncSync = by;
  syncBuiltinESMExports();
}

function recordFlushes(): void {
  flushed = [];
  replaceFsync((descriptor) => {
    flushed.push(fs.readlinkSync(`/proc/self/fd/${descriptor}`));
    fsyncSync(descriptor);
  });
}

const execute = <Row = object>(sql: string, values: unknown[] = []) => query((em) => em.execute<Row[]>(sql, values));

let database: Database;
let queue: JobQueue;

beforeAll(async () => {
  await createFolder(dataFolder);
  database = await openDatabase(`pglite:${dataFolder}`);
  setOrm(database.orm);
  queue = new JobQueue(database.orm);
  await queue.open();
});

beforeEach(async () => {
  await execute("checkpoint");
  recordFlushes();
});

afterAll(async () => {
  replaceFsync(fsyncSync);
  await queue.stop();
  await database.close();
  await rm(folder, { recursive: true });
});

const enqueueMail = () =>
  query((em) => queue.enqueue(em, { task: "mail_password_reset", email: "ada@example.com", language: "en" }));

describe("on the embedded database", () => {
  test("each commit flushes the log once, and a read flushes nothing", async () => {
    await execute("create table counted (n int)");
    await execute("checkpoint");
    flushed = [];
    for (let n = 0; n < 20; n++) await execute("insert into counted values (?)", [n]);
    for (let n = 0; n < 20; n++) await execute("select n from counted");
    expect(flushed.filter((path) => path.includes("/pg_wal/"))).toHaveLength(20);
  });

  test("a count of attempts is committed without a flush", async () => {
    await countAttempt(loginLimit, "ada@example.com", "192.0.2.1");
    expect(flushed).toEqual([]);
    expect(await execute("select count(*)::int as counters from rate_limits")).toEqual([{ counters: 2 }]);
  });

  test("jobs that are enqueued at once are flushed together", async () => {
    await Promise.all(Array.from({ length: 20 }, enqueueMail));
    expect(flushed.length).toBeLessThanOrEqual(2);
    expect(await execute("delete from pgboss.job returning 1")).toHaveLength(20);
  });

  test("a job is begun without a flush", async () => {
    await enqueueMail();
    flushed = [];
    const atBegin: string[][] = [];
    await queue.worker(mails, async () => void atBegin.push([...flushed])).drain();
    expect(atBegin).toEqual([[]]);
  });

  test("a new table flushes its folder, and a checkpoint flushes the table", async () => {
    await execute("create table flushed as select 1 as n");
    const [row] = await execute<{ path: string }>("select pg_relation_filepath('flushed') as path");
    await execute("checkpoint");
    const ends = flushed.map((path) => path.slice(path.indexOf("/base/") + 1));
    expect(ends).toContain(dirname(row!.path));
    expect(ends).toContain(row!.path);
  });
});

test("of two copies that are asked for at once, one is made", async () => {
  const names = (files: string) => Promise.resolve(fs.readdirSync(files));
  const copies = await Promise.all([1, 2].map(() => database.connection.withCopy?.(names)));
  expect(copies).toEqual([expect.arrayContaining(["PG_VERSION", "pg_wal"]), null]);
});

test("the name of each new folder on the way to the database is flushed", async () => {
  const home = join(folder, "new", "home");
  expect(await fillFolder(home, (files) => mkdir(files))).toBe(true);
  expect(flushed).toEqual(expect.arrayContaining([folder, join(folder, "new"), home]));
});

describe("a first start that was cut off", () => {
  const cutOff = join(folder, "cut-off");

  beforeAll(async () => {
    await mkdir(join(cutOff, ".unfinished"), { recursive: true });
    await writeFile(join(cutOff, ".unfinished", "PG_VERSION"), "");
    process.umask(0o022); // which the start replaces
    const { host, close } = await openEmbeddedDatabase(cutOff);
    const client = new pg.Client({ host, user: "postgres", database: "postgres" });
    await client.connect();
    await client.query("create table made (n int)");
    return async () => {
      await client.end();
      await close();
    };
  });

  test("is made anew", () => {
    expect(fs.readdirSync(cutOff).sort()).toEqual(["lock", "pglite"]);
  });

  test("makes files for their owner only", () => {
    const files = fs.readdirSync(cutOff, { recursive: true, encoding: "utf8" });
    const modes = files.map((name) => [name, fs.statSync(join(cutOff, name)).mode & 0o077]);
    expect(files.length).toBeGreaterThan(100);
    expect(modes.filter(([, mode]) => mode !== 0)).toEqual([]);
  });
});

const commitOnBrokenDisk = `
  import fs from "node:fs";
  import { syncBuiltinESMExports } from "node:module";
  import pg from "pg";
  import { openEmbeddedDatabase } from "./server/database/embedded.ts";
  const { host } = await openEmbeddedDatabase(process.env.FOLDER);
  const client = new pg.Client({ host, user: "postgres", database: "postgres" });
  await client.connect();
  await client.query("create table lost (n int)");
  fs.fsyncSync = () => { throw Object.assign(new Error("EIO: i/o error, fsync"), { code: "EIO" }); };
  syncBuiltinESMExports();
  await client.query("insert into lost values (1)");
  console.log("answered");
`;

const checkpointOnBrokenDisk = `
  import { open } from "node:fs/promises";
  import { flushTables } from "./server/database/flushed-files.ts";
  const { constructor } = await open(process.env.FOLDER);
  constructor.prototype.sync = async () => { throw Object.assign(new Error("EIO: i/o error, fsync"), { syscall: "fsync" }); };
  await flushTables(process.env.FOLDER + "/pglite");
  console.log("flushed");
`;

describe("on a broken disk", () => {
  const FOLDER = join(folder, "broken-disk");

  beforeAll(async () => void (await createFolder(FOLDER)));

  test.each([
    ["a commit that cannot be flushed is not answered, and", commitOnBrokenDisk],
    ["a flush of the tables that fails", checkpointOnBrokenDisk],
  ])("%s ends the process with a line", async (_what, program) => {
    const args = [...nodeFlags, "--import", "tsx", "--input-type=module", "--eval", program];
    const ended = await new Promise<{ code: unknown; output: string }>((resolve) => {
      const env = { ...process.env, NODE_ENV: "production" as const, FOLDER };
      execFile(process.execPath, args, { env }, (error, stdout) => resolve({ code: error?.code, output: stdout }));
    });
    expect(ended.code).toBe(1);
    expect(ended.output.trim().split("\n")).toHaveLength(1);
    expect(JSON.parse(ended.output)).toMatchObject({
      level: 60,
      msg: "The embedded database cannot be flushed to the disk.",
    });
  });
});
