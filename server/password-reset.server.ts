import { LockMode } from "@mikro-orm/postgresql";
import { query, unitOfWork } from "./database.server";
import { PasswordReset, User } from "./entities";
import { logEvent } from "./log";
import { mail } from "./mail/mail";
import { passwordChangedMail, resetMail } from "./mail/messages";
import { hashPassword } from "./passwords";
import { clearAttempts, countAttempt, loginLimit, resetLimit } from "./rate-limits";
import { service } from "./service";
import { endAllSessions } from "./sessions";
import { consumeToken, issueToken, isTokenValid, type TokenClaim } from "./tokens";

/**
 * Asks for a reset link. The work is the same for every address, known or not: two counts and one job.
 *
 * @param client the address that asks, for its limit
 */
export async function requestPasswordReset(email: string, client: string): Promise<void> {
  if ((await countAttempt(resetLimit, email, client)) !== null) {
    return logEvent("password_reset.refused", { reason: "throttled" });
  }
  await query((em) => service().queue.enqueue(em, { task: "mail_password_reset", email }));
  logEvent("password_reset.requested");
}

/** The job behind a request: mails a new link to the stored address; to an address without an account, nothing. */
export async function mailPasswordReset(email: string): Promise<void> {
  const user = await query((em) => em.findOne(User, { email }));
  if (!user) return;
  const token = await query((em) => issueToken(em, PasswordReset, user.email));
  await mail(user.email, resetMail(service().config.appUrl, user.email, token));
  logEvent("password_reset.sent", { userId: user.id });
}

/** Whether the link may still be used. Reads only. */
export async function isResetLinkValid(claim: TokenClaim): Promise<boolean> {
  const valid = await query((em) => isTokenValid(em, PasswordReset, claim));
  if (!valid) logEvent("password_reset.refused", { reason: "invalid_link" });
  return valid;
}

/**
 * Uses the link up and stores the new password; removes every reset record of the address and ends every session of
 * the user in the same transaction.
 *
 * @returns false, and nothing changed, when the link was used, replaced or expired in the meantime
 */
export async function resetPassword({ email, token }: TokenClaim, newPassword: string): Promise<boolean> {
  const passwordHash = await hashPassword(newPassword);
  const done = await unitOfWork(async (em) => {
    // Locked before the sessions go: a login that holds the old hash would otherwise start one behind them.
    const user = await em.findOne(User, { email }, { lockMode: LockMode.PESSIMISTIC_WRITE });
    if (!user || !(await consumeToken(em, PasswordReset, { email, token }))) return null;
    user.passwordHash = passwordHash;
    const ended = await endAllSessions(em, user.id);
    await service().queue.enqueue(em, { task: "mail_password_changed", email });
    return { userId: user.id, ended };
  });
  if (!done) {
    logEvent("password_reset.refused", { reason: "invalid_link" });
    return false;
  }
  await clearAttempts(loginLimit, email);
  logEvent("password_reset.completed", { userId: done.userId });
  if (done.ended > 0) logEvent("session.ended", { userId: done.userId, reason: "password_reset", count: done.ended });
  return true;
}

/** The job after a reset: tells the owner, who may not have been the one. */
export async function mailPasswordChanged(email: string): Promise<void> {
  await mail(email, passwordChangedMail(service().config.appUrl));
}
