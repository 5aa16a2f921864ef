import type { EntityManager } from "@mikro-orm/postgresql";
import { config } from "../../config";
import { sha256 } from "../../crypto/tokens";
import { User } from "../../database/entities";
import { afterCommit, beforeCommit } from "../../database/unit-of-work";
import type { SessionEnd, ToldSessionEnd } from "../../events/events";
import { logEvent } from "../../log";
import { announce } from "../users/changes";

/** A session that was deleted or renewed. */
export interface EndedSession {
  id: string;
  userId: string;
  /** False if it had expired or been idle too long. */
  isLive: boolean;
}

/** Logs the ends once they are committed, in one event for each user, and announces them. */
export function reportEnds(em: EntityManager, reason: SessionEnd, ended: readonly EndedSession[]): void {
  for (const [userId, { length: count }] of byUser(ended)) {
    afterCommit(em, () => logEvent({ event: "session.ended", userId, reason, count }));
  }
  announceEnds(em, reason, ended);
}

const batch = 1_000; // users in memory

/**
 * With `WEBHOOK_SESSIONS`, tells the application of the sessions, in one webhook for each user, after all others of the
 * unit of work: a suspension must not wait for it.
 */
export function announceEnds(em: EntityManager, reason: SessionEnd | "renewed", ended: readonly EndedSession[]): void {
  if (!config().webhook?.sessions || !isTold(reason)) return;
  const live = byUser(ended.filter(({ isLive }) => isLive));
  if (live.size === 0) return;
  const sidsOf = (userId: string) => (live.get(userId) ?? []).map(({ id }) => sidOf(id));
  beforeCommit(em, async () => {
    await em.flush(); // the webhook has the user after the change
    const ids = [...live.keys()];
    while (ids.length > 0) {
      const users = await em.find(User, { id: ids.splice(0, batch) }, { disableIdentityMap: true });
      await announce(em, "session.ended", users, ({ id }) => ({ sids: sidsOf(id), reason }));
    }
  });
}

function byUser(ended: readonly EndedSession[]): Map<string, EndedSession[]> {
  const users = new Map<string, EndedSession[]>();
  for (const session of ended) users.set(session.userId, [...(users.get(session.userId) ?? []), session]);
  return users;
}

const isTold = (reason: SessionEnd | "renewed"): reason is ToldSessionEnd =>
  reason !== "account_deleted" && reason !== "expired";

/** The name of a session for applications. A renewed session gets another one: copies of its cookie have ended. */
export const sidOf = (sessionId: string): string =>
  Buffer.from(sha256(`latchkey session ${sessionId}`), "hex")
    .subarray(0, 16)
    .toString("base64url");
