import type { Knex } from "@mikro-orm/postgresql";
import { entities } from "./entities";
import { runStatement } from "./run-statement";

const batch = 1_000; // rows that are in memory at a time

export interface Part {
  table: string;
  where?: string;
}

export const entityTables = (): Part[] => entities.map(({ meta }) => ({ table: meta.tableName }));

/** Whether the database has no table, view or sequence except those of extensions. */
export async function isEmpty(knex: Knex): Promise<boolean> {
  const text = `
     select from pg_class join pg_namespace on pg_namespace.oid = relnamespace
     where nspname !~ '^(pg_|information_schema$)' and relkind in ('r', 'p', 'v', 'm', 'S', 'f')
       and not exists (select from pg_depend where classid = 'pg_class'::regclass and objid = pg_class.oid and deptype = 'e')
     limit 1`;
  return (await runStatement(knex, { text })).length === 0;
}

/** Copies rows as PostgreSQL's JSON, which keeps microseconds and integers of 64 bits. @returns how many rows */
export async function copyRows(from: Knex, to: Knex, { table, where = "true" }: Part): Promise<number> {
  const query = `select row_to_json(source)::text as row from ${table} as source where ${where}`;
  await runStatement(from, { text: `declare copied_rows no scroll cursor for ${query}` });
  const fetch = () => runStatement<{ row: string }>(from, { text: `fetch ${batch} from copied_rows` });
  let copied = 0;
  for (let rows = await fetch(); rows.length > 0; rows = await fetch()) {
    await runStatement(to, {
      text: `insert into ${table} select * from json_populate_recordset(null::${table}, $1::json)`,
      values: [`[${rows.map(({ row }) => row).join(",")}]`],
    });
    copied += rows.length;
  }
  await runStatement(from, { text: "close copied_rows" });
  return copied;
}
