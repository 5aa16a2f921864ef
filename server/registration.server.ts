import { UniqueConstraintViolationException } from "@mikro-orm/postgresql";
import { query, unitOfWork } from "./database.server";
import { Registration, User } from "./entities";
import { logEvent } from "./log";
import { mail } from "./mail/mail";
import { accountExistsMail, registrationMail } from "./mail/messages";
import { hashPassword } from "./passwords";
import { countAttempt, registrationLimit } from "./rate-limits";
import { service } from "./service";
import { type Browser, logReplaced, type NewSession, startSession } from "./sessions";
import { consumeToken, issueToken, isTokenValid, lockAddress, type TokenClaim } from "./tokens";

/**
 * Asks for a link that proves the mailbox. The work is the same for every address, known or not.
 *
 * @param client the address that asks, for its limit
 */
export async function requestRegistration(email: string, client: string): Promise<void> {
  if ((await countAttempt(registrationLimit, email, client)) !== null) {
    return logEvent("registration.refused", { reason: "throttled" });
  }
  await query((em) => service().queue.enqueue(em, { task: "mail_registration", email }));
  logEvent("registration.requested");
}

/** The job behind a request: mails the link, or to the owner of an account that there is one. */
export async function mailRegistration(email: string): Promise<void> {
  const { appUrl } = service().config;
  const user = await query((em) => em.findOne(User, { email }));
  if (user) {
    await mail(user.email, accountExistsMail(appUrl));
    return logEvent("registration.sent", { userId: user.id, reason: "account_exists" });
  }
  const token = await query((em) => issueToken(em, Registration, email));
  await mail(email, registrationMail(appUrl, email, token));
  logEvent("registration.sent");
}

/** Whether the link may still be used. Reads only. */
export async function isRegistrationLinkValid(claim: TokenClaim): Promise<boolean> {
  const valid = await query((em) => isTokenValid(em, Registration, claim));
  if (!valid) logEvent("registration.refused", { reason: "invalid_link" });
  return valid;
}

/**
 * Uses the link up, creates the user and starts a session, in one transaction.
 *
 * @returns `null`, and nothing changed, when the link was used or expired, or an account exists by now
 */
export async function completeRegistration(
  { email, token }: TokenClaim,
  password: string,
  browser: Browser,
): Promise<NewSession | null> {
  const passwordHash = await hashPassword(password);
  const id = crypto.randomUUID();
  const session = await unitOfWork(async (em) => {
    await lockAddress(em, email);
    if (!(await consumeToken(em, Registration, { email, token }))) return null;
    await em.insert(User, {
      id,
      email,
      passwordHash,
      idpId: null,
      name: null,
      pictureUrl: null,
      createdAt: new Date(),
    });
    return startSession(em, id, browser);
  }).catch((error: unknown) => {
    if (error instanceof UniqueConstraintViolationException) return null;
    throw error;
  });
  if (!session) {
    logEvent("registration.refused", { reason: "invalid_link" });
    return null;
  }
  logReplaced(session);
  logEvent("registration.completed", { userId: id });
  return session;
}
