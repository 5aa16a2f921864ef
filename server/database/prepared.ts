import type { EntityManager, Knex } from "@mikro-orm/postgresql";
import { runStatement } from "./run-statement";
import { translateConnectionErrors } from "./unavailable";
import { orm } from "./unit-of-work";

/** The statements that are not MikroORM's, each with its reason. CPU is that of the process, by `npm run bench`. */
type PreparedStatement =
  /** With MikroORM, a known user's row takes 0.25 ms longer than none (2,000 pairs): that tells who has an account. */
  | "credentials"
  /** As `credentials`: MikroORM takes longer for a row than for none. */
  | "device-of-address"
  /** MikroORM was 27 % of a signed-in page's CPU (W5). Requests of one turn of the event loop share it (W9 0.61). */
  | "live-sessions-of-tokens"
  /** As `live-sessions-of-tokens`, for access tokens. */
  | "access-tokens"
  /** MikroORM was a sixth of a signed-in page's CPU (W5). */
  | "live-sessions"
  /** One statement for each of four counters took 1.5 times the CPU. */
  | "count-attempt"
  /** Locks counters in the order of `count-attempt`, or both could deadlock. */
  | "take-back-attempt"
  /** With MikroORM, which needs two statements, a request for a link took 1.2 times the CPU (W1). */
  | "reset-link-of-user"
  /** Three statements in one: a returning sign-in at the provider takes four in all. */
  | "start-session"
  /** Three statements in one: a reset sends fourteen in all. */
  | "distrust-earlier-user"
  /** 0.35 ms of CPU. With MikroORM, which needs two statements, ending a session takes 3.1 ms. */
  | "end-sessions-of-tokens"
  | "end-sessions-of-user"
  /** MikroORM's delete does not say whether the session's time had ended it. */
  | "end-session"
  /** MikroORM cannot lock rows of a subquery in an order. */
  | "lock-users-of-tokens"
  /** 0.15 ms of CPU. With MikroORM, counting the rows alone takes 0.5 ms. */
  | "remove-surplus-devices"
  /** The event and the trim of the history, which MikroORM needs three statements for. */
  | "write-event"
  /** As `write-event`, and it takes the same time for an address without an account. */
  | "write-mail-event";

/**
 * In the transaction that evaluates it, a commit does not wait for the disk. For what a crash may take back: a count of
 * attempts, or the start or end of a job, which then runs again (PostgreSQL, "Asynchronous Commit").
 */
export const commitWithoutFlush = "set_config('synchronous_commit', 'off', true)";

/** Runs a prepared statement, with a `?` for each value, without MikroORM. */
export function prepared<Row>(name: PreparedStatement, sql: string, values: unknown[]): Promise<Row[]> {
  return translateConnectionErrors(() => runStatement<Row>(orm().em.getKnex(), { name, text: numbered(sql), values }));
}

/** Like {@link prepared}, within `em`'s transaction. */
export function preparedWithin<Row>(
  em: EntityManager,
  name: PreparedStatement,
  sql: string,
  values: unknown[],
): Promise<Row[]> {
  const transaction = em.getTransactionContext<Knex.Transaction>();
  return runStatement<Row>(transaction ?? em.getKnex(), { name, text: numbered(sql), values });
}

const texts = new Map<string, string>();

function numbered(sql: string): string {
  let position = 0;
  const text = texts.get(sql) ?? sql.replace(/\?/g, () => `$${++position}`);
  texts.set(sql, text);
  return text;
}
