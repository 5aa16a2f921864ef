import { clearAttempts, countAttempt, loginLimit, resetLimit } from "../../accounts/limits/rate-limits";
import { consumeLink, isLinkLive, issueResetLink, type MailedLink } from "../../accounts/links/mailed-links";
import { insertPasskey, refusedIfPasskey, startCreation } from "../../accounts/passkeys/creation";
import { usable } from "../../accounts/passkeys/relying-party";
import { isLinked } from "../../accounts/provider/provider-identities";
import { rememberDevice } from "../../accounts/sessions/devices";
import { endAllAccess } from "../../accounts/sessions/sessions";
import { tell } from "../../accounts/users/changes";
import { parseAddress } from "../../accounts/users/email-address";
import { lockUser } from "../../accounts/users/users";
import { distrustEarlierUser } from "../../accounts/users/ways-in";
import { config } from "../../config";
import { deliverable, Passkey, PasswordReset, User } from "../../database/entities";
import { query, unitOfWork } from "../../database/unit-of-work";
import type { Language } from "../../languages/languages";
import { logEvent } from "../../log";
import { sendMail, simulateMail, thenLog } from "../../mail/mailer";
import { newAccountMail, resetMail } from "../../mail/messages";
import { providerLabel } from "../../provider/label";
import { enqueue } from "../../queue/job-queue";
import type { MailCall } from "../../queue/jobs";
import type { Visitor } from "../../visitor/visitor";
import { acceptWayIn, challengePurpose, type LinkForm, type NewWayIn, refuseLink } from "./new-way-in";

/** The work is the same for every address. @returns `null`, or the seconds until the next request is allowed */
export async function requestPasswordReset(visitor: Visitor, typedEmail: string): Promise<number | null> {
  const email = parseAddress(typedEmail);
  if (email === null || !config().passwords.on) return null;
  const wait = await countAttempt(resetLimit, email, visitor.network);
  if (wait !== null) {
    logEvent({ event: "password_reset.refused", reason: "throttled" });
    return wait;
  }
  await query((em) => enqueue(em, { task: "mail_password_reset", email, language: visitor.language }));
  logEvent({ event: "password_reset.requested" });
  return null;
}

export async function mailPasswordReset(email: string, language: Language): Promise<MailCall> {
  const link = config().passwords.on ? await issueResetLink(email) : null;
  if (!link) return simulateMail;
  const { token, userId, passkeys } = link;
  const provider = isLinked(link) ? providerLabel(language) : null;
  const call = () => sendMail(email, resetMail(language, email, token, { provider, passkeys }));
  return thenLog(call, { event: "password_reset.sent", userId });
}

export async function mailNewAccount(email: string, language: Language): Promise<MailCall> {
  const way = await firstWayIn(email, language);
  if (!way) return simulateMail;
  return thenLog(() => sendMail(email, newAccountMail(language, email, way)), { event: "registration.sent" });
}

/** The first way to sign in to an account that an operator made; `null` without the account, or if it is suspended. */
async function firstWayIn(email: string, language: Language) {
  if (config().passwords.on) return issueResetLink(email);
  const found = await query((em) => em.count(User, { email, suspendedAt: null }));
  return found > 0 ? { provider: providerLabel(language) ?? "" } : null;
}

/** What the browser creates a passkey from, in place of a password. A dead link makes no challenge. */
export async function startResetPasskey(visitor: Visitor, link: MailedLink) {
  if (!(await isResetLinkLive(link))) return "invalid_link";
  const email = parseAddress(link.email);
  const user = await query((em) => em.findOne(User, { email: email ?? "", suspendedAt: null }));
  if (!user) return "invalid_link";
  const passkeys = await query((em) => em.find(Passkey, { user: user.id, ...usable() }));
  return startCreation(visitor, challengePurpose("reset", link.token), { ...user, passkeys });
}

/**
 * Verifies the link, then the password or the passkey, and stores it. What is refused leaves the link usable.
 * @throws HashingOverloaded
 */
export async function resetPassword(visitor: Visitor, form: LinkForm) {
  if (!(await isResetLinkLive(form))) return refuseLink("password_reset.refused");
  const wayIn = await acceptWayIn(visitor, "reset", form);
  if ("problem" in wayIn) return wayIn;
  const stored = await storeWayIn(visitor, form, wayIn);
  if (stored === "refused") return { problem: "passkey" as const };
  return stored ?? refuseLink("password_reset.refused");
}

/** Reads only: link scanners open links, too. */
export const isResetLinkLive = (link: MailedLink): Promise<boolean> =>
  query((em) => isLinkLive(em, PasswordReset, link));

/**
 * Stores the password, or the passkey in place of the password. Ends every link, session, access token, email
 * change and device, questions every other way in, and gives this browser a new device, in one transaction.
 * @returns the device's token; otherwise nothing changed: `null` for a link that is not valid, `refused` for a passkey,
 * whose refusal is thrown within the transaction to roll it back
 */
export const storeWayIn = (visitor: Visitor, link: MailedLink, wayIn: NewWayIn) =>
  unitOfWork(async (em) => {
    // Locked before the sessions end: otherwise a login with the old hash could start one after them.
    const user = await lockUser(em, { email: parseAddress(link.email) ?? "", suspendedAt: null });
    if (!user || !(await consumeLink(em, PasswordReset, link))) return null;
    const hadPassword = user.passwordHash != null;
    user.passwordHash = "passwordHash" in wayIn ? wayIn.passwordHash : null;
    Object.assign(user, deliverable); // the link has arrived
    await em.nativeDelete(PasswordReset, { email: user.email });
    await distrustEarlierUser(em, user);
    const { token: deviceToken } = await rememberDevice(em, user.id, null);
    await clearAttempts(em, loginLimit, user.email);
    const variant = "passwordHash" in wayIn ? undefined : hadPassword ? "replaced" : "passkey";
    const passkey = "passkey" in wayIn ? { passkey: wayIn.passkey.name } : {};
    await tell(em, "password_reset.completed", user, { by: visitor, variant, ...passkey });
    await endAllAccess(em, user.id, "password_reset");
    if ("passkey" in wayIn) await insertPasskey(em, user.id, wayIn.passkey);
    return { deviceToken };
  }).catch(refusedIfPasskey);
