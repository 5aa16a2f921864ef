import { type EntityManager, LockMode } from "@mikro-orm/postgresql";
import { config } from "../../config";
import { User } from "../../database/entities";
import type { Profile } from "../../provider/providers";

/** A provider's id of a person, and whose id it is: two providers may use the same numbers. */
export interface Identity {
  id: string;
  issuer: string;
}

/** The issuer of the configured provider; `null` when external sign-in is off. */
export function configuredIssuer(): string | null {
  const { identityProvider } = config();
  return identityProvider && (identityProvider.issuer ?? identityProvider.provider);
}

export function identityOf(profile: Profile): Identity {
  const issuer = configuredIssuer();
  if (issuer === null) throw new Error("External sign-in is off.");
  return { id: profile.id, issuer };
}

/** Whether the user has an id of this issuer. An id without an issuer was stored before issuers were. */
export function isLinked(user: Pick<User, "idpId" | "idpIssuer">, issuer: string): boolean {
  return user.idpId !== null && (user.idpIssuer ?? issuer) === issuer;
}

/** Gives ids that were stored before issuers were the configured one, so that they keep it after a change of provider. */
export async function fillMissingIssuers(em: EntityManager): Promise<void> {
  const idpIssuer = configuredIssuer();
  if (idpIssuer === null) return;
  await em.nativeUpdate(User, { idpId: { $ne: null }, idpIssuer: null }, { idpIssuer });
}

const hasIdentity = ({ id, issuer }: Identity) => ({ idpId: id, $or: [{ idpIssuer: issuer }, { idpIssuer: null }] });

/** The user with this identity, whose row stays as it is until the caller's transaction ends. */
export const lockUserOf = (em: EntityManager, identity: Identity): Promise<User | null> =>
  em.findOne(User, hasIdentity(identity), {
    orderBy: { idpIssuer: "asc nulls last" },
    lockMode: LockMode.PESSIMISTIC_WRITE,
  });

/** Whether somebody has this identity. Without a lock: two owners who connect each other's would deadlock. */
export const isTaken = async (em: EntityManager, identity: Identity): Promise<boolean> =>
  (await em.count(User, hasIdentity(identity))) > 0;

export function link(user: User, { id, issuer }: Identity, { name, pictureUrl }: Profile): void {
  user.idpId = id;
  user.idpIssuer = issuer;
  user.idpBlockedAt = null;
  user.name ??= name;
  user.pictureUrl ??= pictureUrl;
}
