import { countTokens } from "../../accounts/access-tokens/access-tokens";
import { countLogin } from "../../accounts/limits/rate-limits";
import { hashPassword } from "../../accounts/passwords/password-hashing";
import { endOtherAccess, lockOwner } from "../../accounts/sessions/sessions";
import { tell } from "../../accounts/users/changes";
import { questionsFor, waysIn } from "../../accounts/users/ways-in";
import { PasswordReset, Session } from "../../database/entities";
import { unitOfWork } from "../../database/unit-of-work";
import { type Authenticated, authenticate } from "../visitor/login";
import type { Owner } from "./signed-in";

/**
 * A wrong password counts as a failed login: the thief of a session gets no more guesses. @returns the verified
 * password; `null` for a wrong one; `wait` seconds after too many @throws HashingOverloaded
 */
export function verifyCurrentPassword(owner: Owner, password: string) {
  const { email } = owner.user;
  return countLogin(owner, email, async () => {
    const verified = await authenticate(owner, { email, password });
    return verified?.id === owner.user.id ? verified : null;
  });
}

/**
 * Stores a new password in place of the verified one, removes every reset link of the address and every email change
 * of the user, and ends every other session, in one transaction. Devices stay: a known browser cannot be locked out.
 * `changed_meanwhile`: somebody changed the password since it was verified. @throws HashingOverloaded
 */
export async function changePassword(owner: Owner, verified: Authenticated, newPassword: string) {
  const passwordHash = await hashPassword(owner, newPassword);
  return unitOfWork(async (em) => {
    const user = await lockOwner(em, owner);
    if (!user) return "session_ended";
    if (user.passwordHash !== verified.passwordHash) return "changed_meanwhile";
    user.passwordHash = passwordHash;
    await em.nativeDelete(PasswordReset, { email: user.email });
    await tell(em, "password.changed", user, { by: owner });
    const ended = await endOtherAccess(em, owner, "password_changed");
    return { ...ended, tokens: await countTokens(em, user.id) };
  });
}

/**
 * Removes the password where a passkey or the provider is left, and ends the same as `changePassword`. `in_question`:
 * the ways that are left may be another person's, or the session may be.
 */
export const removePassword = (owner: Owner) =>
  unitOfWork(async (em) => {
    const user = await lockOwner(em, owner);
    const session = await em.findOne(Session, { id: owner.sessionId });
    if (!user || !session) return "session_ended";
    if (!user.passwordHash) return "no_password";
    const { provider, passkeys } = await waysIn(em, user);
    if (!provider && passkeys === 0) return "only_way_in";
    const { passkeys: questioned, inherited } = await questionsFor(em, user, session);
    const isLeft = passkeys > questioned.length || (provider && user.idpQuestionedAt === null);
    if (!isLeft || inherited) return "in_question";
    user.passwordHash = null;
    await em.nativeDelete(PasswordReset, { email: user.email });
    await tell(em, "password.removed", user, { by: owner });
    const ended = await endOtherAccess(em, owner, "password_removed");
    return { ...ended, tokens: await countTokens(em, user.id) };
  });
