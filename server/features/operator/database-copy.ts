import { copyRows, entityTables, isEmpty } from "../../database/copy-rows";
import { hasNewerMigration, migrateWithin, serverVersion, startLock } from "../../database/migrate";
import type { Database } from "../../database/orm";
import { runStatement } from "../../database/run-statement";
import { createQueueSchema, unfinishedJobs } from "../../queue/boss";

export type CopyRefusal = "source_is_newer" | "target_is_too_old" | "target_is_not_empty";

/** Reads the source in one snapshot. Migrates and fills the target in one transaction. */
export async function copyDatabase(source: Database, target: Database) {
  if (await hasNewerMigration(source.orm.em.fork())) return "source_is_newer";
  if ((await serverVersion(target.orm.em.fork())).tooOld) return "target_is_too_old";
  const tables = entityTables();
  // Knex's transactions: MikroORM would take the target's transaction for a part of the source's.
  return source.orm.em.getKnex().transaction(
    (from) =>
      target.orm.em.getKnex().transaction(async (to) => {
        // A service that starts on the target waits for the copy.
        await runStatement(to, { text: "select pg_advisory_xact_lock($1)", values: [startLock] });
        if (!(await isEmpty(to))) return "target_is_not_empty";
        await migrateWithin(target.orm, to);
        await createQueueSchema(to);
        // Migrations insert rows, which come from the source too.
        await runStatement(to, { text: `truncate ${tables.map(({ table }) => table).join(", ")}` });
        const copied: { table: string; rows: number }[] = [];
        for (const part of [...tables, unfinishedJobs]) {
          copied.push({ table: part.table, rows: await copyRows(from, to, part) });
        }
        return copied;
      }),
    { isolationLevel: "repeatable read", readOnly: true },
  );
}
