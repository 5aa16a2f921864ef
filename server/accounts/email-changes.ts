import type { FilterQuery } from "@mikro-orm/core";
import { type EntityManager, LockMode } from "@mikro-orm/postgresql";
import { EmailChange } from "../database/entities";

/**
 * Ends these email changes: their links are invalid from now on. The rows are locked in one order. Otherwise two users
 * whose changes name each other's addresses could deadlock. A caller that ends those of an address too does so in one call,
 * before it ends the user's sessions, which ends what is left of the user's changes.
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
