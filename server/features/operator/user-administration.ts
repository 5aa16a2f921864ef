import { blockedUntil, clearAllAttempts, loginLimit, resetLimit } from "../../accounts/limits/rate-limits";
import { issueLink, lockAddresses } from "../../accounts/links/mailed-links";
import { kindOf } from "../../accounts/passwords/stored-hashes";
import { groupsOf, notLinked, ofGroup } from "../../accounts/provider/provider-identities";
import { parseAddress } from "../../accounts/users/email-address";
import { createUser, nullIfTaken, usersByAddress } from "../../accounts/users/users";
import { noWayIn } from "../../accounts/users/ways-in";
import { config } from "../../config";
import { Device, PasswordReset, User } from "../../database/entities";
import { query, unitOfWork } from "../../database/unit-of-work";
import { logEvent } from "../../log";
import { resetLink } from "../../mail/messages";
import { enqueue } from "../../queue/job-queue";
import { passkeysOf } from "../owner/passkeys";
import { activeSessions, browserName } from "../owner/sessions";

export function findUser(typedEmail: string): Promise<User | null> {
  const email = parseAddress(typedEmail);
  return query((em) => em.findOne(User, { email: email ?? "" }));
}

export async function accountDetails(user: User) {
  const sessions = await activeSessions(user.id);
  const links = await query((em) => em.count(PasswordReset, { email: user.email, expiresAt: { $gt: new Date() } }));
  return {
    id: user.id,
    email: user.email,
    name: user.name ?? null,
    groups: groupsOf(user),
    createdAt: user.createdAt,
    suspendedAt: user.suspendedAt ?? null,
    password: user.passwordHash ? (kindOf(user.passwordHash) ?? "unknown") : null,
    provider: user.idpId === null ? null : { id: user.idpId, issuer: user.idpIssuer ?? null },
    providerBlockedAt: user.idpBlockedAt ?? null,
    loginBlockedUntil: await blockedUntil(loginLimit, user.email),
    resetMailsBlockedUntil: await blockedUntil(resetLimit, user.email),
    resetLinks: links,
    passkeys: (await passkeysOf(user.id)).map(({ name, backedUp, createdAt, lastUsedAt }) => ({
      name,
      backedUp,
      createdAt,
      lastUsedAt: lastUsedAt ?? null,
    })),
    devices: await query((em) => em.count(Device, { user: user.id })),
    sessions: sessions.map(({ userAgent, createdAt, lastSeenAt }) => ({
      browser: browserName(userAgent ?? null, "en"),
      createdAt,
      lastSeenAt,
    })),
  };
}

export type AccountDetails = Awaited<ReturnType<typeof accountDetails>>;

export type ListedUser = Pick<User, "id" | "email" | "name" | "groups" | "createdAt" | "suspendedAt">;

/** In the order of the addresses: all users, those of one group, the suspended, those without the provider or a way to sign in. */
export async function* listUsers(which: {
  group?: string;
  unlinked?: true;
  wayIn?: boolean;
  suspended?: true;
}): AsyncGenerator<ListedUser> {
  const { group, unlinked, wayIn, suspended } = which;
  const where = {
    ...(group !== undefined && ofGroup(group)),
    ...(unlinked && notLinked()),
    ...(wayIn === false && noWayIn()),
    ...(suspended && { suspendedAt: { $ne: null } }),
  };
  for await (const user of usersByAddress(where)) {
    const { id, email, name, createdAt, suspendedAt } = user;
    yield { id, email, name, groups: groupsOf(user), createdAt, suspendedAt };
  }
}

/** Clears the limits of an address and of its account's browsers. @returns how many counts there were */
export function clearLimits(email: string): Promise<number> {
  return unitOfWork(async (em) => {
    const devices = await em.find(Device, { user: { email } }, { fields: ["tokenHash"] });
    const hashes = devices.map(({ tokenHash }) => tokenHash);
    return clearAllAttempts(em, email, hashes);
  });
}

/** `null` with `PASSWORDS=off`. */
export async function createResetLink({ id, email }: Pick<User, "id" | "email">): Promise<string | null> {
  if (!config().passwords.on) return null;
  const token = await query((em) => issueLink(em, PasswordReset, email));
  logEvent({ event: "password_reset.requested", userId: id });
  return resetLink(email, token);
}

/** Creates a user for an address that the operator vouches for; `null`, and nothing changed, if the address has one. */
export async function createUserWithoutPassword(email: string, name: string | null, invites = false) {
  const id = await unitOfWork(async (em) => {
    await lockAddresses(em, email);
    if (invites) await enqueue(em, { task: "mail_invitation", email, language: config().defaultLanguage });
    return createUser(em, { email, name });
  }).catch(nullIfTaken);
  if (id === null) return null;
  logEvent({ event: "registration.completed", userId: id });
  return { id, email };
}
