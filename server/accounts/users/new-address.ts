import type { EntityManager } from "@mikro-orm/postgresql";
import { deliverable, type User } from "../../database/entities";
import { endEveryLink } from "../links/mailed-links";
import { type Actor, endOtherAccess } from "../sessions/sessions";
import { tell } from "./changes";
import { distrustEarlierUser } from "./ways-in";

/**
 * Gives the user another address. Ends every link of both addresses and of the user, and every session except the
 * owner's. Without an owner's session, questions the ways in. The caller holds both addresses and the user's row.
 * @param by the owner, or an operator, who has no session
 */
export async function replaceEmail(em: EntityManager, user: User, newEmail: string, by: Partial<Actor>) {
  const previousEmail = user.email;
  await endEveryLink(em, user.id, previousEmail, newEmail);
  user.email = newEmail;
  Object.assign(user, deliverable);
  const ended = await endOtherAccess(em, { user, sessionId: by.sessionId ?? null }, "email_changed");
  if (!ended.kept) await distrustEarlierUser(em, user);
  const variant = by.userAgent === undefined ? "by_operator" : undefined;
  await tell(em, "email_change.completed", user, { by, previousEmail, variant });
  return ended;
}
