import type { EntityManager, MikroORM } from "@mikro-orm/postgresql";
import { requiredValue } from "../process/value";
import { translateConnectionErrors } from "./unavailable";

export const [setOrm, orm] = requiredValue<MikroORM>("orm", "The database has not been opened.");

const afterCommits = new WeakMap<EntityManager, (() => void)[]>();
const beforeCommits = new WeakMap<EntityManager, (() => Promise<void>)[]>();

/** One transaction on a fresh identity map. @throws DatabaseUnavailable */
export async function unitOfWork<T>(work: (em: EntityManager) => Promise<T>): Promise<T> {
  const after: (() => void)[] = [];
  const result = await translateConnectionErrors(() =>
    orm()
      .em.fork()
      .transactional(async (em) => {
        const before: (() => Promise<void>)[] = [];
        afterCommits.set(em, after);
        beforeCommits.set(em, before);
        const done = await work(em);
        for (const run of before) await run();
        return done;
      }),
  );
  for (const run of after) run();
  return result;
}

/** Runs once the unit of work is committed, and never when it is not; at once for an `em` without one. */
export function afterCommit(em: EntityManager, run: () => void): void {
  const after = afterCommits.get(em);
  if (after) after.push(run);
  else run();
}

/** Runs as the last part of the unit of work that `em` belongs to. */
export function beforeCommit(em: EntityManager, run: () => Promise<void>): void {
  const before = beforeCommits.get(em);
  if (!before) throw new Error("There is no unit of work.");
  before.push(run);
}

/** Runs statements without a transaction, on a fresh identity map. @throws DatabaseUnavailable */
export function query<T>(work: (em: EntityManager) => Promise<T>): Promise<T> {
  return translateConnectionErrors(() => work(orm().em.fork()));
}

/** Locks texts, in their order, until the end of the transaction. */
export async function lockTexts(em: EntityManager, texts: string[]): Promise<void> {
  const list = texts.map(() => "?").join();
  await em.execute(`select pg_advisory_xact_lock(hashtextextended(t, 0)) from unnest(array[${list}]) t`, texts);
}
