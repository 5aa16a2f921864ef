import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { folderOf } from "#server/database/embedded";
import { type Database, openDatabase } from "#server/database/orm";
import { setOrm } from "#server/database/unit-of-work";
import { purgeExpired } from "#server/features/operator/purge";
import { configure } from "../support/configure";
import { createFolder } from "../support/template-copy";

const megabyte = 1024 * 1024;

async function megabytesOf(folder: string): Promise<number> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  const sizes = await Promise.all(files.map(({ parentPath, name }) => stat(join(parentPath, name))));
  return sizes.reduce((sum, { size }) => sum + size, 0) / megabyte;
}

/** A round of 2,000 links that are asked for, and expire: what a busy minute leaves. */
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
  await em.execute("select pg_stat_force_next_flush()"); // A statement's counts otherwise wait a second.
}

async function openFolder() {
  const created = await createFolder();
  configure({ DATABASE_URL: created.url });
  const database = await openDatabase(created.url);
  setOrm(database.orm);
  onTestFinished(async () => {
    await database.close();
    await created.drop();
  });
  const folder = join(folderOf(created.url) as string, "pglite");
  return { database, folder, log: join(folder, "pg_wal") };
}

test("the folder of the embedded database and its log stay as they are after many rounds of links and purges", async () => {
  const { database, folder, log } = await openFolder();
  const sizes: { whole: number; log: number }[] = [];
  for (let round = 0; round < 16; round++) {
    await writeRound(database, round);
    await purgeExpired();
    sizes.push({ whole: await megabytesOf(folder), log: await megabytesOf(log) });
  }
  const early = Math.max(...sizes.slice(4, 8).map(({ whole, log }) => whole - log));
  expect(Math.max(...sizes.map(({ log }) => log))).toBeLessThanOrEqual(48);
  expect(Math.max(...sizes.slice(8).map(({ whole, log }) => whole - log))).toBeLessThanOrEqual(early + 1);
}, 120_000);

const analysed =
  "select relname from pg_class where relkind = 'r' and reltuples >= 0 and relname in ('users', 'sessions')";

test("a purge analyses the tables whose rows have changed, and no other one", async () => {
  const { database } = await openFolder();
  const em = database.orm.em.fork();
  await em.execute(`insert into users (id, email, created_at)
    select gen_random_uuid(), n || '@example.com', now() from generate_series(1, 1000) n`);
  await em.execute("select pg_stat_force_next_flush()");
  await purgeExpired();
  expect(await em.execute(analysed)).toEqual([{ relname: "users" }]);
});
