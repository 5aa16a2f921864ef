import { createHash, randomBytes } from "node:crypto";
import type { Request as Shot } from "autocannon";
import { Argon2id } from "oslo/password";
import type pg from "pg";

export const password = "a password for the bench";

const form = "application/x-www-form-urlencoded";
const sha256 = (text: string) => createHash("sha256").update(text).digest("hex");
const pick = (count: number) => Math.floor(Math.random() * count);

/** A client address of its own for each request, so that none meets a limit. */
const client = () => `10.${pick(256)}.${pick(256)}.${pick(256)}`;

export interface Work {
  name: string;
  what: string;
  /** The status of a good answer. */
  expects: number;
  /** Makes what `shots` requests use up. */
  prepare?(database: pg.Client, shots: number): Promise<void>;
  next(): Shot;
}

function posting(path: string, fields: Record<string, string>): Shot {
  const headers = { "content-type": form, "x-forwarded-for": client() };
  return { method: "POST", path, headers, body: new URLSearchParams(fields).toString() };
}

export const knownUsers = 5_000;
export const knownEmail = (index: number) => `known-${index}@bench.example`;

/** The users, with one session each, that every work finds. */
export async function seed(database: pg.Client): Promise<void> {
  const hash = await new Argon2id({ memorySize: 19_456, iterations: 2, parallelism: 1 }).hash(password);
  await database.query(
    `insert into users (id, email, password_hash, idp_id, created_at)
     select gen_random_uuid(), 'known-' || n || '@bench.example', $1, 'idp-' || n, now() from generate_series(0, $2) n`,
    [hash, knownUsers - 1],
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

const links: { email: string; token: string }[] = [];

async function mintLinks(database: pg.Client, shots: number): Promise<void> {
  const round = randomBytes(4).toString("hex");
  const minted = Array.from({ length: shots }, (_, index) => ({
    email: `reset-${round}-${index}@bench.example`,
    token: randomBytes(32).toString("hex"),
  }));
  const emails = minted.map(({ email }) => email);
  await database.query(
    "insert into users (id, email, password_hash, created_at) select gen_random_uuid(), e, 'x', now() from unnest($1::text[]) e",
    [emails],
  );
  await database.query(
    `insert into password_resets (token_hash, email, expires_at)
     select t, e, now() + interval '1 hour' from unnest($1::text[], $2::text[]) as link (t, e)`,
    [minted.map(({ token }) => sha256(token)), emails],
  );
  links.length = 0;
  links.push(...minted);
}

const state = "b".repeat(64);

export const works: Work[] = [
  {
    name: "W1",
    what: "POST /forgot-password, known address",
    expects: 200,
    // Known addresses of their own, because each may ask five times.
    async prepare(database, shots) {
      await database.query(
        `insert into users (id, email, created_at)
         select gen_random_uuid(), 'w1-' || n || '@bench.example', now() from generate_series(0, $1) n on conflict do nothing`,
        [shots],
      );
      known = 0;
    },
    next: () => posting("/forgot-password", { email: `w1-${known++}@bench.example` }),
  },
  {
    name: "W2",
    what: "POST /forgot-password, unknown address",
    expects: 200,
    next: () => posting("/forgot-password", { email: `nobody-${randomBytes(8).toString("hex")}@bench.example` }),
  },
  {
    name: "W3",
    what: "POST /reset-password",
    expects: 302,
    prepare: mintLinks,
    next: () => {
      const link = links.pop();
      return posting("/reset-password", { ...link, password, passwordConfirmation: password });
    },
  },
  {
    name: "W4",
    what: "GET /auth/idp/callback",
    expects: 302,
    next: () => ({
      method: "GET",
      path: `/auth/idp/callback?code=idp-${pick(knownUsers)}&state=${state}`,
      headers: { cookie: `oauth_state=${state}` },
    }),
  },
  {
    name: "W5",
    what: "GET /dashboard",
    expects: 200,
    next: () => ({ method: "GET", path: "/dashboard", headers: { cookie: `session=session-${pick(knownUsers)}` } }),
  },
  {
    name: "W8",
    what: "POST /login",
    expects: 302,
    next: () => posting("/login", { email: knownEmail(pick(knownUsers)), password }),
  },
];

let known = 0;
