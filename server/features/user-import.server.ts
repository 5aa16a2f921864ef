import type { EntityManager, Knex } from "@mikro-orm/postgresql";
import { kindInForce } from "../accounts/password-hashing";
import { configuredIssuer, isLinked } from "../accounts/provider-identities";
import { kindOf } from "../accounts/stored-hashes";
import { parseUserLine, type UserLine } from "../accounts/user-lines";
import { User } from "../database/entities";
import { passwordKinds } from "../database/password-kinds";
import { runStatement } from "../database/run-statement";
import { query, unitOfWork } from "../database/unit-of-work";
import { logEvent } from "../log";

const batch = 2_000; // lines, or users
const mostKinds = 4; // besides Latchkey's own

/** One line of a file: its number, and its bytes, or `null` when it is too long. */
interface Line {
  number: number;
  bytes: Buffer | null;
}

/** What an import tells while it runs. */
export interface ImportReport {
  /** A wrong line. Called in the order of the lines, after all were read. */
  wrong(line: number, problem: string): void;
  /** The lines that were written so far, of all. */
  written(lines: number, all: number): void;
}

export interface Imported {
  created: number;
  /** Lines whose address has an account. */
  skipped: number;
}

/** Why nothing was imported. */
export type ImportRefusal = "lines_are_wrong" | "another_import_runs";

interface Read {
  number: number;
  user: Partial<UserLine>;
  problem: string | null;
}

/**
 * Each kind of hash costs a verification in every refused login (`verifyPassword`).
 *
 * @param stored the kinds of the accounts
 */
function kindLimit(stored: string[]): (hash: string) => string | null {
  const kinds = new Set([...stored, kindInForce]);
  return (hash) => {
    const kind = kindOf(hash) ?? "";
    if (kinds.size > mostKinds && !kinds.has(kind)) {
      return `passwordHash is of one kind (algorithm and parameters) too many; all accounts may have ${mostKinds} besides Latchkey's own`;
    }
    kinds.add(kind);
    return null;
  };
}

const storedKinds = `with recursive ${passwordKinds} select kind from kinds where kind is not null`;

async function* batchesOf(lines: AsyncIterable<Line>, stored: string[]): AsyncIterable<Read[]> {
  const problemOfKind = kindLimit(stored);
  let read: Read[] = [];
  for await (const { number, bytes } of lines) {
    if (bytes?.toString("latin1").trim() === "") continue;
    const parsed = parseUserLine(bytes);
    const user: Partial<UserLine> = "user" in parsed ? parsed.user : {};
    const problem = "problem" in parsed ? parsed.problem : user.passwordHash ? problemOfKind(user.passwordHash) : null;
    read.push({ number, user, problem });
    if (read.length === batch) {
      yield read;
      read = [];
    }
  }
  if (read.length > 0) yield read;
}

// Without MikroORM: a file of any length is checked and written in the memory of one batch, and the database finds the
// lines that do not go together. 100,000 lines took 4.6 s; MikroORM's `insertMany` alone took 4.5 s (PostgreSQL 15).
type Run = <Row>(text: string, values?: unknown[]) => Promise<Row[]>;

const runIn =
  (em: EntityManager): Run =>
  (text, values = []) =>
    runStatement(em.getTransactionContext<Knex.Transaction>() ?? em.getKnex(), { text, values });

const createStage = `create temporary table import_lines (
  line integer primary key, email text, name text, password_hash text, idp_id text, idp_blocked_at timestamptz,
  problem text) on commit drop`;

const addToStage = `insert into import_lines
  select * from unnest(
    $1::integer[], $2::text[], $3::text[], $4::text[], $5::text[], $6::timestamptz[], $7::text[])`;

async function stage(run: Run, lines: AsyncIterable<Line>): Promise<void> {
  await run(createStage);
  const stored = await run<{ kind: string }>(storedKinds);
  const kinds = stored.map(({ kind }) => kind);
  for await (const read of batchesOf(lines, kinds)) {
    const column = (value: (line: Read) => unknown) => read.map((line) => value(line) ?? null);
    await run(addToStage, [
      column(({ number }) => number),
      column(({ user }) => user.email),
      column(({ user }) => user.name),
      column(({ user }) => user.passwordHash),
      column(({ user }) => user.idpId),
      column(({ user }) => user.idpBlockedAt),
      column(({ problem }) => problem),
    ]);
  }
  await run("analyze import_lines");
}

/** Marks the lines that repeat the value of an earlier one. */
const markRepeated = (column: "email" | "idp_id", field: string) => `
  update import_lines as later set problem = '${field} is that of line ' || first.line
  from (select ${column}, min(line) as line from import_lines group by ${column} having count(*) > 1) as first
  where later.${column} = first.${column} and later.line > first.line and later.problem is null`;

const markTaken = `
  update import_lines set problem = 'idpId is that of another account'
  from users where users.idp_id = import_lines.idp_id and import_lines.problem is null
    and ($1::text is null or users.idp_issuer is null or users.idp_issuer = $1)
    and not exists (select from users as same where same.email = import_lines.email)`;

async function reportWrong(run: Run, report: ImportReport): Promise<boolean> {
  const wrong = `select line, problem from import_lines where problem is not null and line > $1 order by line limit ${batch}`;
  let last = 0;
  for (;;) {
    const rows = await run<{ line: number; problem: string }>(wrong, [last]);
    for (const { line, problem } of rows) report.wrong(line, problem);
    last = rows.at(-1)?.line ?? last;
    if (rows.length < batch) return last > 0;
  }
}

// A link that was mailed before must not set a password later. The addresses are not locked: there may be more of them
// than a database has locks. The links go before the users come, as in the other flows, and the unique index decides.
const removeRegistrations =
  "delete from registrations using import_lines where registrations.email = import_lines.email";

const insertBatch = `
  with created as (
    insert into users (id, email, password_hash, idp_id, idp_issuer, idp_blocked_at, name, created_at)
    select gen_random_uuid(), email, password_hash, idp_id, case when idp_id is not null then $1::text end, idp_blocked_at,
      name, now()
    from import_lines where line > $2 and line <= $3
    on conflict (email) do nothing returning 1
  ) select count(*)::integer as created from created`;

async function insertAll(run: Run, issuer: string | null, report: ImportReport): Promise<Imported> {
  const [lines] = await run<{ all: number; last: number }>(
    "select count(*)::integer as all, coalesce(max(line), 0) as last from import_lines",
  );
  const { all, last } = lines ?? { all: 0, last: 0 };
  let created = 0;
  for (let from = 0; from < last; from += batch) {
    const [row] = await run<{ created: number }>(insertBatch, [issuer, from, from + batch]);
    created += row?.created ?? 0;
    report.written(Math.min(from + batch, last), last);
  }
  return { created, skipped: all - created };
}

const importLock = 4_701_983_362; // any number that other locks of the database do not use; `kindLimit` needs it

/**
 * Creates the users of a file of JSON lines, in one transaction. An address that has an account is skipped. A refused
 * import changes nothing.
 */
export async function importUsers(lines: AsyncIterable<Line>, report: ImportReport): Promise<Imported | ImportRefusal> {
  const issuer = configuredIssuer();
  const imported = await unitOfWork(async (em) => {
    const run = runIn(em);
    const [lock] = await run<{ free: boolean }>("select pg_try_advisory_xact_lock($1) as free", [importLock]);
    if (!lock?.free) return "another_import_runs";
    await stage(run, lines);
    await run(markRepeated("email", "email"));
    await run(markRepeated("idp_id", "idpId"));
    await run(markTaken, [issuer]);
    if (await reportWrong(run, report)) return "lines_are_wrong";
    await run(removeRegistrations);
    return insertAll(run, issuer, report);
  });
  if (typeof imported !== "string") logEvent({ event: "users.imported", count: imported.created });
  return imported;
}

/**
 * Every user in the order of the addresses, as `importUsers` takes them. Of the ids only those of the configured provider:
 * an import takes each id for one of its own provider, so that another provider's person with that id would own the
 * account.
 */
export async function* exportUsers(): AsyncIterable<UserLine> {
  const issuer = configuredIssuer();
  let last = "";
  for (;;) {
    const users = await query((em) =>
      em.find(
        User,
        { email: { $gt: last } },
        {
          fields: ["email", "name", "passwordHash", "idpId", "idpIssuer", "idpBlockedAt"],
          orderBy: { email: "asc" },
          limit: batch,
          disableIdentityMap: true,
        },
      ),
    );
    for (const { email, name, passwordHash, idpId, idpIssuer, idpBlockedAt } of users) {
      const isOfProvider = issuer !== null && isLinked({ idpId, idpIssuer }, issuer);
      yield {
        email,
        ...(name !== null && { name }),
        ...(passwordHash !== null && { passwordHash }),
        ...(isOfProvider && { idpId }),
        ...(idpBlockedAt && { idpBlockedAt: idpBlockedAt.toISOString() }),
      };
    }
    last = users.at(-1)?.email ?? last;
    if (users.length < batch) return;
  }
}
