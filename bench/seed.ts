import { Argon2id } from "oslo/password";
import type pg from "pg";
import { known, password } from "./workloads";

export async function seed(database: pg.Client): Promise<void> {
  const hash = await new Argon2id({ memorySize: 19_456, iterations: 2, parallelism: 1 }).hash(password);
  await database.query(
    `insert into users (id, email, password_hash, idp_id, idp_issuer, created_at)
     select gen_random_uuid(), 'known-' || n || '@bench.example', $1, 'idp-' || n, 'google', now()
     from generate_series(0, $2) n`,
    [hash, known.users - 1],
  );
  await database.query(
    `insert into sessions (id, token_hash, user_id, created_at, last_seen_at, expires_at)
     select gen_random_uuid(), encode(sha256(convert_to('session-' || split_part(split_part(email, '@', 1), '-', 2), 'utf8')), 'hex'),
            id, now(), now(), now() + interval '30 days'
     from users where email like 'known-%'`,
  );
  await database.query("create table limit_jobs (id bigserial primary key, email text not null)");
  await database.query("analyze");
}
