import type { EntityManager } from "@mikro-orm/postgresql";
import { groupsOf } from "../../accounts/groups/membership";
import { groupsOfClaim } from "../../accounts/groups/names";
import { identityOf, isLinked, link, lockIdentity, lockUserOf } from "../../accounts/provider/provider-identities";
import { type NewSession, startSession } from "../../accounts/sessions/sessions";
import { tell, tellGroups } from "../../accounts/users/changes";
import { parseAsciiAddress } from "../../accounts/users/email-address";
import { record } from "../../accounts/users/history";
import { findInvitation } from "../../accounts/users/invitations";
import { createUser, lockUser, mayRegister, nullIfTaken } from "../../accounts/users/users";
import { distrustEarlierUser } from "../../accounts/users/ways-in";
import { config } from "../../config";
import type { User } from "../../database/entities";
import { unitOfWork } from "../../database/unit-of-work";
import { CallError, DatabaseUnavailable, ExternalSignInError } from "../../errors";
import {
  type ExternalSignInFailure,
  isAuthorizationError,
  problemOf,
  type SignInProblem,
} from "../../events/sign-in-failures";
import { logEvent, logUnexpected } from "../../log";
import { type Asks, type Attempt, authorizationUrl, isWrongCode } from "../../provider/client";
import type { Profile } from "../../provider/providers";
import type { Visitor } from "../../visitor/visitor";

/** Starts an attempt. @returns the URL of the consent screen @throws CallError when discovery fails */
export async function startExternalSignIn(attempt: Attempt, asks: Asks | null = null): Promise<string> {
  const consentUrl = await authorizationUrl(attempt, asks);
  logEvent({ event: "idp.started" });
  return consentUrl;
}

/**
 * Finds, links or creates the profile's account and starts its session, in one transaction. The search by address has a
 * transaction of its own: PostgreSQL keeps the lock of a row that it waited for, even if the row has lost its id or
 * address meanwhile. Waiting for the address with that lock would deadlock with a deletion. @throws ExternalSignInError
 */
export async function signInToAccount(visitor: Visitor, profile: Profile): Promise<NewSession> {
  const identity = identityOf(profile);
  const signIn = { visitor, way: "provider", identity } as const;
  const returning = () =>
    unitOfWork(async (em) => {
      const userId = await returningUserId(em, profile);
      return userId === null ? null : startSession(em, userId, signIn);
    });
  const byAddress = () =>
    unitOfWork(async (em) => {
      const { userId, ...first } = await accountByAddress(em, visitor, profile);
      return startSession(em, userId, { ...signIn, ...first });
    });
  const attempt = async () => (await returning()) ?? byAddress();
  const withRetry = async () => (await attempt().catch(nullIfTaken)) ?? attempt(); // another sign-in created the user
  const session = await withRetry().catch(async (error: unknown) => {
    if (error instanceof ExternalSignInError) await recordRefusal(visitor, profile, error.reason);
    throw error;
  });
  logEvent({ event: "idp.succeeded", userId: session.userId });
  return session;
}

async function returningUserId(em: EntityManager, profile: Profile): Promise<string | null> {
  const identity = identityOf(profile);
  const user = await lockUserOf(em, identity);
  if (!user) return null;
  if (user.suspendedAt) throw new ExternalSignInError("suspended");
  const groups = groupsOf(user);
  user.idpIssuer = identity.issuer;
  user.pictureUrl = profile.pictureUrl ?? user.pictureUrl;
  user.idpGroups = groupsOfClaim(profile.groups);
  await tellGroups(em, user, groups, { actor: "provider" });
  return user.id;
}

interface FoundAccount {
  userId: string;
  isFirst?: true;
}

async function accountByAddress(em: EntityManager, visitor: Visitor, profile: Profile): Promise<FoundAccount> {
  const identity = identityOf(profile);
  if (!profile.email?.trim()) throw new ExternalSignInError("no_email");
  if (!isAddressTrusted(profile)) throw new ExternalSignInError("no_verified_email");
  const email = parseAsciiAddress(profile.email);
  if (email === null) throw new ExternalSignInError("unusable_email");
  await lockIdentity(em, identity, email);
  const existing = await lockUser(em, { email });
  if (!existing) {
    const invitation = await findInvitation(em, email);
    if (!invitation && !mayRegister(email)) throw new ExternalSignInError("registration_closed");
    const { pictureUrl } = profile;
    const name = invitation?.name ?? profile.name;
    const idpGroups = groupsOfClaim(profile.groups);
    const user = { email, idpId: identity.id, idpIssuer: identity.issuer, idpGroups, name, pictureUrl };
    return { userId: await createUser(em, user, invitation), isFirst: true };
  }
  if (existing.suspendedAt) throw new ExternalSignInError("suspended");
  const linkedMeanwhile = existing.idpId === identity.id && isLinked(existing);
  if (!linkedMeanwhile) await linkByAddress(em, existing, visitor, profile); // otherwise a simultaneous sign-in linked it, with the groups
  return { userId: existing.id };
}

/** Links the provider's id to the existing account of a verified address. It keeps its password, name and picture. */
async function linkByAddress(em: EntityManager, user: User, visitor: Visitor, profile: Profile): Promise<void> {
  const identity = identityOf(profile);
  if (user.idpBlockedAt) throw new ExternalSignInError("disconnected");
  if (isLinked(user)) throw new ExternalSignInError("linked_to_another_id");
  const groups = groupsOf(user);
  link(user, identity, profile);
  await distrustEarlierUser(em, user, true); // the person who made the account may not own the address
  await tell(em, "idp.linked", user, { by: { userAgent: visitor.userAgent } });
  await tellGroups(em, user, groups, { actor: "provider" });
}

/** Tells the owner of a refusal, after its rollback: the account with the id, or else with the verified address. */
async function recordRefusal({ userAgent }: Visitor, profile: Profile, detail: ExternalSignInFailure): Promise<void> {
  await unitOfWork(async (em) => {
    const email = isAddressTrusted(profile) ? parseAsciiAddress(profile.email ?? "") : null;
    const user = (await lockUserOf(em, identityOf(profile))) ?? (email === null ? null : await lockUser(em, { email }));
    if (user) await record(em, [user.id], { userAgent }, { type: "idp.failed", way: "provider", detail });
  });
}

/** Whether the provider states that the address is verified, or is always trusted. */
const isAddressTrusted = ({ emailVerified }: Profile): boolean =>
  emailVerified || config().identityProvider?.trustEmail === true;

/** The `error` of an authorization response, as it is logged: an attacker may have chosen its text. */
export const refusalReason = (error: string | null): ExternalSignInFailure =>
  `authorization: ${error !== null && isAuthorizationError(error) ? error : "other"}`;

/** Logs the failure. @returns what the person can be told; `null` if nothing helps */
export function logExternalSignInFailure(error: unknown): SignInProblem | null {
  const reason = reasonOf(error);
  logEvent({ event: "idp.failed", reason });
  if (error instanceof CallError && isWrongCode(error.code)) return "stale";
  return problemOf(reason);
}

function reasonOf(error: unknown): ExternalSignInFailure {
  if (error instanceof ExternalSignInError) return error.reason;
  if (error instanceof CallError && error.step) return `${error.step}: ${error.reason}`;
  if (error instanceof DatabaseUnavailable) return "database";
  logUnexpected(error);
  return "unexpected";
}
