import type { EntityManager } from "@mikro-orm/postgresql";
import { parseAddress } from "../accounts/email-address";
import { endEmailChanges } from "../accounts/email-changes";
import { lockAddresses, type MailedLink, newLink, unexpiredLink } from "../accounts/mailed-links";
import { lockOwner } from "../accounts/owners";
import { countAttempt, registrationLimit } from "../accounts/rate-limits";
import { endSessionsExcept, logSessionEnd } from "../accounts/sessions";
import { lockUser, nullIfTaken } from "../accounts/users";
import { config } from "../config";
import { EmailChange, PasswordReset, Registration, User } from "../database/entities";
import { unitOfWork } from "../database/unit-of-work";
import type { Language } from "../languages/languages";
import { logEvent } from "../log";
import { sendMail, simulateMail } from "../mail/mailer";
import {
  addressTakenMail,
  emailChangedFromMail,
  emailChangedToMail,
  emailChangeMail,
  emailChangingMail,
} from "../mail/messages";
import { enqueue } from "../queue/job-queue";
import type { AskedEmailChange, MailCall } from "../queue/jobs";
import type { SignedIn } from "./sessions.server";

/**
 * Asks for a link that proves the new mailbox, and tells the current one. The work is the same for every address, known
 * or not. Past the limit of mails nothing is sent.
 *
 * @param client the client's address, for its limit
 * @param language of the mails
 */
export async function requestEmailChange(
  { user, sessionId }: SignedIn,
  typedEmail: string,
  client: string,
  language: Language,
): Promise<"requested" | "no_address" | "own_address" | "session_ended"> {
  const email = parseAddress(typedEmail);
  if (email === null) return "no_address";
  if (email === user.email) return "own_address";
  if ((await countAttempt(registrationLimit, email, client)) !== null) {
    logEvent({ event: "email_change.refused", reason: "throttled" });
    return "requested";
  }
  const asked = { userId: user.id, sessionId, currentEmail: user.email };
  const isOwner = await unitOfWork(async (em) => {
    if (!(await lockOwner(em, asked))) return false;
    await enqueue(em, { task: "mail_email_change", email, language, ...asked });
    await enqueue(em, { task: "mail_email_changing", email: user.email, language, newEmail: email });
    return true;
  });
  if (!isOwner) return "session_ended";
  logEvent({ event: "email_change.requested", userId: user.id });
  return "requested";
}

/** Stores a new link, unless the address has an account. @returns its token */
async function issueEmailChange(em: EntityManager, userId: string, email: string): Promise<string | null> {
  if ((await em.count(User, { email })) > 0) return null;
  const { token, row } = newLink(email);
  await em.insert(EmailChange, { ...row, user: userId });
  return token;
}

/**
 * The job of a request: mails the link to the new address, or tells it that it has an account. It mails nothing when
 * the session that asked has ended: a thief's request that waits in the queue must not survive the owner's reset.
 */
export async function mailEmailChange(email: string, language: Language, asked: AskedEmailChange): Promise<MailCall> {
  const { appUrl } = config();
  const link = await unitOfWork(async (em) => {
    const user = await lockOwner(em, asked);
    if (user?.email !== asked.currentEmail) return null;
    return { token: await issueEmailChange(em, user.id, email) };
  });
  if (!link) return simulateMail;
  const { token } = link;
  const message = token === null ? addressTakenMail(language, appUrl) : emailChangeMail(language, appUrl, email, token);
  return () => sendMail(email, message);
}

/** The job of a request: tells the current address, because somebody else may have asked. */
export async function mailEmailChanging(email: string, language: Language, newEmail: string): Promise<MailCall> {
  return () => sendMail(email, emailChangingMail(language, config().appUrl, newEmail));
}

interface ChangedEmail {
  userId: string;
  endedCount: number;
}

/** Consumes the link and sets the address; `null`, and nothing changed, when the link is invalid. */
async function consumeEmailChange(
  em: EntityManager,
  link: MailedLink,
  keptSessionId: string | null,
  language: Language,
): Promise<ChangedEmail | null> {
  const unexpired = unexpiredLink(link);
  const change =
    unexpired && (await em.findOne(EmailChange, unexpired, { populate: ["user"], disableIdentityMap: true }));
  if (!change) return null;
  const { id: userId, email: oldEmail } = change.user;
  const newEmail = change.email;
  const both = { $in: [oldEmail, newEmail] };

  await lockAddresses(em, oldEmail, newEmail);
  const user = await lockUser(em, { id: userId, email: oldEmail });
  if (!user || (await em.count(User, { email: newEmail })) > 0) return null;
  if ((await em.nativeDelete(EmailChange, unexpired)) !== 1) return null;
  await endEmailChanges(em, { $or: [{ user: userId }, { email: both }] });
  await em.nativeDelete(PasswordReset, { email: both });
  await em.nativeDelete(Registration, { email: both });
  user.email = newEmail;
  const endedCount = await endSessionsExcept(em, userId, keptSessionId);
  for (const email of [oldEmail, newEmail]) {
    await enqueue(em, { task: "mail_email_changed", email, language, oldEmail, newEmail });
  }
  return { userId, endedCount };
}

/**
 * Consumes the link, sets the address, and ends every reset, registration and email-change link of both addresses and of
 * the user, and every session but one, in one transaction.
 *
 * @param keptSessionId the session of the browser that confirms
 * @param language of the mails to both addresses
 * @returns the user; `null`, and nothing changed, when the link was used or has expired, or the address has an account
 * by now
 */
export async function changeEmail(
  link: MailedLink,
  keptSessionId: string | null,
  language: Language,
): Promise<string | null> {
  const changed = await unitOfWork((em) => consumeEmailChange(em, link, keptSessionId, language)).catch(nullIfTaken);
  if (!changed) {
    logEvent({ event: "email_change.refused", reason: "invalid_link" });
    return null;
  }
  const { userId, endedCount } = changed;
  logEvent({ event: "email_change.completed", userId });
  logSessionEnd(userId, "email_changed", endedCount);
  return userId;
}

interface OldAndNew {
  oldEmail: string;
  newEmail: string;
}

/** The job of a changed address: tells the old and the new one, because somebody else may have done it. */
export async function mailEmailChanged(email: string, language: Language, changed: OldAndNew): Promise<MailCall> {
  const write = email === changed.newEmail ? emailChangedToMail : emailChangedFromMail;
  const message = write(language, config().appUrl, changed);
  return () => sendMail(email, message);
}
