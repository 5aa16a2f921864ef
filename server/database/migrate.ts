import { type EntityManager, MikroORM } from "@mikro-orm/postgresql";
import { migrationNames, migrationOptions } from "./migrations";
import { type Database, ormOptions } from "./orm";

const startLock = 7_231_905;

/**
 * Runs the part of a start that one instance does at a time, on an ORM without time limits. The advisory lock belongs
 * to the database session, so it ends with a killed process. The embedded database has one instance only.
 */
export async function withStartLock(
  { orm, connection }: Database,
  work: (orm: MikroORM) => Promise<void>,
): Promise<void> {
  if (connection.kind === "embedded") return work(orm);
  const unlimited = await MikroORM.init({ ...ormOptions(connection), connect: false });
  const pool = unlimited.em.getKnex().client;
  const session = await pool.acquireConnection();
  try {
    await session.query("select pg_advisory_lock($1)", [startLock]);
    await work(unlimited);
  } finally {
    await pool.releaseConnection(session);
    await unlimited.close(true);
  }
}

/** Whether the database has every migration that this process knows. */
export async function hasEveryMigration(em: EntityManager): Promise<boolean> {
  const done = await em.execute<{ name: string }[]>("select name from mikro_orm_migrations");
  return migrationNames.every((name) => done.some((migration) => migration.name === name));
}

/** Brings the schema up to date. The migrator is loaded only where there is a migration to run. */
export async function migrate(orm: MikroORM): Promise<void> {
  if (await hasEveryMigration(orm.em.fork()).catch(() => false)) return;
  const { Migrator } = await import("@mikro-orm/migrations");
  orm.config.set("migrations", { ...orm.config.get("migrations"), ...(await migrationOptions()) });
  await new Migrator(orm.em).up();
}
