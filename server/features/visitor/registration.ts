import { countAttempt, registrationLimit } from "../../accounts/limits/rate-limits";
import { consumeLink, isLinkValid, issueLink, lockAddresses, type MailedLink } from "../../accounts/links/mailed-links";
import { hashPassword } from "../../accounts/passwords/password-hashing";
import { rememberDevice } from "../../accounts/sessions/devices";
import { startSession } from "../../accounts/sessions/sessions";
import { parseAddress } from "../../accounts/users/email-address";
import { createUser, mayRegister, nullIfTaken } from "../../accounts/users/users";
import { config } from "../../config";
import { Registration, User } from "../../database/entities";
import { query, unitOfWork } from "../../database/unit-of-work";
import type { Language } from "../../languages/languages";
import { logEvent } from "../../log";
import { sendMail, simulateMail } from "../../mail/mailer";
import { accountExistsMail, registrationMail } from "../../mail/messages";
import { enqueue } from "../../queue/job-queue";
import type { MailCall } from "../../queue/jobs";
import type { Visitor } from "../../visitor";

/** Whether the pages and mails offer a new account. */
export const offersRegistration = (): boolean => config().passwords.on && config().registration.mode !== "closed";

/** Asks for a link that proves the mailbox. The work is the same for every address, known or not. */
export async function requestRegistration(visitor: Visitor, typedEmail: string, returnTo: string | null) {
  const { network, language } = visitor;
  const email = parseAddress(typedEmail);
  if (email === null || !config().passwords.on) return;
  if ((await countAttempt(registrationLimit, email, network)) !== null) {
    return logEvent({ event: "registration.refused", reason: "throttled" });
  }
  const end = returnTo === null ? {} : { return_to: returnTo };
  await query((em) => enqueue(em, { task: "mail_registration", email, language, ...end }));
  logEvent({ event: "registration.requested" });
}

export async function mailRegistration(email: string, language: Language, returnTo?: string): Promise<MailCall> {
  const user = await query((em) => em.findOne(User, { email }));
  if (user) {
    return async () => {
      await sendMail(user.email, accountExistsMail(language, returnTo));
      logEvent({ event: "registration.sent", userId: user.id, reason: "account_exists" });
    };
  }
  if (!config().passwords.on || !mayRegister(email)) {
    return async () => {
      await simulateMail();
      logEvent({ event: "registration.refused", reason: "registration_closed" });
    };
  }
  const token = await query((em) => issueLink(em, Registration, email));
  return async () => {
    await sendMail(email, registrationMail(language, email, token, returnTo));
    logEvent({ event: "registration.sent" });
  };
}

/** False if the address has an account by now, or may not get one. Reads only. */
export async function isRegistrationLinkLive(link: MailedLink): Promise<boolean> {
  const email = parseAddress(link.email);
  if (email === null || !mayRegister(email)) return false;
  return query(async (em) => (await isLinkValid(em, Registration, link)) && (await em.count(User, { email })) === 0);
}

export async function isRegistrationLinkValid(link: MailedLink): Promise<boolean> {
  const valid = await isRegistrationLinkLive(link);
  if (!valid) logEvent({ event: "registration.refused", reason: "invalid_link" });
  return valid;
}

/** Creates the user in one transaction; `null`, and nothing changed, for an invalid link. @throws HashingOverloaded */
export async function completeRegistration(visitor: Visitor, link: MailedLink, password: string) {
  const email = parseAddress(link.email);
  if (email === null || !mayRegister(email)) return null;
  const passwordHash = await hashPassword(visitor, password);
  const done = await unitOfWork(async (em) => {
    await lockAddresses(em, email);
    if (!(await consumeLink(em, Registration, link))) return null;
    const userId = await createUser(em, { email, passwordHash, language: visitor.language });
    const session = await startSession(em, userId, visitor);
    const { token: deviceToken } = await rememberDevice(em, userId, null);
    return { userId, session, deviceToken };
  }).catch(nullIfTaken);
  if (!done) {
    logEvent({ event: "registration.refused", reason: "invalid_link" });
    return null;
  }
  logEvent({ event: "registration.completed", userId: done.userId });
  return done;
}
