import type { EntityManager } from "@mikro-orm/postgresql";
import { countAttempt, registrationLimit } from "../../accounts/limits/rate-limits";
import { lockAddresses, type MailedLink, newLink, unexpiredLink } from "../../accounts/links/mailed-links";
import { lockOwner } from "../../accounts/sessions/sessions";
import { noteLanguage } from "../../accounts/users/changes";
import { parseAddress } from "../../accounts/users/email-address";
import { record } from "../../accounts/users/history";
import { acceptInvitation } from "../../accounts/users/invitations";
import { replaceEmail } from "../../accounts/users/new-address";
import { lockUser, mayHaveAddress, nullIfTaken } from "../../accounts/users/users";
import { EmailChange, User } from "../../database/entities";
import { query, unitOfWork } from "../../database/unit-of-work";
import type { Language } from "../../languages/languages";
import { logEvent } from "../../log";
import { sendMail, simulateMail } from "../../mail/mailer";
import { addressTakenMail, emailChangeMail } from "../../mail/messages";
import { enqueue } from "../../queue/job-queue";
import type { AskedEmailChange, MailCall } from "../../queue/jobs";
import type { Visitor } from "../../visitor/visitor";
import type { Owner } from "./signed-in";

/** The work is the same for every address, known or not. Past a limit of mails nothing is sent. */
export async function requestEmailChange(owner: Owner, typedEmail: string) {
  const email = parseAddress(typedEmail);
  if (email === null) return "no_address";
  const { id: userId, email: currentEmail } = owner.user;
  if (email === currentEmail) return "own_address";
  if ((await countAttempt(registrationLimit, email, owner.network)) !== null) {
    logEvent({ event: "email_change.refused", reason: "throttled" });
    return "requested";
  }
  const { sessionId, language } = owner;
  const isOwner = await unitOfWork(async (em) => {
    const user = await lockOwner(em, owner);
    if (!user) return false;
    noteLanguage(user, owner);
    await record(em, [userId], owner, { type: "email_change.requested" });
    await enqueue(em, { task: "mail_email_change", email, language, userId, sessionId, currentEmail });
    await enqueue(em, { task: "mail_email_changing", email: currentEmail, language, newEmail: email });
    return true;
  });
  if (!isOwner) return "session_ended";
  logEvent({ event: "email_change.requested", userId });
  return "requested";
}

/**
 * The job of a request: mails the link to the new address, or tells that address that it has an account. Mails nothing
 * if the session that asked has ended, or if accounts may not have the address. Every request stores a row: the time
 * to end the user's changes must not tell which addresses have an account. Nobody knows a token that is not mailed.
 */
export async function mailEmailChange(email: string, language: Language, asked: AskedEmailChange): Promise<MailCall> {
  const { userId, sessionId, currentEmail } = asked;
  const { token, row } = newLink(email);
  const answer = await unitOfWork(async (em) => {
    const user = await lockOwner(em, { user: { id: userId }, sessionId });
    if (user?.email !== currentEmail) return "session_ended";
    await em.insert(EmailChange, { ...row, user: user.id });
    if ((await em.count(User, { email })) > 0) return "taken";
    return mayHaveAddress(email) ? "link" : "refused";
  });
  if (answer === "taken") return () => sendMail(email, addressTakenMail(language));
  if (answer !== "link") return simulateMail;
  return () => sendMail(email, emailChangeMail(language, email, token, currentEmail));
}

export const isEmailChangeLive = async (link: MailedLink): Promise<boolean> =>
  (await query((em) => findChange(em, link))) !== null;

/** The present address of the account that the link would change; `null` for an invalid link. Reads only. */
export async function accountOfEmailChange(link: MailedLink): Promise<string | null> {
  const change = await query((em) => findChange(em, link));
  if (!change) logEvent({ event: "email_change.refused", reason: "invalid_link" });
  return change?.user.email ?? null;
}

/** Makes the link invalid: the owner of the new mailbox did not ask for the change. */
export async function declineEmailChange(link: MailedLink): Promise<void> {
  const where = unexpiredLink(link);
  if (where && (await query((em) => em.nativeDelete(EmailChange, where))) > 0) {
    logEvent({ event: "email_change.refused", reason: "declined" });
  }
}

/**
 * Ends every link of both addresses and of the user, and every session except the owner's, in one transaction. Without
 * an owner's session, forgets every device and ends every access token, too: somebody may have confirmed a change that
 * somebody else asked for.
 *
 * @param visitor the owner, if somebody is signed in where the link was opened
 * @returns the ended sessions; `invalid_link` also when accounts may not have the address, or one has it by now
 */
export async function changeEmail(visitor: Visitor & Partial<Owner>, link: MailedLink) {
  const changed = await unitOfWork((em) => consumeEmailChange(em, visitor, link)).catch(nullIfTaken);
  const outcome = changed ?? "invalid_link";
  if (typeof outcome === "string") logEvent({ event: "email_change.refused", reason: outcome });
  return outcome;
}

async function consumeEmailChange(em: EntityManager, visitor: Visitor & Partial<Owner>, link: MailedLink) {
  const change = await findChange(em, link);
  if (!change) return "invalid_link";
  const { id: userId, email: oldEmail } = change.user;
  if (visitor.user && visitor.user.id !== userId) return "another_account";
  const { tokenHash, email: newEmail } = change;

  await lockAddresses(em, oldEmail, newEmail);
  const user = await lockUser(em, { id: userId, email: oldEmail, suspendedAt: null });
  if (!user || !mayHaveAddress(newEmail) || (await em.count(User, { email: newEmail })) > 0) return "invalid_link";
  if ((await em.nativeDelete(EmailChange, { tokenHash })) !== 1) return "invalid_link";
  const ended = await replaceEmail(em, user, newEmail, visitor);
  await acceptInvitation(em, user);
  return ended;
}

/** The unexpired change of this link, with its user; `null` when there is none. */
async function findChange(em: EntityManager, link: MailedLink) {
  const where = unexpiredLink(link);
  return where && em.findOne(EmailChange, where, { populate: ["user"], disableIdentityMap: true });
}
