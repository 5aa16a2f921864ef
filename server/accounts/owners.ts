import type { EntityManager } from "@mikro-orm/postgresql";
import { Session, type User } from "../database/entities";
import { live } from "./sessions";
import { lockUser } from "./users";

/** Who acts on an account: its user, and the session that asks. */
export interface Owner {
  userId: string;
  sessionId: string;
}

/** An owner; or an operator, who needs no session. */
export interface Actor {
  userId: string;
  sessionId: string | null;
}

/** Whether the session that asks is still live. The caller holds the user's row: a reset ends sessions under its lock. */
export async function mayAct(em: EntityManager, { userId, sessionId }: Actor): Promise<boolean> {
  return sessionId === null || (await em.count(Session, { id: sessionId, user: userId, ...live() })) > 0;
}

/** The actor's user, locked as by `lockUser`; `null` when the session has ended by now. */
export async function lockOwner(em: EntityManager, actor: Actor): Promise<User | null> {
  const user = await lockUser(em, { id: actor.userId });
  return user && (await mayAct(em, actor)) ? user : null;
}
