import type { EntityManager, Knex, MikroORM } from "@mikro-orm/postgresql";
import { migrationNames, migrationOptions } from "./migrations";
import { connect, type Database } from "./orm";

export const startLock = 7_231_905;

const oldestVersion = 150_000; // server_version_num of PostgreSQL 15

export async function serverVersion(em: EntityManager): Promise<{ name: string; tooOld: boolean }> {
  const [row] = await em.execute<{ number: number; name: string }[]>(
    "select current_setting('server_version_num')::int as number, current_setting('server_version') as name",
  );
  return { name: row?.name ?? "unknown", tooOld: (row?.number ?? 0) < oldestVersion };
}

const noLimit = 2_000_000_000; // ms; without one, a migration would have the limit that the role has for pages

/**
 * On connections without a time limit, past a pooler. One instance at a time: the advisory lock belongs to the database
 * session, so it ends with a killed process. The embedded database has one instance, and one session.
 */
export async function withStartLock({ connection }: Database, work: (orm: MikroORM) => Promise<void>): Promise<void> {
  const { orm: unlimited } = await connect(connection.direct ?? connection, noLimit);
  try {
    if (connection.kind === "embedded") return await work(unlimited);
    const pool = unlimited.em.getKnex().client;
    const session = await pool.acquireConnection();
    try {
      await session.query("select pg_advisory_lock($1)", [startLock]);
      await work(unlimited);
    } finally {
      await pool.releaseConnection(session);
    }
  } finally {
    await unlimited.close(true);
  }
}

export const hasNewerMigration = async (em: EntityManager) =>
  (await appliedMigrations(em)).some((name) => !migrationNames.includes(name));

/**
 * Brings the schema up to date. The migrator is loaded only if there is a migration to run. Each one is a transaction,
 * with its record: a single one would keep the locks of the first migrations while it waits for those of the next, a
 * deadlock with the requests of an older release.
 */
export async function migrate(orm: MikroORM): Promise<void> {
  if (await hasEveryMigration(orm.em.fork()).catch(() => false)) return;
  const migrator = await createMigrator(orm);
  for (const { name } of await migrator.getPendingMigrations()) await migrator.up(name);
}

export const hasEveryMigration = async (em: EntityManager) => (await missingMigrations(em)).length === 0;

export async function missingMigrations(em: EntityManager): Promise<string[]> {
  const applied = await appliedMigrations(em);
  return migrationNames.filter((name) => !applied.includes(name));
}

async function appliedMigrations(em: EntityManager): Promise<string[]> {
  const rows = await em.execute<{ name: string }[]>("select name from mikro_orm_migrations");
  return rows.map(({ name }) => name);
}

export async function migrateWithin(orm: MikroORM, transaction: Knex.Transaction): Promise<void> {
  const migrator = await createMigrator(orm);
  migrator.getStorage().setMasterMigration(transaction); // else its table is made outside
  await migrator.up({ transaction });
}

async function createMigrator(orm: MikroORM) {
  const { Migrator } = await import("@mikro-orm/migrations");
  orm.config.set("migrations", { ...orm.config.get("migrations"), ...(await migrationOptions()) });
  return new Migrator(orm.em);
}
