import pg from "pg";
import { PostgresCluster } from "../../tests/support/postgres-cluster";
import { startLatchkey } from "../environment";
import type { Program } from "../processes";
import { seed } from "../seed";
import { known } from "../workloads";

export interface Scale {
  latchkey: Program;
  provider: Program;
  database: pg.Client;
  databaseUrl: string;
  close(): Promise<void>;
}

/** The SHA-256 of the tokens that the workloads send. */
const hashed = (token: string) => `encode(sha256(convert_to(${token}, 'utf8')), 'hex')`;
const numberOfUser = "split_part(split_part(email, '@', 1), '-', 2)";

/**
 * Accounts beside those of the bench, each with a session and a device. The sessions were used within their 14 days, so
 * that some of them end in every hour.
 */
export async function addUsers(database: pg.Client, users: number): Promise<void> {
  await database.query(
    `insert into users (id, email, password_hash, idp_id, idp_issuer, created_at)
     select gen_random_uuid(), 'known-' || n || '@bench.example', hash, 'idp-' || n, 'google',
       now() - random() * interval '1 year'
     from generate_series($1::int, $2) n, (select password_hash as hash from users limit 1) as known`,
    [known.users, users - 1],
  );
  await database.query(
    `insert into sessions (id, token_hash, user_id, user_agent, created_at, last_seen_at, expires_at)
     select gen_random_uuid(), ${hashed(`'session-' || ${numberOfUser}`)}, id,
       'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0', seen, seen, seen + interval '30 days'
     from (select id, email, now() - random() * interval '14 days' as seen from users offset $1) as known`,
    [known.users],
  );
  await database.query(
    `insert into devices (token_hash, user_id, created_at, last_seen_at)
     select ${hashed(`lpad(${numberOfUser}, 64, '0')`)}, id, now(), now() from users`,
  );
  await database.query("vacuum analyze");
}

/** A PostgreSQL of its own with the packaged settings, which counts its statements, and ten processes on it. */
export async function openScale(users: number): Promise<Scale> {
  const cluster = await PostgresCluster.start({
    settings: { max_connections: 200, shared_preload_libraries: "pg_stat_statements" },
  });
  const databaseUrl = await cluster.createDatabase();
  const { latchkey, provider } = await startLatchkey(databaseUrl, { processes: 10 });
  const database = new pg.Client({ connectionString: databaseUrl, application_name: "scale" });
  await database.connect();
  await database.query("create extension pg_stat_statements");
  await seed(database);
  await addUsers(database, users);
  return {
    latchkey,
    provider,
    database,
    databaseUrl,
    async close() {
      await database.end();
      await Promise.all([latchkey.stop(), provider.stop()]);
      await cluster.remove();
    },
  };
}
