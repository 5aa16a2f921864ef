import type { EntityName, FilterQuery } from "@mikro-orm/core";
import { type EntityManager, LockMode } from "@mikro-orm/postgresql";

/** A row of which a user has only so many. */
interface UsedByUser {
  lastSeenAt: Date;
  createdAt: Date;
}

/**
 * Removes the user's rows but the `most` that were used last. The caller holds the user's row.
 *
 * @returns how many were removed
 */
export async function keepMostRecent<Entity extends UsedByUser>(
  em: EntityManager,
  entity: EntityName<Entity>,
  key: keyof Entity & string,
  userId: string,
  most: number,
): Promise<number> {
  // Counted first, by the index of the user: most sign-ins have nothing to remove.
  if ((await em.count(entity, { user: userId } as FilterQuery<Entity>)) <= most) return 0;
  const surplus = em
    .createQueryBuilder(entity)
    .select(key as never)
    .where({ user: userId } as never)
    .orderBy({ lastSeenAt: "desc", createdAt: "desc", [key]: "desc" } as never)
    .offset(most);
  // A locked row is being removed by another sign-in. To wait for it could deadlock, when two users sign in to each
  // other's browsers.
  const unlocked = em
    .createQueryBuilder(entity, "unlocked")
    .select(key as never)
    .where({ [key]: { $in: surplus.getKnexQuery() } } as never)
    .setLockMode(LockMode.PESSIMISTIC_PARTIAL_WRITE);
  return em.nativeDelete(entity, { [key]: { $in: unlocked.getKnexQuery() } } as FilterQuery<Entity>);
}
