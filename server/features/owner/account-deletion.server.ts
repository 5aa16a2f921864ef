import { endEmailChanges, lockAddresses } from "../../accounts/links/mailed-links";
import { type Actor, endAllSessions, lockOwner, logSessionEnd } from "../../accounts/sessions/sessions";
import { announce } from "../../accounts/users/announce";
import { parseAddress } from "../../accounts/users/email-address";
import { noticeLanguage } from "../../accounts/users/users";
import { PasswordReset, Registration } from "../../database/entities";
import { unitOfWork } from "../../database/unit-of-work";
import { logEvent } from "../../log";
import { enqueue } from "../../queue/job-queue";

/** Removes the user, the sessions, the devices, and every mailed link of the user and of the address. */
export async function deleteAccount(
  actor: Actor,
  email: string,
  typedEmail: string,
): Promise<"deleted" | "not_confirmed" | "session_ended"> {
  if (parseAddress(typedEmail) !== email) return "not_confirmed";
  const { userId } = actor;
  const sessions = await unitOfWork(async (em) => {
    await lockAddresses(em, email);
    const user = await lockOwner(em, actor);
    if (!user) return "session_ended";
    if (user.email !== email) return "not_confirmed";
    await em.nativeDelete(Registration, { email });
    await em.nativeDelete(PasswordReset, { email });
    await endEmailChanges(em, { $or: [{ user: userId }, { email }] });
    const ended = await endAllSessions(em, userId);
    await enqueue(em, { task: "mail_account_deleted", email, language: noticeLanguage(user, actor.language) });
    await announce(em, "user.deleted", user);
    em.remove(user);
    return ended;
  });
  if (typeof sessions === "string") return sessions;
  logSessionEnd(userId, "account_deleted", sessions);
  logEvent({ event: "account.deleted", userId });
  return "deleted";
}
