import { createHash, randomBytes, randomUUID } from "node:crypto";
import type pg from "pg";
import { afterAll, beforeAll } from "vitest";
import { hashPassword } from "#server/passwords";
import { connect, PostgresCluster } from "../support/postgres-cluster";
import { type RunningServer, startServer } from "../support/server";
import { type Answer, Visitor } from "./visitor";

export const oldPassword = "correct horse battery staple";
export const newPassword = "a brand new password";

/** A cluster for the tests of one file; each test stages its servers on a database of its own. */
export function stageFaults() {
  let cluster: PostgresCluster;

  beforeAll(async () => {
    cluster = await PostgresCluster.start();
  });

  afterAll(() => cluster.remove());

  return { cluster: () => cluster, stage: async () => new Stage(await cluster.createDatabase()) };
}

const tables = [
  "users",
  "password_resets",
  "registrations",
  "sessions",
  "(select * from pgboss.job where data->>'task' <> 'purge_expired')",
];

/** One database, the servers on it, and what a test puts into it and asks of it; gone at the end of the block. */
export class Stage implements AsyncDisposable {
  readonly databaseUrl: string;
  #client: pg.Client | undefined;
  readonly #servers: RunningServer[] = [];
  readonly #clients: pg.Client[] = [];

  constructor(databaseUrl: string) {
    this.databaseUrl = databaseUrl;
  }

  async server(settings: Record<string, string> = {}, build?: string): Promise<RunningServer> {
    const server = await startServer({ DATABASE_URL: this.databaseUrl, TRUST_PROXY: "true", ...settings }, build);
    this.#servers.push(server);
    return server;
  }

  /** A connection of the test's own, to hold a lock with. */
  async connection(): Promise<pg.Client> {
    const client = await connect(this.databaseUrl);
    this.#clients.push(client);
    return client;
  }

  async query<Row extends pg.QueryResultRow>(sql: string, values: unknown[] = []): Promise<Row[]> {
    this.#client ??= await this.#openClient();
    return (await this.#client.query<Row>(sql, values)).rows;
  }

  async #openClient(): Promise<pg.Client> {
    const client = await this.connection();
    client.once("end", () => {
      this.#client = undefined;
    });
    return client;
  }

  /** Every table's rows in a stable order: equal before and after says that nothing changed. */
  async snapshot(): Promise<Record<string, unknown[]>> {
    const rows: Record<string, unknown[]> = {};
    for (const table of tables) rows[table] = await this.query(`select * from ${table} t order by t::text`);
    return rows;
  }

  async addAccount(email: string, passwordHash?: string): Promise<string> {
    const id = randomUUID();
    const values = [id, email, passwordHash ?? (await oldPasswordHash)];
    await this.query("insert into users (id, email, password_hash, created_at) values ($1, $2, $3, now())", values);
    return id;
  }

  /** The token of a reset link for `email`, as a mail would have brought it. */
  async addResetToken(email: string): Promise<string> {
    const token = randomBytes(32).toString("hex");
    const hash = createHash("sha256").update(token).digest("hex");
    await this.query("insert into password_resets values ($1, $2, now() + interval '1 hour')", [hash, email]);
    return token;
  }

  /** How many connections the servers have. */
  async connections(): Promise<number> {
    const [row] = await this.query<{ count: number }>(
      `select count(*)::int as count from pg_stat_activity
       where datname = current_database() and backend_type = 'client backend' and application_name <> 'test'`,
    );
    return row?.count ?? 0;
  }

  /** How many of the servers' statements wait for a lock. */
  async waiting(): Promise<number> {
    const [row] = await this.query<{ count: number }>(
      "select count(*)::int as count from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
    );
    return row?.count ?? 0;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#servers.map((server) => server.kill()));
    await Promise.all(this.#clients.map((client) => client.end().catch(() => {})));
  }
}

const oldPasswordHash = hashPassword(oldPassword);

export function resetPassword(url: string, email: string, token: string, password = newPassword): Promise<Answer> {
  return new Visitor(url).post("/reset-password", { email, token, password, passwordConfirmation: password });
}

export function logIn(url: string, email: string, password: string): Promise<Answer> {
  return new Visitor(url).post("/login", { email, password });
}

/** Signs in at the provider: the callback's answer. */
export async function signInExternally(url: string, visitor = new Visitor(url)): Promise<Answer> {
  const { location } = await visitor.get("/auth/idp");
  const state = new URL(location ?? "").searchParams.get("state") ?? "";
  return visitor.get(`/auth/idp/callback?${new URLSearchParams({ code: "a-code", state })}`);
}
