import type { EntityManager } from "@mikro-orm/postgresql";
import { Session, type User } from "../database/entities";
import { live } from "./sessions";
import { lockUser } from "./users";

/** Who acts on an account: its user, and the session that asks. */
export interface Owner {
  userId: string;
  sessionId: string;
}

/** The owner's user, locked as by `lockUser`; `null` when the session has ended by now. */
export async function lockOwner(em: EntityManager, { userId, sessionId }: Owner): Promise<User | null> {
  const user = await lockUser(em, { id: userId });
  const sessions = user ? await em.count(Session, { id: sessionId, user: userId, ...live() }) : 0;
  return sessions > 0 ? user : null;
}
