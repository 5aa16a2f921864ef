import type { EntityManager } from "@mikro-orm/postgresql";
import { config } from "../../config";
import { sha256 } from "../../crypto/tokens";
import { User } from "../../database/entities";
import { beforeCommit } from "../../database/unit-of-work";
import type { SessionEnd, ToldSessionEnd } from "../../events/events";
import { announce } from "../users/changes";

/** A session that was deleted or renewed. */
export interface EndedSession {
  id: string;
  userId: string;
  /** False if it had expired or been idle too long. */
  isLive: boolean;
}

const batch = 1_000; // users in memory

/**
 * With `WEBHOOK_SESSIONS`, tells the application of the sessions, in one webhook for each user, after all others of the
 * unit of work: a suspension must not wait for it.
 */
export function announceEnds(em: EntityManager, reason: SessionEnd | "renewed", ended: readonly EndedSession[]): void {
  if (!config().webhook?.sessions || !isTold(reason)) return;
  const sids = new Map<string, string[]>();
  for (const { id, userId } of ended.filter(({ isLive }) => isLive)) {
    sids.set(userId, [...(sids.get(userId) ?? []), sidOf(id)]);
  }
  if (sids.size === 0) return;
  beforeCommit(em, async () => {
    await em.flush(); // the webhook has the user after the change
    const ids = [...sids.keys()];
    while (ids.length > 0) {
      const users = await em.find(User, { id: ids.splice(0, batch) }, { disableIdentityMap: true });
      await announce(em, "session.ended", users, ({ id }) => ({ sids: sids.get(id) ?? [], reason }));
    }
  });
}

const isTold = (reason: SessionEnd | "renewed"): reason is ToldSessionEnd =>
  reason !== "account_deleted" && reason !== "expired";

/** The name of a session for applications. A renewed session gets another one: copies of its cookie have ended. */
export const sidOf = (sessionId: string): string =>
  Buffer.from(sha256(`latchkey session ${sessionId}`), "hex")
    .subarray(0, 16)
    .toString("base64url");
