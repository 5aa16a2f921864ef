import type { Knex } from "@mikro-orm/postgresql";
import type PgBoss from "pg-boss";
import { runStatement } from "../database/run-statement";

const names = new Map<string, string>();

/** pg-boss's statements get names, so that a connection plans each of them once. */
function nameOf(text: string): string {
  const name = names.get(text) ?? `pgboss:${names.size}`;
  names.set(text, name);
  return name;
}

/** Runs pg-boss on the ORM's own connection: PGlite has only one, and a job belongs to its caller's transaction. */
export function bossDatabase(knex: Knex): PgBoss.Db {
  return {
    async executeSql(text, values) {
      return { rows: await runStatement(knex, { name: values && nameOf(text), text, values }) };
    },
  };
}
