import { randomBytes } from "node:crypto";
import type { Request } from "autocannon";
import type pg from "pg";
import { newClientAddress } from "../tests/support/client-address";
import { sha256 } from "../tests/support/sha256";

export const password = "a password for the bench";

const form = "application/x-www-form-urlencoded";
const randomIndex = (count: number) => Math.floor(Math.random() * count);

export interface Workload {
  name: string;
  what: string;
  /** The requests of a round: enough for the JIT compiler to finish, and for the clock's resolution. */
  requestCount: number;
  expects: number;
  bare?: boolean;
  prepare?(database: pg.Client, requestCount: number): Promise<void>;
  next(): Request;
}

function formPost(path: string, fields: Record<string, string>): Request {
  const headers = { "content-type": form, "x-forwarded-for": newClientAddress() };
  return { method: "POST", path, headers, body: new URLSearchParams(fields).toString() };
}

/** How many users the workloads draw from. */
export const known = { users: 5_000 };

/** The users who sign in repeatedly, and those who keep one session. */
const randomUserToSignIn = () => randomIndex(known.users / 2);
const randomSignedInUser = () => known.users / 2 + randomIndex(known.users / 2);

async function addUsers(database: pg.Client, count: number): Promise<string[]> {
  const round = randomBytes(4).toString("hex");
  const emails = Array.from({ length: count }, (_, index) => `${round}-${index}@bench.example`);
  await database.query(
    "insert into users (id, email, password_hash, created_at) select gen_random_uuid(), e, 'x', now() from unnest($1::text[]) e",
    [emails],
  );
  return emails;
}

const emails: string[] = [];
const links: { email: string; token: string }[] = [];

async function addLinks(database: pg.Client, requestCount: number): Promise<void> {
  const added = (await addUsers(database, requestCount)).map((email) => ({
    email,
    token: randomBytes(32).toString("hex"),
  }));
  await database.query(
    `insert into password_resets (token_hash, email, expires_at)
     select t, e, now() + interval '1 hour' from unnest($1::text[], $2::text[]) as link (t, e)`,
    [added.map(({ token }) => sha256(token)), added.map(({ email }) => email)],
  );
  links.splice(0, links.length, ...added);
}

export const logIn = (user: number) => formPost("/login", { email: `known-${user}@bench.example`, password });

const deviceTokenOf = (user: number) => String(user).padStart(64, "0");

async function addDevices(database: pg.Client): Promise<void> {
  const users = Array.from({ length: known.users / 2 }, (_, user) => user);
  await database.query(
    `insert into devices (token_hash, user_id, created_at, last_seen_at)
     select t, users.id, now(), now() from unnest($1::text[], $2::text[]) as device (t, e) join users on email = e
     on conflict do nothing`,
    [users.map((user) => sha256(deviceTokenOf(user))), users.map((user) => `known-${user}@bench.example`)],
  );
}

const state = "b".repeat(64);

export const workloads: Workload[] = [
  {
    name: "W1",
    what: "POST /forgot-password, known address",
    requestCount: 4_000,
    expects: 200,
    bare: true,
    async prepare(database, requestCount) {
      emails.splice(0, emails.length, ...(await addUsers(database, requestCount)));
    },
    next: () => formPost("/forgot-password", { email: emails.pop() ?? "" }),
  },
  {
    name: "W2",
    what: "POST /forgot-password, unknown address",
    requestCount: 4_000,
    expects: 200,
    bare: true,
    next: () => formPost("/forgot-password", { email: `nobody-${randomBytes(8).toString("hex")}@bench.example` }),
  },
  {
    name: "W3",
    what: "POST /reset-password",
    requestCount: 1_200,
    expects: 302,
    prepare: addLinks,
    next: () => formPost("/reset-password", { ...links.pop(), password, passwordConfirmation: password }),
  },
  {
    name: "W4",
    what: "GET /auth/idp/callback",
    requestCount: 4_000,
    expects: 302,
    next: () => ({
      method: "GET",
      path: `/auth/idp/callback?code=idp-${randomUserToSignIn()}&state=${state}`,
      headers: { cookie: `oauth_state=${state}` },
    }),
  },
  {
    name: "W5",
    what: "GET /dashboard",
    requestCount: 4_000,
    expects: 200,
    bare: true,
    next: () => ({ method: "GET", path: "/dashboard", headers: { cookie: `session=session-${randomSignedInUser()}` } }),
  },
  {
    name: "W8",
    what: "POST /login, unknown browser",
    requestCount: 1_200,
    expects: 302,
    next: () => logIn(randomUserToSignIn()),
  },
  {
    name: "W10",
    what: "POST /login, known browser",
    requestCount: 1_200,
    expects: 302,
    prepare: addDevices,
    next() {
      const user = randomUserToSignIn();
      const login = logIn(user);
      return { ...login, headers: { ...login.headers, cookie: `device=${deviceTokenOf(user)}` } };
    },
  },
  {
    name: "W9",
    what: "GET /auth/verify",
    requestCount: 20_000,
    expects: 200,
    next: () => ({
      method: "GET",
      path: "/auth/verify",
      headers: { "x-forwarded-host": "127.0.0.1", cookie: `session=session-${randomSignedInUser()}` },
    }),
  },
  {
    name: "W11",
    what: "GET /auth/session",
    requestCount: 20_000,
    expects: 200,
    next: () => ({
      method: "GET",
      path: "/auth/session",
      headers: { cookie: `session=session-${randomSignedInUser()}` },
    }),
  },
];
