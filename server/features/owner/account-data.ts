import { groupsOf } from "../../accounts/groups/membership";
import { Device, EmailChange, User } from "../../database/entities";
import { query } from "../../database/unit-of-work";
import { browserName } from "../../visitor/browsers";
import { plainToken, tokensOf } from "./access-tokens";
import { eventsOf, plainEvent } from "./activity";
import { activeSessions } from "./own-sessions";
import { passkeysOf } from "./passkeys";
import type { Owner } from "./signed-in";

/**
 * A person's data (GDPR, articles 15 and 20): the account, its ways to sign in, its sessions, its access tokens, its
 * known browsers, its unconfirmed addresses and its history, without hashes, keys and tokens. `null` if the account was
 * deleted meanwhile.
 */
export async function accountData({ user: { id: userId }, sessionId }: Owner) {
  const user = await query((em) => em.findOne(User, { id: userId }));
  if (!user) return null;
  const passkeys = await passkeysOf(userId);
  const sessions = await activeSessions(userId);
  const [devices, changes] = await query(async (em) => [
    await em.find(Device, { user: userId }),
    await em.find(EmailChange, { user: userId }),
  ]);
  return {
    account: shownColumns(user),
    waysIn: {
      password: user.passwordHash !== null,
      provider: user.idpId === null ? null : { issuer: user.idpIssuer, id: user.idpId, groups: user.idpGroups },
      providerBlockedAt: user.idpBlockedAt,
      passkeys: passkeys.map(({ credentialId, user, publicKey, counter, ...shown }) => shown),
    },
    sessions: sessions.map(({ id, userAgent, createdAt, lastSeenAt, expiresAt, isBound: bound }) => ({
      browser: browserName(userAgent, "en"),
      userAgent,
      createdAt,
      lastSeenAt,
      expiresAt,
      bound,
      current: id === sessionId,
    })),
    tokens: (await tokensOf(userId)).map(plainToken),
    knownBrowsers: devices.map(({ createdAt, lastSeenAt }) => ({ createdAt, lastSeenAt })),
    unconfirmedAddresses: changes.map(({ email, expiresAt }) => ({ email, expiresAt })),
    events: (await eventsOf(userId)).map(plainEvent),
  };
}

/** What is shown of a user as it is stored. The rest is shown in other words, or, as a hash, to nobody. */
export function shownColumns(user: User) {
  const { passwordHash, idpId, idpIssuer, idpBlockedAt, idpQuestionedAt, idpLogoutAt, idpGroups, ...shown } = user;
  return { ...shown, groups: groupsOf(user) };
}
