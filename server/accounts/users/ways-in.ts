import { type EntityManager, raw } from "@mikro-orm/postgresql";
import { config } from "../../config";
import { Passkey, type Session, type User } from "../../database/entities";
import { preparedWithin } from "../../database/unit-of-work";
import { configuredIssuer, isLinked } from "../provider/provider-identities";

// One statement instead of two spares a reset a round trip.
const distrust = `
  with forgotten as (delete from devices where user_id = ?)
  update passkeys set questioned_at = ? where user_id = ?`;

/**
 * Called when somebody proves the mailbox without a session of the account: the devices, the passkeys and the provider's
 * link may be those of an earlier user. Devices are forgotten. The others stay, and the account page asks about them.
 * @param isNewLink whether the provider's link is the proof
 */
export async function distrustEarlierUser(em: EntityManager, user: User, isNewLink = false): Promise<void> {
  const questionedAt = new Date();
  await preparedWithin(em, "distrust-earlier-user", distrust, [user.id, questionedAt, user.id]);
  // Without passwords, a sign-in at the provider is what answers.
  if (user.idpId !== null && !isNewLink && config().passwords.on) user.idpQuestionedAt = questionedAt;
}

/**
 * What is in question of the account, for a session of it. `ofWay`: since when the way by which the session began is.
 * `inherited`: since when what the session adds must be, because the session is in question or older than a question.
 * Both are `null` for a session that is not.
 */
export async function questionsFor(em: EntityManager, user: User, session: Session) {
  const passkeys = await em.find(Passkey, { user: user.id, questionedAt: { $ne: null } });
  const provider = user.idpQuestionedAt ?? null;
  const times = [provider, ...passkeys.map(({ questionedAt }) => questionedAt)].map((at) => at?.getTime() ?? 0);
  const newest = Math.max(...times) > 0 ? new Date(Math.max(...times)) : null;
  const ofWay = {
    password: null,
    provider,
    passkey: passkeys.find(({ credentialId }) => credentialId === session.credentialId)?.questionedAt ?? null,
    unknown: newest,
  }[session.way ?? "unknown"];
  const isOlder = newest !== null && session.createdAt <= newest;
  return { passkeys, ofWay, inherited: ofWay ?? (isOlder ? newest : null) };
}

/** The ways to sign in to the account. */
export async function waysIn(em: EntityManager, user: User) {
  const { passwords, relyingPartyId } = config();
  return {
    password: passwords.on && Boolean(user.passwordHash),
    provider: isLinked(user),
    passkeys: relyingPartyId === null ? 0 : await em.count(Passkey, { user: user.id }),
  };
}

/** MikroORM's condition for accounts that are not suspended and have no way to sign in. */
export function noWayIn() {
  const { passwords, relyingPartyId } = config();
  const issuer = configuredIssuer();
  const values = [passwords.on, issuer, issuer, relyingPartyId !== null];
  const none = (users: string) => `not coalesce(? and password_hash is not null
    or coalesce(idp_issuer, ?) = ? and idp_id is not null
    or ? and exists (select from passkeys where user_id = ${users}.id), false)`;
  return { suspendedAt: null, [raw(none, values)]: [] };
}
