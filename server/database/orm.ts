import { defineConfig, MikroORM, type Options, Utils } from "@mikro-orm/postgresql";
import { StartError } from "../errors";
import { log } from "../log";
import { type Connection, connectionFor } from "./connection";
import { entities } from "./entities";
import { ownEntities } from "./own";

export interface Database {
  orm: MikroORM;
  connection: Connection;
  close(): Promise<void>;
}

/** PGlite is one session for all connections, one after the other: the next connection still has prepared statements. */
function deallocateStatements(connection: { query(sql: string, done: () => void): void }, done: () => void): void {
  connection.query("deallocate all", done);
}

const pools = {
  postgresql: { min: 0, max: 10 },
  embedded: { min: 1, max: 1, afterCreate: deallocateStatements },
};

export function ormOptions({ kind, address, client }: Connection): Options {
  return defineConfig({
    ...address,
    entities: [...entities, ...ownEntities],
    schemaGenerator: { ignoreSchema: ["pgboss"] },
    pool: pools[kind],
    driverOptions: {
      acquireConnectionTimeout: 15_000, // ms; enough for a rush, while an unreachable server fails at once
      connection: { ...client, connectionTimeoutMillis: 4_000, keepAlive: true },
      log: { warn: (message: string) => log.warn(message) }, // knex prints lost connections to standard output otherwise
    },
    colors: false,
    logger: (message) => log.info(message),
  });
}

const requestLimit = 4_000; // ms

/** The server's limit, and ours for a server that hangs. A connection whose answer is due is not used again. */
const timeLimits = (limit: number) => ({
  pool: { validate: ({ readyForQuery }: { readyForQuery: boolean }) => readyForQuery },
  driverOptions: { connection: { statement_timeout: limit, query_timeout: limit + 500 } },
});

export function poolUse(orm: MikroORM): { used: number; free: number; waiting: number } {
  const { pool } = orm.em.getKnex().client; // of tarn
  return { used: pool.numUsed(), free: pool.numFree(), waiting: pool.numPendingAcquires() };
}

export async function connect(connection: Connection, limit = requestLimit): Promise<Database> {
  const orm = await MikroORM.init({ ...Utils.merge({}, ormOptions(connection), timeLimits(limit)), connect: false });
  const close = async () => {
    await orm.close(true);
    await connection.close();
  };
  return { orm, connection, close };
}

function placeOf(databaseUrl: string, { client: { host, port } }: Connection): string {
  return `${host ?? ""}${port ? `:${port}` : ""}${new URL(databaseUrl).pathname}`;
}

/** @throws StartError when the database cannot be reached */
export async function openDatabase(databaseUrl: string, limit?: number): Promise<Database> {
  const database = await connect(await connectionFor(databaseUrl), limit);
  try {
    await database.orm.em.getConnection().execute("select 1");
  } catch (error) {
    await database.close().catch(() => {});
    const { message, code } = error as NodeJS.ErrnoException;
    const reason = message.split("\n")[0]?.replace(/^select 1 - /, "") || code;
    throw new StartError(`The database at ${placeOf(databaseUrl, database.connection)} cannot be used: ${reason}.`);
  }
  return database;
}
