import type { EntityManager } from "@mikro-orm/postgresql";
import { endTokens } from "../../accounts/access-tokens/access-tokens";
import { groupsOf, providerGroupsOf } from "../../accounts/groups/membership";
import { maxGroups, sortedGroups } from "../../accounts/groups/names";
import { endEmailChanges, endEveryLink, lockAddresses } from "../../accounts/links/mailed-links";
import { announceEnds, type EndedSession } from "../../accounts/sessions/announced-ends";
import { endAllAccess, endEverySql, livenessAt } from "../../accounts/sessions/sessions";
import { tell, tellGroups } from "../../accounts/users/changes";
import { record } from "../../accounts/users/history";
import { removeInvitation } from "../../accounts/users/invitations";
import { replaceEmail } from "../../accounts/users/new-address";
import { lockUser, nullIfTaken } from "../../accounts/users/users";
import { AccessToken, PasswordReset, User } from "../../database/entities";
import { afterCommit, unitOfWork } from "../../database/unit-of-work";
import { logEvent } from "../../log";

/**
 * Ends the user's sessions, tokens, links and email changes, and lets nobody sign in to the account, in one
 * transaction. Every way to sign in locks the user's row and reads `suspendedAt` there, so that no session starts
 * later. @returns how many sessions ended; otherwise nothing changed
 */
export const suspendUser = (userId: string): Promise<number | "suspended_already" | "no_account"> =>
  withAddressesLocked(userId, [], async (em, user) => {
    if (user.suspendedAt) return "suspended_already";
    user.suspendedAt = new Date();
    await endEveryLink(em, userId, user.email);
    await endTokens(em, userId);
    const ended = await endAllAccess(em, userId, "account_suspended");
    await tell(em, "user.suspended", user);
    return ended;
  });

/**
 * Gives the account another address, at its owner's request, and ends what `replaceEmail` ends without a session.
 * @returns how many sessions ended, and whether an invitation of the address was removed; otherwise nothing changed
 */
export async function setEmail(userId: string, newEmail: string) {
  const outcome = await withAddressesLocked(userId, [newEmail], async (em, user) => {
    if (user.email === newEmail) return "own_address";
    if (user.suspendedAt) return "suspended";
    if ((await em.count(User, { email: newEmail })) > 0) return "taken";
    const { count } = await replaceEmail(em, user, newEmail, {});
    return { count, uninvited: await removeInvitation(em, newEmail) };
  }).catch(nullIfTaken);
  return outcome ?? "taken";
}

/** In the order of every registration: the user's address and `others`, then the user. */
async function withAddressesLocked<Outcome>(
  userId: string,
  others: string[],
  work: (em: EntityManager, user: User) => Promise<Outcome>,
): Promise<Outcome | "no_account"> {
  const outcome = await unitOfWork(async (em) => {
    const { email } = (await em.findOne(User, { id: userId }, { disableIdentityMap: true })) ?? {};
    if (email === undefined) return "no_account";
    await lockAddresses(em, email, ...others);
    const user = await lockUser(em, { id: userId });
    return user?.email === email ? work(em, user) : null; // it has another address now, or is gone
  });
  return outcome ?? withAddressesLocked(userId, others, work);
}

/** Lets the owner sign in again. Nothing that ended comes back. @returns whether the account was suspended */
export async function restoreUser(userId: string): Promise<boolean> {
  return unitOfWork(async (em) => {
    const user = await lockUser(em, { id: userId });
    if (!user?.suspendedAt) return false;
    user.suspendedAt = null;
    await em.nativeDelete(PasswordReset, { email: user.email }); // one may have been mailed before the commit
    await tell(em, "user.restored", user);
    return true;
  });
}

/**
 * Changes the groups that the operator gives. @returns all groups of the user now; `null` without a user; else why
 * nothing changed
 */
export async function changeGroups(
  userId: string,
  { add, remove }: Record<"add" | "remove", string[]>,
): Promise<string[] | "too_many" | "of_provider" | null> {
  return unitOfWork(async (em) => {
    const user = await lockUser(em, { id: userId });
    if (!user) return null;
    const before = groupsOf(user);
    const ofProvider = providerGroupsOf(user).filter((name) => !user.groups.includes(name));
    if (remove.some((name) => ofProvider.includes(name))) return "of_provider";
    const groups = sortedGroups([...user.groups, ...add]).filter((name) => !remove.includes(name));
    if (groups.length > maxGroups) return "too_many";
    user.groups = groups;
    await tellGroups(em, user, before);
    return groupsOf(user);
  });
}

/**
 * Ends the sessions and access tokens of every account, and every unconfirmed change of an address. Locks the users,
 * the changes and the sessions in the order of every other unit of work. @returns how many sessions
 */
export const endEverySession = (): Promise<number> =>
  unitOfWork(async (em) => {
    const owners = "select user_id from sessions union select user_id from access_tokens";
    await em.execute(`select from users where id in (${owners}) order by id for key share`);
    await endEmailChanges(em, {});
    await em.nativeDelete(AccessToken, {});
    const ended = await em.execute<EndedSession[]>(endEverySql, livenessAt(new Date()));
    const count = ended.length;
    const users = [...new Set(ended.map(({ userId }) => userId))];
    await record(em, users, {}, { type: "session.ended", detail: "ended_by_operator" });
    announceEnds(em, "ended_by_operator", ended);
    if (count > 0) afterCommit(em, () => logEvent({ event: "session.ended", reason: "ended_by_operator", count }));
    return count;
  });
