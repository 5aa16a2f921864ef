import { type EntityManager, LockMode } from "@mikro-orm/postgresql";
import { config } from "../../config";
import { sha256 } from "../../crypto/tokens";
import { User } from "../../database/entities";
import { lockTexts } from "../../database/unit-of-work";
import type { Profile } from "../../provider/providers";
import { groupsOfClaim } from "../groups/names";

/** A provider's id of a person, with the issuer: two providers may use the same ids. */
export interface Identity {
  id: string;
  issuer: string;
}

/** How long a logout at the provider is remembered, in ms: longer than its token is valid, or a callback takes. */
export const logoutMemory = 610_000;

export function identityOf(profile: Profile): Identity {
  const issuer = configuredIssuer();
  if (issuer === null) throw new Error("External sign-in is off.");
  return { id: profile.id, issuer };
}

/** Whether the user has an id of the issuer, by default the configured one. For a missing issuer, see `ofIssuer`. */
export function isLinked(user: Pick<User, "idpId" | "idpIssuer">, issuer = configuredIssuer()): boolean {
  return issuer !== null && user.idpId !== null && (user.idpIssuer ?? issuer) === issuer;
}

/** MikroORM's condition for accounts with an id of the issuer. */
export const linkedTo = (issuer: string | null) => ({ idpId: { $ne: null }, ...ofIssuer(issuer) });

/** MikroORM's condition for accounts without an id of the configured issuer. */
export function notLinked() {
  const issuer = configuredIssuer();
  return issuer === null ? {} : { $or: [{ idpId: null }, { idpIssuer: { $ne: issuer } }] };
}

/** Stores the configured issuer for ids without an issuer, so that they keep it after a change of provider. */
export async function fillMissingIssuers(em: EntityManager): Promise<void> {
  const idpIssuer = configuredIssuer();
  if (idpIssuer === null) return;
  await em.nativeUpdate(User, { idpId: { $ne: null }, idpIssuer: null }, { idpIssuer });
}

/** The issuer of the configured provider; `null` when external sign-in is off. */
export function configuredIssuer(): string | null {
  const { identityProvider } = config();
  return identityProvider && (identityProvider.issuer ?? identityProvider.provider);
}

/** The user with this identity. Its row is locked until the caller's transaction ends. */
export const lockUserOf = (em: EntityManager, identity: Identity): Promise<User | null> =>
  em.findOne(User, hasIdentity(identity), {
    orderBy: { idpIssuer: "asc nulls last" },
    lockMode: LockMode.PESSIMISTIC_WRITE,
  });

/**
 * Locks an identity, which may have no account, and addresses, as `lockAddresses` does. A logout at the provider locks
 * the identity, too.
 */
export const lockIdentity = (em: EntityManager, identity: Identity, ...emails: string[]) =>
  lockTexts(em, [logoutKey(identity), ...emails]);

/** The key of the logout of somebody who may have no account. */
export const logoutKey = ({ id, issuer }: Identity): string => sha256(`sub ${issuer} ${id}`);

/** Whether somebody has this identity. Takes no lock: two owners who connect each other's identities would deadlock. */
export const isTaken = async (em: EntityManager, identity: Identity): Promise<boolean> =>
  (await em.count(User, hasIdentity(identity))) > 0;

const hasIdentity = ({ id, issuer }: Identity) => ({ idpId: id, ...ofIssuer(issuer) });

/** An id without an issuer, of an old release, counts for every issuer. */
const ofIssuer = (issuer: string | null) => ({ $or: [{ idpIssuer: issuer }, { idpIssuer: null }] });

/** The same condition in SQL. @param issuer a column or a placeholder */
export const ofIssuerSql = (issuer: string) => `coalesce(idp_issuer, ${issuer}) = ${issuer}`;

export function link(user: User, { id, issuer }: Identity, { name, pictureUrl, groups }: Profile): void {
  user.idpId = id;
  user.idpIssuer = issuer;
  user.idpBlockedAt = null;
  user.idpQuestionedAt = null;
  user.idpGroups = groupsOfClaim(groups);
  user.name ??= name;
  user.pictureUrl ??= pictureUrl;
}
