import type { EntityManager, Knex } from "@mikro-orm/postgresql";
import { kindInForce } from "../../accounts/passwords/password-hashing";
import { costOf, withoutIterations } from "../../accounts/passwords/stored-hashes";
import { configuredIssuer, ofIssuerSql } from "../../accounts/provider/provider-identities";
import { announce } from "../../accounts/users/changes";
import { record } from "../../accounts/users/history";
import { usersByAddress } from "../../accounts/users/users";
import { User } from "../../database/entities";
import { kindOf, passwordKinds } from "../../database/password-kinds";
import { runStatement } from "../../database/run-statement";
import { afterCommit, unitOfWork } from "../../database/unit-of-work";
import { logEvent } from "../../log";
import { parseUserLine, type UserLine, userFields } from "./user-lines";

const batch = 10_000; // lines
const maxKinds = 4; // besides Latchkey's own
const maxCost = 1_000; // ms of CPU of one refused login, which verifies each kind

interface WrongLine {
  line: number;
  problem: string;
}

type NumberedUser = UserLine & { line: number };

const storedKinds = `with recursive ${passwordKinds} select kind from kinds where kind is not null`;

/** The key of no other lock. Two imports at once could each add the last kind of hash that may be stored. */
const importLock = 4_701_983_362;

/** One transaction; nothing changes when a line is wrong. `written` is called after each of several batches. */
export async function importUsers(
  lines: string[],
  written: (done: number, all: number) => void,
): Promise<{ created: number; skipped: number; uninvited: number } | WrongLine[] | "another_import_runs"> {
  return unitOfWork(async (em) => {
    const run = <Row>(text: string, values: unknown[] = []) =>
      runStatement<Row>(em.getTransactionContext<Knex.Transaction>() ?? em.getKnex(), { text, values });
    const [lock] = await run<{ free: boolean }>("select pg_try_advisory_xact_lock($1) as free", [importLock]);
    if (!lock?.free) return "another_import_runs";
    const stored = await run<{ kind: string }>(storedKinds);
    const kinds = stored.map(({ kind }) => kind);
    const { users, wrong } = parseLines(lines, kinds);
    const table = tableOfLines(em);
    const batches: string[] = [];
    for (let at = 0; at < users.length; at += batch) batches.push(JSON.stringify(users.slice(at, at + batch)));
    for (const some of batches) wrong.push(...(await run<WrongLine>(findTaken(table), [some])));
    if (wrong.length > 0) return wrong.sort((one, other) => one.line - other.line);
    let created = 0;
    let uninvited = 0;
    for (const [index, some] of batches.entries()) {
      await run(removeRegistrations(table), [some]);
      const removed = await run<{ live: boolean }>(removeInvitations(table), [some]);
      uninvited += removed.filter(({ live }) => live).length;
      const added = await run<Pick<User, "id" | "email" | "name" | "groups">>(insertUsers(table), [some]);
      // A foreign key's plan that was made while there were few accounts reads all of them for each new row.
      await run("discard plans");
      const ids = added.map(({ id }) => id);
      await record(em, ids, {}, { type: "registration.completed" });
      await announce(em, "user.created", added);
      created += added.length;
      if (batches.length > 1) written(Math.min((index + 1) * batch, users.length), users.length);
    }
    afterCommit(em, () => {
      for (let count = 0; count < uninvited; count++) logEvent({ event: "invitation.removed" });
      logEvent({ event: "users.imported", count: created });
    });
    return { created, skipped: users.length - created, uninvited };
  });
}

function parseLines(lines: string[], stored: string[]): { users: NumberedUser[]; wrong: WrongLine[] } {
  const conflictOf = conflictFinder(stored);
  const issuer = configuredIssuer();
  const users: NumberedUser[] = [];
  const wrong: WrongLine[] = [];
  for (const [index, text] of lines.entries()) {
    if (text.trim() === "") continue;
    const line = index + 1;
    const parsed = parseUserLine(text);
    if ("problem" in parsed) {
      wrong.push({ line, problem: parsed.problem });
      continue;
    }
    const { idpId, idpIssuer } = parsed.user;
    const user = { ...parsed.user, line, idpIssuer: idpId == null ? null : (idpIssuer ?? issuer) };
    const problem = conflictOf(user);
    if (problem === undefined) users.push(user);
    else wrong.push({ line, problem });
  }
  return { users, wrong };
}

/** Says why a well-formed line cannot be imported. Each kind of hash costs a verification in a refused login. */
function conflictFinder(stored: string[]): (user: NumberedUser) => string | undefined {
  const kinds = new Map([...stored, kindInForce].map((kind) => [withoutIterations(kind), costOf(kind)]));
  const lines = new Map<string, number>();
  return ({ line, id, email, passwordHash, idpId, idpIssuer }) => {
    if (idpId != null && idpIssuer == null) return "idpId needs an idpIssuer: no provider is configured";
    const kindAsStored = (passwordHash && kindOf(passwordHash)) || "";
    const kind = withoutIterations(kindAsStored);
    if (kind && kinds.size > maxKinds && !kinds.has(kind)) {
      return `passwordHash is of one kind (algorithm and parameters) too many; all accounts may have ${maxKinds} besides Latchkey's own`;
    }
    const [own, cost] = [kinds.get(kind) ?? 0, costOf(kindAsStored)];
    const sum = [...kinds.values()].reduce((one, other) => one + other, cost - own);
    if (cost > own && sum > maxCost) {
      return `passwordHash would make one refused login take ${(sum / 1_000).toFixed(1)} s of CPU; the stored kinds may take ${maxCost / 1_000} s together`;
    }
    if (cost > own) kinds.set(kind, cost);
    const unique = { email, id, idpId: idpId == null ? null : `${idpIssuer} ${idpId}` };
    for (const [field, value] of Object.entries(unique)) {
      if (value == null) continue;
      const first = lines.get(`${field} ${value}`);
      if (first !== undefined) return `${field} is that of line ${first}`;
      lines.set(`${field} ${value}`, line);
    }
    return undefined;
  };
}

/** Lines as a table, each field with the type of its column. */
function tableOfLines(em: EntityManager): string {
  const { properties } = em.getMetadata(User);
  const typed = userFields.map((field) => `"${field}" ${properties[field].columnTypes[0]}`);
  // Without MikroORM: its `insertMany` alone took as long for 100,000 lines as all of this (4.5 s, PostgreSQL 15).
  return `json_to_recordset($1::json) as lines (line integer, ${typed})`;
}

const findTaken = (lines: string) => `
  select line, case when users.id = lines.id then 'id' else 'idpId' end || ' is that of another account' as problem
  from ${lines} cross join lateral (
    select id from users where users.id = lines.id
    union
    select id from users where idp_id = "idpId" and ${ofIssuerSql('"idpIssuer"')}
    limit 1
  ) as users
  where not exists (select from users as same where same.email = lines.email)`;

// A link that was mailed before must not set a password later. The addresses are not locked: there may be more of them
// than a database has locks. The links go before the users come, as in the other flows, and the unique index decides.
const removeRegistrations = (lines: string) =>
  `delete from registrations using ${lines} where registrations.email = lines.email`;

const removeInvitations = (lines: string) => `
  delete from invitations using ${lines} where invitations.email = lines.email returning expires_at > now() as live`;

const insertUsers = (lines: string) => `
  insert into users (${columns}, created_at) select ${inserted}, now()
  from ${lines} on conflict (email) do nothing returning id, email, name, groups`;

const columns = userFields.map((field) => field.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`));

const defaults: { [Field in keyof UserLine]?: string } = { id: "gen_random_uuid()", groups: "'{}'" };

const inserted = userFields.map((field) =>
  defaults[field] ? `coalesce("${field}", ${defaults[field]})` : `"${field}"`,
);

/** Exports users in the order of their addresses. Without a configured provider, omits an id without an issuer. */
export async function* exportUsers(): AsyncIterable<Partial<User>> {
  const configured = configuredIssuer();
  for await (const user of usersByAddress()) {
    const idpIssuer = user.idpId === null ? null : (user.idpIssuer ?? configured);
    const line = { ...user, idpId: idpIssuer && user.idpId, idpIssuer };
    const isEmpty = (value: unknown) => value === null || (Array.isArray(value) && value.length === 0);
    yield Object.fromEntries(userFields.map((field) => [field, line[field]]).filter(([, value]) => !isEmpty(value)));
  }
}
