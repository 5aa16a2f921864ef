import { endEmailChanges, endEveryLink, lockAddresses } from "../../accounts/links/mailed-links";
import { groupsOf, providerGroupsOf } from "../../accounts/provider/provider-identities";
import { endAllAccess } from "../../accounts/sessions/sessions";
import { tell, tellGroups } from "../../accounts/users/changes";
import { mostGroups, sortedGroups } from "../../accounts/users/groups";
import { record } from "../../accounts/users/history";
import { lockUser } from "../../accounts/users/users";
import { PasswordReset, User } from "../../database/entities";
import { afterCommit, unitOfWork } from "../../database/unit-of-work";
import { logEvent } from "../../log";

/**
 * Ends the user's sessions, links and email changes, and lets nobody sign in to the account, in one transaction. Every
 * way to sign in locks the user's row and reads `suspendedAt` there, so that no session starts later. @returns how many
 * sessions ended; otherwise nothing changed
 */
export async function suspendUser(userId: string): Promise<number | "suspended_already" | "no_account"> {
  const sessions = await unitOfWork(async (em) => {
    const { email } = (await em.findOne(User, { id: userId }, { disableIdentityMap: true })) ?? {};
    if (email === undefined) return "no_account";
    await lockAddresses(em, email);
    const user = await lockUser(em, { id: userId });
    if (user?.email !== email) return "changed_meanwhile";
    if (user.suspendedAt) return "suspended_already";
    user.suspendedAt = new Date();
    await endEveryLink(em, userId, email);
    const ended = await endAllAccess(em, userId, "account_suspended");
    await tell(em, "suspended", user);
    return ended;
  });
  return sessions === "changed_meanwhile" ? suspendUser(userId) : sessions; // it has another address now, or is gone
}

/** Lets the owner sign in again. Nothing that ended comes back. @returns whether the account was suspended */
export async function restoreUser(userId: string): Promise<boolean> {
  return unitOfWork(async (em) => {
    const user = await lockUser(em, { id: userId });
    if (!user?.suspendedAt) return false;
    user.suspendedAt = null;
    await em.nativeDelete(PasswordReset, { email: user.email }); // one may have been mailed before the commit
    await tell(em, "restored", user);
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
    if (groups.length > mostGroups) return "too_many";
    user.groups = groups;
    await tellGroups(em, user, before);
    return groupsOf(user);
  });
}

/**
 * Ends the sessions of every account, and every unconfirmed change of an address. Locks the users, the changes and the
 * sessions in the order of every other unit of work. @returns how many sessions
 */
export const endEverySession = (): Promise<number> =>
  unitOfWork(async (em) => {
    await em.execute("select from users where id in (select user_id from sessions) order by id for key share");
    await endEmailChanges(em, {});
    const sessions = `
      delete from sessions where id in (select id from sessions order by id for update) returning user_id as "userId"`;
    const ended = await em.execute<{ userId: string }[]>(sessions);
    const count = ended.length;
    const users = [...new Set(ended.map(({ userId }) => userId))];
    await record(em, users, {}, { type: "session.ended", detail: "ended_by_operator" });
    if (count > 0) afterCommit(em, () => logEvent({ event: "session.ended", reason: "ended_by_operator", count }));
    return count;
  });
