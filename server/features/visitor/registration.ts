import { countAttempt, registrationLimit } from "../../accounts/limits/rate-limits";
import { consumeLink, isLinkLive, issueLink, lockAddresses, type MailedLink } from "../../accounts/links/mailed-links";
import { insertPasskey, refusedIfPasskey, startCreation } from "../../accounts/passkeys/creation";
import { rememberDevice } from "../../accounts/sessions/devices";
import { startSession } from "../../accounts/sessions/sessions";
import { parseAddress } from "../../accounts/users/email-address";
import { findInvitation } from "../../accounts/users/invitations";
import { createUser, mayRegister, nullIfTaken } from "../../accounts/users/users";
import { config } from "../../config";
import { uuidOf } from "../../crypto/tokens";
import { Invitation, Registration, User } from "../../database/entities";
import { query, unitOfWork } from "../../database/unit-of-work";
import type { Language } from "../../languages/languages";
import { logEvent } from "../../log";
import { sendMail, simulateMail, thenLog } from "../../mail/mailer";
import { accountExistsMail, registrationMail } from "../../mail/messages";
import { enqueue } from "../../queue/job-queue";
import type { MailCall } from "../../queue/jobs";
import { parseName } from "../../rules";
import type { Visitor } from "../../visitor/visitor";
import { acceptWayIn, challengePurpose, type LinkForm, type NewWayIn, refuseLink } from "./new-way-in";

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
    const call = () => sendMail(email, accountExistsMail(language, returnTo));
    return thenLog(call, { event: "registration.sent", userId: user.id, reason: "account_exists" });
  }
  const invitation = await invitationOf(email);
  if (!config().passwords.on || (!invitation && !mayRegister(email))) {
    return thenLog(simulateMail, { event: "registration.refused", reason: "registration_closed" });
  }
  const token = await query((em) => issueLink(em, Registration, email, invitation?.expiresAt));
  const call = () => sendMail(email, registrationMail(language, email, token, returnTo));
  return thenLog(call, { event: "registration.sent" });
}

/** The live invitation of an address. */
export const invitationOf = (typedEmail: string) => query((em) => findInvitation(em, parseAddress(typedEmail) ?? ""));

/** What the browser creates a passkey from, in place of a password. A dead link makes no challenge. */
export async function startRegistrationPasskey(visitor: Visitor, link: MailedLink) {
  if (!(await isRegistrationLinkLive(link))) return "invalid_link";
  const account = { id: userIdOf(link), email: parseAddress(link.email) ?? "", name: null, passkeys: [] };
  return startCreation(visitor, challengePurpose("register", link.token), account);
}

/**
 * Verifies the link, then the password or the passkey, and creates the user. What is refused leaves the link usable.
 * @throws HashingOverloaded
 */
export async function completeRegistration(visitor: Visitor, form: LinkForm & { name: string }) {
  if (!(await isRegistrationLinkLive(form))) return refuseLink("registration.refused");
  const name = parseName(form.name);
  if (name === null && form.name.trim() !== "") return { problem: "name" as const };
  const wayIn = await acceptWayIn(visitor, "register", form);
  if ("problem" in wayIn) return wayIn;
  const done = await registerUser(visitor, form, { ...wayIn, name });
  if (done === "refused") return { problem: "passkey" as const };
  if (!done) return refuseLink("registration.refused");
  logEvent({ event: "registration.completed", userId: done.session.userId });
  return done;
}

/** False if the address has an account by now, or may not get one. Reads only. */
export async function isRegistrationLinkLive(link: MailedLink): Promise<boolean> {
  const email = parseAddress(link.email);
  if (email === null) return false;
  return query(async (em) => {
    if (await isLinkLive(em, Registration, link)) {
      if (!mayRegister(email) && !(await findInvitation(em, email))) return false;
    } else if (!(await isLinkLive(em, Invitation, link))) return false;
    return (await em.count(User, { email })) === 0;
  });
}

/**
 * Creates the user and starts a session, in one transaction.
 * @returns the session; otherwise nothing changed: `null` for a link that is not valid, `refused` for a passkey
 */
export async function registerUser(
  visitor: Visitor,
  link: MailedLink,
  { name = null, ...wayIn }: NewWayIn & { name?: string | null },
) {
  const email = parseAddress(link.email);
  if (email === null) return null;
  const { language } = visitor;
  return unitOfWork(async (em) => {
    await lockAddresses(em, email);
    const invitation = await findInvitation(em, email);
    if (!invitation && !mayRegister(email)) return null;
    if (!(await consumeLink(em, Registration, link)) && !(await consumeLink(em, Invitation, link))) return null;
    const isPasskey = "passkey" in wayIn;
    const way = isPasskey ? "passkey" : "password";
    const own = isPasskey ? { id: userIdOf(link) } : wayIn;
    const userId = await createUser(em, { email, language, name, ...own }, invitation);
    if (isPasskey) await insertPasskey(em, userId, wayIn.passkey);
    const credentialId = isPasskey ? wayIn.passkey.credentialId : null;
    const session = await startSession(em, userId, { visitor, way, credentialId, isFirst: true });
    const { token: deviceToken } = await rememberDevice(em, userId, null);
    return { session, deviceToken, way } as const;
  })
    .catch(nullIfTaken)
    .catch(refusedIfPasskey);
}

/** The id of a user who registers with a passkey: the authenticator stores it before the user exists. */
const userIdOf = ({ token }: MailedLink) => uuidOf(`user:${token}`);
