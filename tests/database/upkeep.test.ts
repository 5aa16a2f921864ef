import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { beforeAll, beforeEach, expect, test } from "vitest";
import { folderOf } from "#server/database/embedded";
import { type Database, openDatabase } from "#server/database/orm";
import { setOrm } from "#server/database/unit-of-work";
import { purgeExpired } from "#server/features/operator/purge";
import { importUsers } from "#server/features/operator/user-import";
import { configure } from "../support/configure";
import { runs } from "../support/property-runs";
import { createFolder } from "../support/template-copy";

const megabyte = 1024 * 1024;

async function megabytesOf(folder: string): Promise<number> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  const sizes = await Promise.all(files.map(({ parentPath, name }) => stat(join(parentPath, name))));
  return sizes.reduce((sum, { size }) => sum + size, 0) / megabyte;
}

/**
 * Writes what a busy minute leaves: 2,000 links that were asked for, and expired. The log gets 4 MiB more, so that a
 * missing checkpoint shows in a few rounds.
 */
async function writeRound({ orm }: Database, round: number): Promise<void> {
  const em = orm.em.fork();
  const numbers = "generate_series(1, 2000) n";
  await em.execute(`insert into password_resets
    select encode(sha256(('${round} ' || n)::bytea), 'hex'), n || '@example.com', now() - interval '1 s' from ${numbers}`);
  await em.execute(`insert into rate_limits select n::text, 1, 0 from ${numbers}`);
  await em.execute(
    `insert into pgboss.job (name, data) select 'latchkey', jsonb_build_object('task', n) from ${numbers}`,
  );
  await em.execute("update pgboss.job set state = 'active'");
  await em.execute("delete from pgboss.job");
  await em.execute("select pg_logical_emit_message(false, 'more', repeat('-', 4 * 1024 * 1024))");
  await em.execute("select pg_stat_force_next_flush()"); // A statement's counts otherwise wait a second.
}

let database: Database;
let folder: string;
let log: string;

beforeAll(async () => {
  const created = await createFolder();
  configure({ DATABASE_URL: created.url });
  database = await openDatabase(created.url);
  setOrm(database.orm);
  folder = join(folderOf(created.url) as string, "pglite");
  log = join(folder, "pg_wal");
  return async () => {
    await database.close();
    await created.drop();
  };
});

beforeEach(() => database.orm.em.fork().execute("delete from users; select pg_stat_reset()"));

test("the folder of the embedded database and its log stay as they are after many rounds of links and purges", async () => {
  const sizes: { whole: number; log: number }[] = [];
  const rounds = runs(8);
  for (let round = 0; round < rounds; round++) {
    await writeRound(database, round);
    await purgeExpired();
    sizes.push({ whole: await megabytesOf(folder), log: await megabytesOf(log) });
  }
  const early = Math.max(...sizes.slice(rounds / 4, rounds / 2).map(({ whole, log }) => whole - log));
  expect(Math.max(...sizes.map(({ log }) => log))).toBeLessThanOrEqual(48);
  expect(Math.max(...sizes.slice(rounds / 2).map(({ whole, log }) => whole - log))).toBeLessThanOrEqual(early + 1);
}, 120_000);

const analysed = "select relname from pg_stat_all_tables where analyze_count > 0 and relname in ('users', 'sessions')";

test("a purge analyses the tables whose rows have changed, and no other one", async () => {
  const em = database.orm.em.fork();
  await em.execute(`insert into users (id, email, created_at)
    select gen_random_uuid(), n || '@example.com', now() from generate_series(1, 1000) n`);
  await em.execute("select pg_stat_force_next_flush()");
  await purgeExpired();
  expect(await em.execute(analysed)).toEqual([{ relname: "users" }]);
});

test("an import does not read every account for each line, though there were few when its plans were made", async () => {
  const em = database.orm.em.fork();
  const importLines = (name: string, count: number) =>
    importUsers(
      Array.from({ length: count }, (_, n) => JSON.stringify({ email: `${name}-${n}@example.com` })),
      () => {},
    );
  await importLines("few", 10);
  await em.execute("vacuum analyze users");
  for (let time = 0; time < 6; time++) await importLines(`one-${time}`, 1); // From the sixth on, a plan is kept.
  await em.execute("select pg_stat_reset()");
  await importLines("many", 1_000);
  await em.execute("select pg_stat_force_next_flush()");
  const [read] = await em.execute<{ rows: number }[]>(
    "select seq_tup_read::int as rows from pg_stat_all_tables where relname = 'users'",
  );
  expect(read?.rows).toBeLessThan(100_000); // 549,000 with the plans that were made before.
});
