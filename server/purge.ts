import type { EntityName, FilterQuery } from "@mikro-orm/core";
import { LockMode } from "@mikro-orm/postgresql";
import { query, unitOfWork } from "./database.server";
import { PasswordReset, RateLimit, Registration, Session } from "./entities";
import { logEvent } from "./log";
import { service } from "./service";
import { expired } from "./sessions";

const batch = 5_000; // rows of each table in one job, so that neither a table nor the queue is held up for long

/** Removes up to a batch of rows by their key; the rows that somebody is using up just now are theirs. */
function remove<Entity extends object>(
  entity: EntityName<Entity>,
  key: keyof Entity & string,
  where: FilterQuery<Entity>,
): Promise<number> {
  return unitOfWork(async (em) => {
    const some = em
      .createQueryBuilder(entity)
      .select(key as never)
      .where(where as never)
      .limit(batch);
    const locked = some.setLockMode(LockMode.PESSIMISTIC_PARTIAL_WRITE).getKnexQuery();
    return em.nativeDelete(entity, { [key]: { $in: locked } } as FilterQuery<Entity>);
  });
}

/** Removes rows that can no longer be used, and asks for another job while there may be more. */
export async function purgeExpired(): Promise<void> {
  const now = new Date();
  const sessions = await remove(Session, "id", expired(now));
  if (sessions > 0) logEvent("session.ended", { reason: "expired", count: sessions });
  const removed = [
    sessions,
    await remove(PasswordReset, "tokenHash", { expiresAt: { $lte: now } }),
    await remove(Registration, "tokenHash", { expiresAt: { $lte: now } }),
    await remove(RateLimit, "key", { expire: { $lte: String(now.getTime()) } }),
  ];
  if (removed.some((count) => count === batch)) {
    await query((em) => service().queue.enqueue(em, { task: "purge_expired" }));
  }
}
