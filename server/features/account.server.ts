import { parseAddress } from "../accounts/email-address";
import { endEmailChanges } from "../accounts/email-changes";
import { lockAddresses } from "../accounts/mailed-links";
import { endAllSessions, logSessionEnd } from "../accounts/sessions";
import { lockUser } from "../accounts/users";
import { config } from "../config";
import { PasswordReset, Registration, User } from "../database/entities";
import { unitOfWork } from "../database/unit-of-work";
import type { Language } from "../languages/languages";
import { logEvent } from "../log";
import { sendMail } from "../mail/mailer";
import { accountDeletedMail } from "../mail/messages";
import { enqueue } from "../queue/job-queue";
import type { MailCall } from "../queue/jobs";

/**
 * Removes the user, the sessions, the devices, and every mailed link of the user and of the address.
 *
 * @param typedEmail the confirmation
 * @param language of the mail that tells the owner
 * @returns false, and nothing changed, when the confirmation is not the account's address
 */
export async function deleteAccount(
  user: { id: string; email: string },
  typedEmail: string,
  language: Language,
): Promise<boolean> {
  const { id, email } = user;
  if (parseAddress(typedEmail) !== email) return false;
  const outcome = await unitOfWork(async (em) => {
    await lockAddresses(em, email);
    const locked = await lockUser(em, { id });
    if (!locked) return "deleted_meanwhile" as const;
    if (locked.email !== email) return "address_changed_meanwhile" as const;
    await em.nativeDelete(Registration, { email });
    await em.nativeDelete(PasswordReset, { email });
    await endEmailChanges(em, { $or: [{ user: id }, { email }] });
    const sessions = await endAllSessions(em, id);
    await em.nativeDelete(User, { id });
    await enqueue(em, { task: "mail_account_deleted", email, language });
    return { sessions };
  });
  if (outcome === "address_changed_meanwhile") return false;
  if (outcome === "deleted_meanwhile") return true;
  logSessionEnd(id, "account_deleted", outcome.sessions);
  logEvent({ event: "account.deleted", userId: id });
  return true;
}

/** The job of a deletion. */
export async function mailAccountDeleted(email: string, language: Language): Promise<MailCall> {
  const { appUrl, registration } = config();
  return () => sendMail(email, accountDeletedMail(language, registration.mode === "closed" ? null : appUrl));
}
