import { Migrator } from "@mikro-orm/migrations";
import { describe, expect, onTestFinished, test } from "vitest";
import { hasEveryMigration, migrate } from "#server/database/migrate";
import { migrationOptions } from "#server/database/migrations/index";
import { openDatabase } from "#server/database/orm";
import { prepareSchema } from "#server/features/operator/schema";
import { JobQueue } from "#server/queue/job-queue";
import { configure } from "../support/configure";
import { createDatabases } from "../support/databases";
import { connect } from "../support/postgres-cluster";
import { until } from "../support/until";

const { createDatabase } = createDatabases();

describe("a migration that is not recorded", () => {
  async function failToRecord() {
    const { orm, close } = await openDatabase(await createDatabase());
    onTestFinished(close);
    const execute = (sql: string) => orm.em.getConnection().execute<object[]>(sql);
    await execute(
      "create table mikro_orm_migrations (id serial primary key, name text, executed_at timestamptz default now())",
    );
    await execute("alter table mikro_orm_migrations add constraint refused check (name <> 'Migration20261124010000')");
    await expect(migrate(orm)).rejects.toThrow(/violates check constraint "refused"/);
    return { orm, execute };
  }

  test("is undone", async () => {
    const { execute } = await failToRecord();
    expect(await execute("select to_regclass('signing_keys') as made, to_regclass('devices') as before")).toEqual([
      { made: null, before: "devices" },
    ]);
  });

  test("runs at the next start", async () => {
    const { orm, execute } = await failToRecord();
    await execute("alter table mikro_orm_migrations drop constraint refused");
    await migrate(orm);
    expect(await hasEveryMigration(orm.em.fork())).toBe(true);
  });
});

test("an index of the job queue may take longer than a page's statement", async () => {
  const url = await createDatabase();
  const database = await openDatabase(url, null, 200); // ms
  const queue = new JobQueue(database.orm);
  configure({});
  await prepareSchema(database, queue);
  const request = await connect(url);
  const observer = await connect(url);
  await request.query("drop index pgboss.job_order_index");
  await request.query("begin");
  await request.query("insert into pgboss.job (name, data) values ('latchkey', '{}')"); // delays the index
  const prepared = prepareSchema(database, queue);
  const waits = `select from pg_stat_activity where query like '%job_order_index%' and pid <> pg_backend_pid()
    and state = 'active' and clock_timestamp() - query_start > interval '300 milliseconds'`;
  await until(async () => (await observer.query(waits)).rowCount === 1, "the index waits longer than a page may");
  await request.query("commit");
  await prepared;
  expect((await request.query("select to_regclass('pgboss.job_order_index') as made")).rows[0].made).not.toBeNull();
  await Promise.all([request.end(), observer.end()]);
  await queue.stop();
  await database.close();
});

test("the indexes of the job queue do not deadlock with a transaction that adds a job", async () => {
  const url = await createDatabase();
  const database = await openDatabase(url);
  const queue = new JobQueue(database.orm);
  configure({});
  await prepareSchema(database, queue);
  const request = await connect(url);
  const observer = await connect(url);
  await request.query("drop index pgboss.job_order_index, pgboss.job_waiting_index");
  await request.query("begin");
  await request.query("lock table only pgboss.job in row exclusive mode"); // as an insert does first
  const prepared = prepareSchema(database, queue);
  const waits = "select from pg_locks where not granted and relation = 'pgboss.job'::regclass";
  await until(async () => (await observer.query(waits)).rowCount === 1, "an index waits for the table");
  await request.query("insert into pgboss.job (name, data) values ('latchkey', '{}')");
  await request.query("commit");
  await prepared;
  await Promise.all([request.end(), observer.end()]);
  await queue.stop();
  await database.close();
});

// One transaction for all migrations would keep the lock of an index on `users` and wait for a stronger one.
test("migrations do not deadlock with a transaction that changes a user", async () => {
  const url = await createDatabase();
  const { orm, close } = await openDatabase(url);
  orm.config.set("migrations", { ...orm.config.get("migrations"), ...(await migrationOptions()) });
  await new Migrator(orm.em).up({ to: "Migration20261122000000" }); // the last one of 1.0.0
  const request = await connect(url);
  await request.query("insert into users (id, email, created_at) values (gen_random_uuid(), 'ada@example.com', now())");
  await request.query("begin");
  await request.query("select id from users for update");
  const migrated = migrate(orm);
  const waiting = "select pid from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'";
  await until(async () => (await request.query(waiting)).rows.length === 1, "a migration waits");
  await request.query("update users set name = 'Ada'");
  await request.query("commit");
  await migrated;
  expect(await hasEveryMigration(orm.em.fork())).toBe(true);
  await request.end();
  await close();
});
