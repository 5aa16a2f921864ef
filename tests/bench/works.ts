import { randomBytes } from "node:crypto";
import type { Request as Shot } from "autocannon";
import type pg from "pg";
import { newClientAddress } from "../support/client-address";
import { sha256 } from "../support/sha256";

export const password = "a password for the bench";

const form = "application/x-www-form-urlencoded";
const pick = (count: number) => Math.floor(Math.random() * count);

export interface Work {
  name: string;
  what: string;
  /** How many requests a round has: enough for the compiler to be done, and for the clock. */
  shots: number;
  /** The status of a good answer. */
  expects: number;
  /** Makes what that many requests use up. */
  prepare(database: pg.Client, shots: number): Promise<void>;
  next(): Shot;
}

function posting(path: string, fields: Record<string, string>): Shot {
  const headers = { "content-type": form, "x-forwarded-for": newClientAddress() };
  return { method: "POST", path, headers, body: new URLSearchParams(fields).toString() };
}

export const knownUsers = 5_000;

/** Those who sign in, again and again, and those who have one session and keep it. */
const whoSignsIn = () => pick(knownUsers / 2);
const whoIsSignedIn = () => knownUsers / 2 + pick(knownUsers / 2);

/** Users whose addresses nobody has used yet. */
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

async function mintLinks(database: pg.Client, shots: number): Promise<void> {
  const minted = (await addUsers(database, shots)).map((email) => ({ email, token: randomBytes(32).toString("hex") }));
  await database.query(
    `insert into password_resets (token_hash, email, expires_at)
     select t, e, now() + interval '1 hour' from unnest($1::text[], $2::text[]) as link (t, e)`,
    [minted.map(({ token }) => sha256(token)), minted.map(({ email }) => email)],
  );
  links.splice(0, links.length, ...minted);
}

const nothing = async () => {};
const state = "b".repeat(64);

export const works: Work[] = [
  {
    name: "W1",
    what: "POST /forgot-password, known address",
    shots: 4_000,
    expects: 200,
    async prepare(database, shots) {
      emails.splice(0, emails.length, ...(await addUsers(database, shots)));
    },
    next: () => posting("/forgot-password", { email: emails.pop() ?? "" }),
  },
  {
    name: "W2",
    what: "POST /forgot-password, unknown address",
    shots: 4_000,
    expects: 200,
    prepare: nothing,
    next: () => posting("/forgot-password", { email: `nobody-${randomBytes(8).toString("hex")}@bench.example` }),
  },
  {
    name: "W3",
    what: "POST /reset-password",
    shots: 1_200,
    expects: 302,
    prepare: mintLinks,
    next: () => posting("/reset-password", { ...links.pop(), password, passwordConfirmation: password }),
  },
  {
    name: "W4",
    what: "GET /auth/idp/callback",
    shots: 4_000,
    expects: 302,
    prepare: nothing,
    next: () => ({
      method: "GET",
      path: `/auth/idp/callback?code=idp-${whoSignsIn()}&state=${state}`,
      headers: { cookie: `oauth_state=${state}` },
    }),
  },
  {
    name: "W5",
    what: "GET /dashboard",
    shots: 4_000,
    expects: 200,
    prepare: nothing,
    next: () => ({ method: "GET", path: "/dashboard", headers: { cookie: `session=session-${whoIsSignedIn()}` } }),
  },
  {
    name: "W8",
    what: "POST /login",
    shots: 1_200,
    expects: 302,
    prepare: nothing,
    next: () => posting("/login", { email: `known-${whoSignsIn()}@bench.example`, password }),
  },
];
