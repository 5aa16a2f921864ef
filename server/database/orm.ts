import { defineConfig, MikroORM, type Options, Utils } from "@mikro-orm/postgresql";
import { StartError } from "../errors";
import { log } from "../log";
import { type Connection, connectionFor } from "./connection";
import { entities } from "./entities";
import { ownEntities } from "./own";
import { dialectForPrimary, readOnlyError } from "./primary";

export type Database = Awaited<ReturnType<typeof connect>>;

export function poolUse(orm: MikroORM) {
  const { pool } = orm.em.getKnex().client; // of tarn
  return { connections: { used: pool.numUsed(), free: pool.numFree() }, waiting: pool.numPendingAcquires() };
}

/**
 * @param directUrl bypasses the pooler, if `databaseUrl` is a pooler in transaction mode
 * @throws StartError when the database cannot be reached
 */
export async function openDatabase(databaseUrl: string, directUrl?: string | null, limit?: number): Promise<Database> {
  const database = await connect(await connectionFor(databaseUrl, directUrl), limit);
  try {
    await database.orm.em.getConnection().execute("select 1");
  } catch (error) {
    await database.close().catch(() => {});
    const { message, code } = error as NodeJS.ErrnoException;
    const reason = message.split("\n")[0]?.replace(/^select 1 - /, "") || code;
    throw new StartError(`The database at ${placeOf(database.connection)} cannot be used: ${reason}.`);
  }
  return database;
}

/** In ms. Commands use the embedded connection, too. It cannot hang without the process. */
const requestLimits = { postgresql: 4_000, embedded: 60_000 };

export async function connect(connection: Connection, limit = requestLimits[connection.kind]) {
  const orm = await MikroORM.init({
    ...Utils.merge({}, ormOptions(connection), timeLimits(limit, connection)),
    connect: false,
  });
  const close = async () => {
    await orm.close(true);
    await connection.close();
  };
  return { orm, connection, close };
}

export function ormOptions({ kind, address, hosts, primary, direct }: Connection): Options {
  return defineConfig({
    ...address,
    entities: [...entities, ...ownEntities],
    schemaGenerator: { ignoreSchema: ["pgboss"] },
    pool: pools[kind],
    driverOptions: {
      ...(primary && { client: dialectForPrimary(hosts) }),
      pooled: direct !== null, // for `runStatement`
      acquireConnectionTimeout: 15_000, // ms; enough for a rush, while an unreachable server fails at once
      connection: { ...hosts[0], connectionTimeoutMillis: 4_000, keepAlive: true },
      log: { warn: (message: string) => log.warn(message) }, // or knex prints lost connections to standard output
    },
    colors: false,
    logger: (message) => log.info(message),
  });
}

const pools = {
  postgresql: { min: 0, max: 10, afterCreate: noticeReadOnly },
  embedded: { min: 1, max: 1, afterCreate: deallocateStatements },
};

interface Client {
  connection: { on(event: "errorMessage", handle: (error: { code?: string }) => void): void };
  readyForQuery: boolean;
  readOnly?: boolean;
}

/** A server that becomes read-only keeps its connections. A new one may reach the primary, by a proxy or by DNS. */
function noticeReadOnly(client: Client, done: () => void): void {
  client.connection.on("errorMessage", ({ code }) => {
    if (code === readOnlyError) client.readOnly = true;
  });
  done();
}

/** PGlite is one session for all connections, one after the other: prepared statements outlive their connection. */
function deallocateStatements(connection: { query(sql: string, done: () => void): void }, done: () => void): void {
  connection.query("deallocate all", done);
}

/**
 * The server's limit, and the client's for a server that hangs. A connection that waits for an answer is not reused.
 * Poolers refuse a connection that sets `statement_timeout`: behind one, the role sets it.
 */
const timeLimits = (limit: number, { direct }: Connection) => ({
  pool: { validate: ({ readyForQuery, readOnly }: Client) => readyForQuery && !readOnly },
  driverOptions: { connection: { ...(!direct && { statement_timeout: limit }), query_timeout: limit + 500 } },
});

function placeOf({ address: { clientUrl = "" }, hosts }: Connection): string {
  const places = hosts.map(({ host = "", port }) => (port ? `${host}:${port}` : host));
  return places.join(",") + new URL(clientUrl).pathname;
}
