import type { Knex } from "@mikro-orm/postgresql";
import { copyRows, entityTables, isEmpty, type Part } from "../../database/copy-rows";
import { hasNewerMigration, migrateWithin, serverVersion, startLock } from "../../database/migrate";
import type { Database } from "../../database/orm";
import { runStatement } from "../../database/run-statement";
import { createQueueSchema, unfinishedJobs } from "../../queue/boss";

export interface CopiedTable {
  table: string;
  rows: number;
}

export type CopyRefusal = "source_is_newer" | "target_is_too_old" | "target_is_not_empty";

async function copyTables(source: Knex, target: Knex, parts: Part[]): Promise<CopiedTable[]> {
  const tables: CopiedTable[] = [];
  for (const part of parts) tables.push({ table: part.table, rows: await copyRows(source, target, part) });
  return tables;
}

/** Reads the source in one snapshot. Migrates and fills the target in one transaction. */
export async function copyDatabase(source: Database, target: Database): Promise<CopiedTable[] | CopyRefusal> {
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
        return copyTables(from, to, [...tables, unfinishedJobs]);
      }),
    { isolationLevel: "repeatable read", readOnly: true },
  );
}
