import type { EntityManager } from "@mikro-orm/postgresql";
import { config } from "../../config";
import { mintToken, sha256 } from "../../crypto/tokens";
import { SessionBinding } from "../../database/entities";

export const registrationPath = "/auth/device/register";

const offerLifetime = 300_000; // ms

/** @returns the offer's challenge; `undefined` with DEVICE_BOUND_SESSIONS=off, and for a session with a key */
export async function offerBinding(em: EntityManager, session: string): Promise<string | undefined> {
  if (!config().deviceBoundSessions) return undefined;
  await em.nativeDelete(SessionBinding, { session, publicKey: null });
  if ((await em.count(SessionBinding, { session })) > 0) return undefined;
  const challenge = mintToken();
  const offeredUntil = new Date(Date.now() + offerLifetime);
  await em.insert(SessionBinding, { id: sha256(challenge), session, offeredUntil, challenges: [], cookies: [] });
  return challenge;
}

/** Device Bound Session Credentials, "Secure-Session-Registration HTTP header field". */
export const offerHeader = (challenge: string) =>
  ["Secure-Session-Registration", `(ES256 RS256);path="${registrationPath}";challenge="${challenge}"`] as const;
