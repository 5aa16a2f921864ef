import { type EntityManager, raw } from "@mikro-orm/postgresql";
import { config } from "../../config";
import { Passkey, type Session, type User } from "../../database/entities";
import { preparedWithin } from "../../database/prepared";
import { isUsable, usable, usableSql } from "../passkeys/relying-party";
import { configuredIssuer, isLinked, ofIssuerSql } from "../provider/provider-identities";

const distrust = `
  with forgotten as (delete from devices where user_id = ?), ended as (delete from access_tokens where user_id = ?)
  update passkeys set questioned_at = ? where user_id = ?`;

/**
 * Called when somebody proves the mailbox without a session of the account: devices, access tokens, passkeys and the
 * provider's link may be an earlier user's. The first two go. The account page asks about the others.
 * @param isNewLink whether the provider's link is the proof
 */
export async function distrustEarlierUser(em: EntityManager, user: User, isNewLink = false): Promise<void> {
  const questionedAt = new Date();
  await preparedWithin(em, "distrust-earlier-user", distrust, [user.id, user.id, questionedAt, user.id]);
  // Without passwords, a sign-in at the provider is what answers.
  if (user.idpId !== null && !isNewLink && config().passwords.on) user.idpQuestionedAt = questionedAt;
}

/**
 * What is in question in the account of a session.
 * @returns `passkeys`: the usable ones in question. `ofWay`: since when the way that began the session is in question.
 * `inherited`: the `questionedAt` of a way in that this session adds, because it began by a way in question or before a
 * question. The last two are `null` where nothing is in question
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
  return { passkeys: passkeys.filter(isUsable), ofWay, inherited: ofWay ?? (isOlder ? newest : null) };
}

/** The ways to sign in to the account. */
export async function waysIn(em: EntityManager, user: User) {
  return {
    password: config().passwords.on && Boolean(user.passwordHash),
    provider: isLinked(user),
    passkeys: await em.count(Passkey, { user: user.id, ...usable() }),
  };
}

/** MikroORM's condition for accounts with a passkey of any RP ID. */
export const hasPasskey = () => ({
  [raw((users) => `exists (select from passkeys where user_id = ${users}.id)`)]: [],
});

/** MikroORM's condition for accounts that are not suspended and have no way to sign in. */
export function noWayIn() {
  const issuer = configuredIssuer();
  const values = [config().passwords.on, issuer, issuer, ...usableSql.values()];
  const none = (users: string) => `not coalesce(? and password_hash is not null
    or ${ofIssuerSql("?")} and idp_id is not null
    or exists (select from passkeys where user_id = ${users}.id and ${usableSql.text}), false)`;
  return { suspendedAt: null, [raw(none, values)]: [] };
}
