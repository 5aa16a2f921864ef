import { randomBytes, randomUUID } from "node:crypto";
import type pg from "pg";
import { afterAll, beforeAll, inject } from "vitest";
import { hashPassword } from "#server/accounts/passwords/password-hashing";
import { unknownVisitor } from "./accounts";
import { type MailServiceBehaviour, startMailService } from "./mail-service";
import { goodPassword } from "./passwords";
import { type Pooler, startPgBouncer } from "./pgbouncer";
import { connect, PostgresCluster } from "./postgres-cluster";
import { startScriptedProvider } from "./scripted-provider";
import { type RunningServer, startServer } from "./server";
import { sha256 } from "./sha256";
import { until } from "./until";

declare module "vitest" {
  interface ProvidedContext {
    /** Whether the service reaches PostgreSQL through PgBouncer in transaction mode. */
    pgbouncer: boolean;
  }
}

/** A cluster for the tests of one file; each test creates a fixture on a new database. */
export function createFixtures() {
  let cluster: PostgresCluster;
  let pooler: Pooler | undefined;

  beforeAll(async () => {
    cluster = await PostgresCluster.start();
    if (inject("pgbouncer")) pooler = await startPgBouncer(cluster.port);
  });

  afterAll(async () => {
    await pooler?.stop();
    await cluster.remove();
  });

  const createFixture = async () => {
    const url = await cluster.createDatabase();
    if (pooler) await cluster.execute("alter role postgres set statement_timeout = '4s'");
    return new Fixture(url, pooler);
  };
  return { cluster: () => cluster, createFixture };
}

const tables = [
  "users",
  "password_resets",
  "registrations",
  "invitations",
  "sessions",
  "(select * from pgboss.job where data->>'task' <> 'purge_expired')",
];

export class Fixture implements AsyncDisposable {
  readonly databaseUrl: string;
  /** For a service on this database. */
  readonly databaseSettings: Record<string, string>;
  readonly #pooled: boolean;
  #client: pg.Client | undefined;
  readonly #ends: (() => Promise<unknown>)[] = [];

  constructor(databaseUrl: string, pooler?: Pooler) {
    this.databaseUrl = databaseUrl;
    this.#pooled = pooler !== undefined;
    this.databaseSettings = pooler?.settingsFor(databaseUrl) ?? { DATABASE_URL: databaseUrl };
  }

  async server(settings: Record<string, string> = {}, build?: string): Promise<RunningServer> {
    const server = await startServer({ ...this.databaseSettings, TRUST_PROXY: "true", ...settings }, build);
    this.#ends.push(server.kill);
    return server;
  }

  async #untilEnd<Service extends { stop(): Promise<void> }>(started: Promise<Service>): Promise<Service> {
    const service = await started;
    this.#ends.push(service.stop);
    return service;
  }

  mailService = (behaviour?: MailServiceBehaviour) => this.#untilEnd(startMailService(behaviour));

  provider = () => this.#untilEnd(startScriptedProvider());

  async #connect(): Promise<pg.Client> {
    const client = await connect(this.databaseUrl);
    await client.query("set statement_timeout = 0"); // the limit of the service's role
    this.#ends.push(() => client.end().catch(() => {}));
    client.once("end", () => {
      if (this.#client === client) this.#client = undefined;
    });
    return client;
  }

  /** Opens a transaction that holds the locks of `statement` until the test ends it. */
  async transaction(statement: string): Promise<pg.Client> {
    const client = await this.#connect();
    await client.query("begin");
    await client.query(statement);
    return client;
  }

  async query<Row extends pg.QueryResultRow>(sql: string, values: unknown[] = []): Promise<Row[]> {
    this.#client ??= await this.#connect();
    return (await this.#client.query<Row>(sql, values)).rows;
  }

  /** Every table's rows in a stable order, to compare before and after. */
  async snapshot(): Promise<Record<string, unknown[]>> {
    const rows: Record<string, unknown[]> = {};
    for (const table of tables) rows[table] = await this.query(`select * from ${table} t order by t::text`);
    return rows;
  }

  async addAccount(email: string): Promise<string> {
    const id = randomUUID();
    const values = [id, email, await oldPasswordHash];
    await this.query("insert into users (id, email, password_hash, created_at) values ($1, $2, $3, now())", values);
    return id;
  }

  async addResetToken(email: string): Promise<string> {
    const token = randomBytes(32).toString("hex");
    await this.query("insert into password_resets values ($1, $2, now() + interval '1 hour')", [sha256(token), email]);
    return token;
  }

  /** The service's connections; those that PgBouncer keeps for others do not count. */
  async connections(): Promise<number> {
    const [row] = await this.query<{ count: number }>(
      `select count(*)::int as count from pg_stat_activity
       where datname = current_database() and backend_type = 'client backend' and application_name <> 'test'
         and (state <> 'idle' or not $1)`,
      [this.#pooled],
    );
    return row?.count ?? 0;
  }

  async blocked(): Promise<void> {
    const waiting =
      "select count(*)::int from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'";
    await until(async () => (await this.query(waiting))[0]?.count === 1, "a statement waits for the lock");
  }

  async rolledBack(): Promise<void> {
    await until(async () => (await this.connections()) === 0, "the killed process's transactions are rolled back");
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#ends.map((end) => end()));
  }
}

const oldPasswordHash = hashPassword(unknownVisitor, goodPassword);
