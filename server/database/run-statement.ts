import type { Knex } from "@mikro-orm/postgresql";

/** One statement for PostgreSQL; a connection parses and plans a named one once. */
interface Statement {
  name?: string | undefined;
  text: string;
  values?: unknown[] | undefined;
}

/** Runs a statement on a connection of the pool, or on the transaction's, without MikroORM. */
export async function runStatement<Row>(knex: Knex, { text, values, ...statement }: Statement): Promise<Row[]> {
  // Behind a pooler in transaction mode, the next transaction may be on another connection of the server.
  const name = knex.client.config.pooled ? undefined : statement.name;
  const connection = await knex.client.acquireConnection();
  try {
    return (await connection.query({ name, text, values })).rows;
  } catch (error) {
    // A newer instance's migration changed a column: PostgreSQL never plans this name again.
    const planIsStale = name !== undefined && (error as { code?: unknown }).code === "0A000";
    if (planIsStale && !knex.isTransaction) return (await connection.query({ text, values })).rows;
    // A script of pg-boss has its own BEGIN and COMMIT. After a failure the connection is in an aborted transaction.
    if (!values && !knex.isTransaction) await connection.query("rollback").catch(() => {});
    throw error;
  } finally {
    await knex.client.releaseConnection(connection);
  }
}
