import { countAttempt, registrationLimit } from "../../accounts/limits/rate-limits";
import { consumeLink, isLinkLive, issueLink, lockAddresses, type MailedLink } from "../../accounts/links/mailed-links";
import { hashPassword } from "../../accounts/passwords/password-hashing";
import { rememberDevice } from "../../accounts/sessions/devices";
import { type DeviceSignIn, startSession } from "../../accounts/sessions/sessions";
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
import { type LinkForm, passwordProblem } from "./password-policy";

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
  return query(async (em) => (await isLinkLive(em, Registration, link)) && (await em.count(User, { email })) === 0);
}

function refuseLink(): "invalid_link" {
  logEvent({ event: "registration.refused", reason: "invalid_link" });
  return "invalid_link";
}

/**
 * Verifies the link, then the password, and creates the user. A wrong password leaves the link usable.
 * @throws HashingOverloaded
 */
export async function completeRegistration(visitor: Visitor, form: LinkForm) {
  if (!(await isRegistrationLinkLive(form))) return refuseLink();
  const problem = await passwordProblem(form);
  if (problem) return { problem };
  const done = await registerUser(visitor, form, await hashPassword(visitor, form.password));
  if (!done) return refuseLink();
  logEvent({ event: "registration.completed", userId: done.session.userId });
  return done;
}

/** Creates the user and starts a session, in one transaction; `null`, and nothing changed, for an invalid link. */
export async function registerUser(
  visitor: Visitor,
  link: MailedLink,
  passwordHash: string,
): Promise<DeviceSignIn | null> {
  const email = parseAddress(link.email);
  if (email === null || !mayRegister(email)) return null;
  return unitOfWork(async (em) => {
    await lockAddresses(em, email);
    if (!(await consumeLink(em, Registration, link))) return null;
    const userId = await createUser(em, { email, passwordHash, language: visitor.language });
    const session = await startSession(em, userId, visitor);
    const { token: deviceToken } = await rememberDevice(em, userId, null);
    return { session, deviceToken };
  }).catch(nullIfTaken);
}
