import { parseAddress } from "../accounts/email-address";
import { endAllSessions } from "../accounts/sessions";
import { lockUser } from "../accounts/users";
import { PasswordReset, Registration, User } from "../database/entities";
import { query, unitOfWork } from "../database/unit-of-work";
import { logEvent } from "../log";

/** @returns false, and nothing changed, when the provider is the account's only way to sign in */
export async function unlinkProvider(userId: string): Promise<boolean> {
  const unlinked = await query((em) =>
    em.nativeUpdate(User, { id: userId, passwordHash: { $ne: null } }, { idpId: null }),
  );
  if (unlinked > 0) logEvent({ event: "idp.unlinked", userId });
  return unlinked > 0;
}

/**
 * Removes the user, the sessions, and every mailed link of the address.
 *
 * @param typedEmail the confirmation
 * @returns false, and nothing changed, when the confirmation is not the account's address
 */
export async function deleteAccount(user: { id: string; email: string }, typedEmail: string): Promise<boolean> {
  const { id, email } = user;
  if (parseAddress(typedEmail) !== email) return false;
  const ended = await unitOfWork(async (em) => {
    // The lock order of the other flows, against deadlocks: a registration's links first, then the user.
    await em.nativeDelete(Registration, { email });
    await lockUser(em, { id });
    await em.nativeDelete(PasswordReset, { email });
    const sessions = await endAllSessions(em, id);
    await em.nativeDelete(User, { id });
    return sessions;
  });
  logEvent({ event: "session.ended", userId: id, reason: "account_deleted", count: ended });
  logEvent({ event: "account.deleted", userId: id });
  return true;
}
