import type { EntityManager, Knex, MikroORM } from "@mikro-orm/postgresql";
import { requiredValue } from "../process-value";
import { runStatement } from "./run-statement";
import { namingUnavailability } from "./unavailable";

export const [setOrm, orm] = requiredValue<MikroORM>("orm", "The database has not been opened.");

const whenCommitted = new WeakMap<EntityManager, (() => void)[]>();

/** One transaction on a fresh identity map. @throws DatabaseUnavailable */
export async function unitOfWork<T>(work: (em: EntityManager) => Promise<T>): Promise<T> {
  const waiting: (() => void)[] = [];
  const result = await namingUnavailability(() =>
    orm()
      .em.fork()
      .transactional((em) => {
        whenCommitted.set(em, waiting);
        return work(em);
      }),
  );
  for (const run of waiting) run();
  return result;
}

/** Runs once the unit of work is committed, and never when it is not; at once for an `em` without one. */
export function afterCommit(em: EntityManager, run: () => void): void {
  const waiting = whenCommitted.get(em);
  if (waiting) waiting.push(run);
  else run();
}

/** Statements that need no transaction, on a fresh identity map. @throws DatabaseUnavailable */
export function query<T>(work: (em: EntityManager) => Promise<T>): Promise<T> {
  return namingUnavailability(() => work(orm().em.fork()));
}

function numbered(sql: string): string {
  let position = 0;
  return sql.replace(/\?/g, () => `$${++position}`);
}

/** Runs a prepared statement, with a `?` for each value, without MikroORM. Each use states its measured reason. */
export function prepared<Row>(name: string, sql: string, values: unknown[]): Promise<Row[]> {
  return namingUnavailability(() => runStatement<Row>(orm().em.getKnex(), { name, text: numbered(sql), values }));
}

/** Like {@link prepared}, within `em`'s transaction. */
export function preparedWithin<Row>(em: EntityManager, name: string, sql: string, values: unknown[]): Promise<Row[]> {
  const transaction = em.getTransactionContext<Knex.Transaction>();
  return runStatement<Row>(transaction ?? em.getKnex(), { name, text: numbered(sql), values });
}

/** Locks texts, in their order, until the end of the transaction. */
export async function lockTexts(em: EntityManager, texts: string[]): Promise<void> {
  const list = texts.map(() => "?").join();
  await em.execute(`select pg_advisory_xact_lock(hashtextextended(t, 0)) from unnest(array[${list}]) t`, texts);
}
