import { endEmailChanges, lockAddresses } from "../../accounts/links/mailed-links";
import { endAllSessions, logSessionEnd } from "../../accounts/sessions/sessions";
import { announce } from "../../accounts/users/announce";
import { lockUser } from "../../accounts/users/users";
import { PasswordReset, Registration, User } from "../../database/entities";
import { unitOfWork } from "../../database/unit-of-work";
import { logEvent } from "../../log";

/**
 * Ends the user's sessions, links and email changes, and lets nobody sign in to the account, in one transaction. Every way in
 * locks the user's row and reads `suspendedAt` there, so that no session starts after it. @returns how many sessions ended;
 * otherwise nothing changed
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
    await em.nativeDelete(Registration, { email });
    await em.nativeDelete(PasswordReset, { email });
    await endEmailChanges(em, { $or: [{ user: userId }, { email }] });
    await announce(em, "user.suspended", user);
    return endAllSessions(em, userId);
  });
  if (sessions === "changed_meanwhile") return suspendUser(userId); // another address, or none: the account is gone
  if (typeof sessions === "string") return sessions;
  logSessionEnd(userId, "account_suspended", sessions);
  logEvent({ event: "user.suspended", userId });
  return sessions;
}

/** Lets the owner sign in again. Nothing that ended comes back. @returns whether the account was suspended */
export async function restoreUser(userId: string): Promise<boolean> {
  const restored = await unitOfWork(async (em) => {
    const user = await lockUser(em, { id: userId });
    if (!user?.suspendedAt) return false;
    user.suspendedAt = null;
    await em.nativeDelete(PasswordReset, { email: user.email }); // one that was mailed while the suspension was committed
    await announce(em, "user.restored", user);
    return true;
  });
  if (restored) logEvent({ event: "user.restored", userId });
  return restored;
}
