import { groupsOf } from "../../accounts/provider/provider-identities";
import { browserName } from "../../browsers";
import { User } from "../../database/entities";
import { query } from "../../database/unit-of-work";
import { eventsOf, plainEvent } from "./activity";
import { activeSessions } from "./own-sessions";
import { passkeysOf } from "./passkeys";
import type { Owner } from "./signed-in";

/** What is shown of a user as it is stored. The rest is shown in other words, or, as a hash, to nobody. */
export function shownColumns(user: User) {
  const { passwordHash, idpId, idpIssuer, idpBlockedAt, idpQuestionedAt, idpLogoutAt, idpGroups, ...shown } = user;
  return { ...shown, groups: groupsOf(user) };
}

/**
 * A person's data (GDPR, articles 15 and 20): the account, its ways to sign in, its sessions and its history, without
 * hashes, keys and tokens. `null` if the account was deleted meanwhile.
 */
export async function accountData({ user: { id: userId }, sessionId }: Owner) {
  const user = await query((em) => em.findOne(User, { id: userId }));
  if (!user) return null;
  const passkeys = await passkeysOf(userId);
  const sessions = await activeSessions(userId);
  return {
    account: shownColumns(user),
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
