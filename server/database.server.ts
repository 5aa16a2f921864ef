import { defineConfig, type EntityManager, MikroORM, type Options, Utils } from "@mikro-orm/postgresql";
import { openEmbeddedDatabase } from "./embedded-database";
import { entities } from "./entities";
import { describe, log } from "./log";
import { migrationNames, migrationOptions } from "./migrations";
import { service } from "./service";
import { StartError } from "./start-error";
import { runStatement } from "./statement";

export interface Database {
  orm: MikroORM;
  connection: Connection;
  close(): Promise<void>;
}

const startLock = 7_231_905;

/** Where PostgreSQL is, and how many connections it takes from this process. */
export interface Connection {
  address: Pick<Options, "clientUrl" | "host" | "user" | "dbName">;
  connections: number;
  close(): Promise<void>;
}

/** PGlite is one session for all connections that follow one another: it still has the last one's statements. */
function forgetStatements(connection: { query(sql: string, done: () => void): void }, done: () => void): void {
  connection.query("deallocate all", done);
}

/** The ORM's options for one PostgreSQL, wherever it runs; statements take as long as they need. */
export function ormOptions({ address, connections }: Connection): Options {
  return defineConfig({
    ...address,
    entities,
    schemaGenerator: { ignoreSchema: ["pgboss"] },
    pool: connections === 1 ? { min: 1, max: 1, afterCreate: forgetStatements } : { min: 0, max: connections },
    driverOptions: {
      acquireConnectionTimeout: 15_000, // a rush waits its turn; an unreachable server fails at once
      connection: { connectionTimeoutMillis: 4_000, keepAlive: true },
    },
    colors: false,
    logger: (message) => log.info(message),
  });
}

/**
 * The connection that `DATABASE_URL` names; `pglite:FOLDER` starts the embedded database.
 *
 * @throws StartError when the data folder is unusable
 */
export async function connectionFor(databaseUrl: string): Promise<Connection> {
  if (!databaseUrl.startsWith("pglite:")) {
    return { address: { clientUrl: databaseUrl }, connections: 10, close: async () => {} };
  }
  const { host, close } = await openEmbeddedDatabase(databaseUrl.slice("pglite:".length));
  return { address: { host, user: "postgres", dbName: "postgres" }, connections: 1, close };
}

function withoutPassword(databaseUrl: string): string {
  const { host, pathname } = new URL(databaseUrl);
  return `${host}${pathname}`;
}

/**
 * What a request may wait for one statement, in ms: in the server, and here, where a server that hangs is noticed. A
 * connection that still owes an answer is not used again.
 */
const timeLimits = {
  pool: { validate: ({ readyForQuery }: { readyForQuery: boolean }) => readyForQuery },
  driverOptions: { connection: { statement_timeout: 4_000, query_timeout: 4_500 } },
};

export async function connect(connection: Connection): Promise<Database> {
  const orm = await MikroORM.init({ ...Utils.merge({}, ormOptions(connection), timeLimits), connect: false });
  const close = async () => {
    await orm.close(true);
    await connection.close();
  };
  return { orm, connection, close };
}

/** @throws StartError when the database cannot be reached */
export async function openDatabase(databaseUrl: string): Promise<Database> {
  const database = await connect(await connectionFor(databaseUrl));
  try {
    await database.orm.em.getConnection().execute("select 1");
  } catch (error) {
    await database.close().catch(() => {});
    const { message, code } = error as NodeJS.ErrnoException;
    const reason = message.split("\n")[0]?.replace(/^select 1 - /, "") || code;
    throw new StartError(`The database at ${withoutPassword(databaseUrl)} cannot be used: ${reason}.`);
  }
  return database;
}

/**
 * Does what only one of the instances that start together may do at a time, on an ORM whose statements take as long as
 * they need. The lock is the session's, and so dies with a killed process. The embedded database has no other instance.
 */
export async function inTurn({ orm, connection }: Database, work: (patient: MikroORM) => Promise<void>): Promise<void> {
  if (connection.connections === 1) return work(orm);
  const patient = await MikroORM.init({ ...ormOptions(connection), connect: false });
  const pool = patient.em.getKnex().client;
  const locking = await pool.acquireConnection();
  try {
    await locking.query("select pg_advisory_lock($1)", [startLock]);
    await work(patient);
  } finally {
    await pool.releaseConnection(locking);
    await patient.close(true);
  }
}

async function hasEveryMigration(em: EntityManager): Promise<boolean> {
  const done = await em.execute<{ name: string }[]>("select name from mikro_orm_migrations");
  return migrationNames.every((name) => done.some((migration) => migration.name === name));
}

/** Brings the schema up to date. The migrator and the migrations are loaded only where there is something to do. */
export async function migrate(orm: MikroORM): Promise<void> {
  if (await hasEveryMigration(orm.em.fork()).catch(() => false)) return;
  const { Migrator } = await import("@mikro-orm/migrations");
  orm.config.set("migrations", { ...orm.config.get("migrations"), ...(await migrationOptions()) });
  await new Migrator(orm.em).up();
}

const connectionFailures =
  /^(?:ECONN\w+|EPIPE|ENOENT|ENOTFOUND|EAI_AGAIN|ETIMEDOUT|EHOSTUNREACH|08\w{3}|53\w{3}|57P0[1-5]|57014|25006)$/;

const connectionMessages =
  /Connection terminated|timeout expired|Timeout acquiring a connection|Client has encountered a connection error|Query read timeout/;

function isUnavailable(error: unknown): boolean {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    const { code } = cause as { code?: unknown };
    if (typeof code === "string" && connectionFailures.test(code)) return true;
    if (connectionMessages.test(cause.message)) return true;
  }
  return false;
}

async function answering<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!isUnavailable(error)) throw error;
    log.warn(describe(error), "The database is not available.");
    throw new Response("The database is not available.", { status: 503, statusText: "Service Unavailable" });
  }
}

/**
 * One transaction on a fresh identity map: everything that `work` does is committed, or nothing.
 *
 * @throws Response 503 when the database cannot be reached
 */
export function unitOfWork<T>(work: (em: EntityManager) => Promise<T>): Promise<T> {
  return answering(() => service().orm.em.fork().transactional(work));
}

/**
 * Statements that need no transaction, on a fresh identity map.
 *
 * @throws Response 503 when the database cannot be reached
 */
export function query<T>(work: (em: EntityManager) => Promise<T>): Promise<T> {
  return answering(() => work(service().orm.em.fork()));
}

/**
 * One prepared statement past the ORM, where the whole of a hot path's work is that statement.
 *
 * @throws Response 503 when the database cannot be reached
 */
export function prepared<Row>(name: string, text: string, values: unknown[]): Promise<Row[]> {
  return answering(() => runStatement<Row>(service().orm.em.getKnex(), { name, text, values }));
}

/** Whether the database answers and has every migration that this process knows. */
export async function isReady(): Promise<boolean> {
  try {
    return await query(hasEveryMigration);
  } catch {
    return false;
  }
}
