import { groupsOf } from "../../accounts/provider/provider-identities";
import { browserName } from "../../browsers";
import { User } from "../../database/entities";
import { query } from "../../database/unit-of-work";
import { eventsOf, plainEvent } from "./activity";
import { activeSessions } from "./own-sessions";
import { passkeysOf } from "./passkeys";
import type { Owner } from "./signed-in";

/** All that is stored of a person (GDPR, articles 15 and 20), without hashes, keys and tokens. `null`: deleted meanwhile. */
export async function accountData({ userId, sessionId }: Owner) {
  const user = await query((em) => em.findOne(User, { id: userId }));
  if (!user) return null;
  const { id, email, name, pictureUrl, language, createdAt, undeliverableAt } = user;
  const passkeys = await passkeysOf(userId);
  const sessions = await activeSessions(userId);
  return {
    account: { id, email, name, pictureUrl, groups: groupsOf(user), language, createdAt, undeliverableAt },
    waysIn: {
      password: user.passwordHash !== null,
      provider: user.idpId === null ? null : { issuer: user.idpIssuer, id: user.idpId },
      passkeys: passkeys.map(({ name, createdAt, lastUsedAt }) => ({ name, createdAt, lastUsedAt })),
    },
    sessions: sessions.map(({ id, userAgent, createdAt, lastSeenAt }) => ({
      browser: browserName(userAgent, "en"),
      userAgent,
      createdAt,
      lastSeenAt,
      current: id === sessionId,
    })),
    events: (await eventsOf(userId)).map(plainEvent),
  };
}
