import type { FilterQuery } from "@mikro-orm/core";
import { type EntityManager, LockMode } from "@mikro-orm/postgresql";
import { EmailChange } from "../database/entities";

/**
 * Ends these email changes: their links are invalid from now on. The rows are locked in one order. Otherwise two users
 * whose changes name each other's addresses could deadlock. `endAllSessions` ends the changes of a user. A caller that also
 * ends those that name an address calls this first, with both conditions.
 */
export async function endEmailChanges(em: EntityManager, where: FilterQuery<EmailChange>): Promise<void> {
  const rows = await em.find(EmailChange, where, {
    orderBy: { tokenHash: "asc" },
    lockMode: LockMode.PESSIMISTIC_WRITE,
    disableIdentityMap: true,
  });
  if (rows.length === 0) return;
  await em.nativeDelete(EmailChange, { tokenHash: { $in: rows.map(({ tokenHash }) => tokenHash) } });
}
