import { type EntityManager, raw } from "@mikro-orm/postgresql";
import { config } from "../../config";
import { Passkey, type User } from "../../database/entities";
import { configuredIssuer, isLinked } from "../provider/provider-identities";

/** How many passkeys can sign in to the account: none while they are off. */
export async function countPasskeys(em: EntityManager, userId: string): Promise<number> {
  return config().relyingPartyId === null ? 0 : em.count(Passkey, { user: userId });
}

/**
 * Called when somebody proves the mailbox without a session of the account: an earlier user may have added passkeys.
 * They stay, and the account page asks about them. @returns how many can sign in
 */
export async function questionPasskeys(em: EntityManager, userId: string): Promise<number> {
  await em.nativeUpdate(Passkey, { user: userId }, { questionedAt: new Date() });
  return countPasskeys(em, userId);
}

/** The ways to sign in to the account. */
export async function waysIn(em: EntityManager, user: User) {
  const issuer = configuredIssuer();
  return {
    password: config().passwords.on && Boolean(user.passwordHash),
    provider: issuer !== null && isLinked(user, issuer),
    passkeys: await countPasskeys(em, user.id),
  };
}

/** MikroORM's condition for accounts that are not suspended and have no way to sign in. */
export function noWayIn() {
  const { passwords, relyingPartyId } = config();
  const some = (
    users: string,
  ) => `coalesce(? and password_hash is not null or coalesce(idp_issuer, ?) = ? and idp_id is not null
    or ? and exists (select from passkeys where user_id = ${users}.id), false)`;
  const values = [passwords.on, configuredIssuer(), configuredIssuer(), relyingPartyId !== null];
  return { suspendedAt: null, [raw((users) => `not ${some(users)}`, values)]: [] };
}
