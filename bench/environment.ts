import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import packageJson from "../package.json" with { type: "json" };
import { startPgBouncer } from "../tests/support/pgbouncer";
import { createEmptyDatabase, remixServeListens, type TestDatabase } from "../tests/support/server";
import { until } from "../tests/support/until";
import { behindNginx } from "./nginx";
import { type Program, startProgram } from "./processes";
import { seed } from "./seed";

const tsx = ["--import", "tsx"];
const serve = packageJson.scripts.serve.replace("exec node ", "").split(" ");

export interface EnvironmentOptions {
  processes?: number;
  /** The folder of a built Latchkey; this one without it. */
  folder?: string;
  /** More settings of Latchkey. */
  more?: Record<string, string>;
  /** Latchkey reaches PostgreSQL through PgBouncer, for a server that asks for no password. */
  pooled?: boolean;
  nginx?: boolean;
  /** Latchkey has an embedded database, and nothing to be compared with. */
  embedded?: boolean;
}

export interface Environment {
  latchkey: Program;
  limit?: Program;
  bare?: Program;
  database: pg.Client;
  /** Waits until the queue is empty, so that no job runs during the next workload. */
  idle(): Promise<void>;
  close(): Promise<void>;
}

/** Latchkey, and the provider and mail service that it calls. */
export async function startLatchkey(databaseUrl: string, { processes = 1, folder, more }: EnvironmentOptions) {
  const provider = await startProgram([...tsx, "bench/provider.ts"], {}, /listens/);
  const settings = {
    DATABASE_URL: databaseUrl,
    PROCESSES: String(processes),
    TRUST_PROXY: "true",
    MAIL_DRIVER: "postmark",
    POSTMARK_SERVER_TOKEN: "bench",
    MAIL_FROM: "bench@bench.example",
    MAIL_API_URL: provider.url,
    APP_URL: "http://127.0.0.1",
    IDP_CLIENT_ID: "bench",
    IDP_CLIENT_SECRET: "bench",
    IDP_AUTHORIZE_URL: `${provider.url}/authorize`,
    IDP_TOKEN_URL: `${provider.url}/token`,
    IDP_PROFILE_URL: `${provider.url}/userinfo`,
    ...more,
  };
  const allListen = new RegExp(`(?:${remixServeListens.source}[^]*){${processes}}`);
  return { provider, latchkey: await startProgram(serve, settings, allListen, folder) };
}

export const queueIsEmpty = (database: pg.Client, limit: number) =>
  until(
    async () => (await database.query("select from pgboss.job where state < 'completed' limit 1")).rowCount === 0,
    "the queue is empty",
    limit,
  );

/** Reaches the database by the second connection that the service's own socket to it accepts. */
export async function openEmbedded(options: EnvironmentOptions, { url, drop }: TestDatabase): Promise<Environment> {
  const sockets = await mkdtemp(join(tmpdir(), "bench-"));
  const more = { ...options.more, TMPDIR: sockets };
  const { provider, latchkey } = await startLatchkey(url, { ...options, more });
  const [socket = ""] = (await readdir(sockets)).filter((name) => name.startsWith("latchkey-"));
  const database = new pg.Client({ host: join(sockets, socket), user: "postgres", database: "postgres" });
  await database.connect();
  await seed(database);
  return {
    latchkey,
    database,
    idle: () => queueIsEmpty(database, 600_000),
    async close() {
      await database.end();
      await Promise.all([latchkey.stop(), provider.stop()]);
      await rm(sockets, { recursive: true });
      await drop();
    },
  };
}

export async function openEnvironment(options: EnvironmentOptions = {}): Promise<Environment> {
  if (options.embedded) return openEmbedded(options, await createEmptyDatabase("embedded"));
  if (!process.env.DATABASE_URL?.startsWith("postgres")) {
    throw new Error("Set DATABASE_URL to a PostgreSQL server on this machine: a database is made there, and dropped.");
  }
  const { url: databaseUrl, drop } = await createEmptyDatabase();
  const pooler = options.pooled ? await startPgBouncer(Number(new URL(databaseUrl).port)) : undefined;
  const more = { ...options.more, ...pooler?.settingsFor(databaseUrl) };
  const { provider, latchkey: alone } = await startLatchkey(databaseUrl, { ...options, more });
  const latchkey = options.nginx ? await behindNginx(alone, options.folder) : alone;
  const limit = await startProgram(
    [...tsx, "bench/limit.ts"],
    { DATABASE_URL: databaseUrl, PROVIDER_URL: provider.url },
    /listens/,
  );
  const bare = await startProgram(
    ["node_modules/@remix-run/serve/dist/cli.js", "bench/bare/build/index.js"],
    { DATABASE_URL: databaseUrl },
    remixServeListens,
  );
  const database = new pg.Client({ connectionString: databaseUrl });
  await database.connect();
  await seed(database);
  return {
    latchkey,
    limit,
    bare,
    database,
    idle: () => queueIsEmpty(database, 120_000),
    async close() {
      await database.end();
      await Promise.all([latchkey, limit, bare, provider].map((program) => program.stop()));
      await pooler?.stop();
      await drop();
    },
  };
}
