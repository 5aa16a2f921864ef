import { parseAddress } from "../accounts/email-address";
import { issueLink, lockAddresses } from "../accounts/mailed-links";
import { blockedUntil, loginLimit, resetLimit } from "../accounts/rate-limits";
import { kindOf } from "../accounts/stored-hashes";
import { createUser, nullIfTaken } from "../accounts/users";
import { Device, PasswordReset, Registration, User } from "../database/entities";
import { query, unitOfWork } from "../database/unit-of-work";
import { logEvent } from "../log";
import { resetLink } from "../mail/messages";
import { activeSessions, browserName } from "./sessions.server";

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
    createdAt: user.createdAt,
    password: user.passwordHash ? (kindOf(user.passwordHash) ?? "unknown") : null,
    provider: user.idpId === null ? null : { id: user.idpId, issuer: user.idpIssuer ?? null },
    providerBlockedAt: user.idpBlockedAt ?? null,
    loginBlockedUntil: await blockedUntil(loginLimit, user.email),
    resetMailsBlockedUntil: await blockedUntil(resetLimit, user.email),
    resetLinks: links,
    devices: await query((em) => em.count(Device, { user: user.id })),
    sessions: sessions.map(({ userAgent, createdAt, lastSeenAt }) => ({
      browser: browserName(userAgent ?? null, "en"),
      createdAt,
      lastSeenAt,
    })),
  };
}

export type AccountDetails = Awaited<ReturnType<typeof accountDetails>>;

export async function createResetLink({ id, email }: Pick<User, "id" | "email">): Promise<string> {
  const token = await query((em) => issueLink(em, PasswordReset, email));
  logEvent({ event: "password_reset.requested", userId: id });
  return resetLink(email, token);
}

/** Creates a user for an address that the operator vouches for; `null`, and nothing changed, when the address has one. */
export async function createUserWithoutPassword(email: string, name: string | null) {
  const id = await unitOfWork(async (em) => {
    await lockAddresses(em, email);
    await em.nativeDelete(Registration, { email }); // a link that was mailed before must not set a password later
    return createUser(em, { email, name });
  }).catch(nullIfTaken);
  if (id === null) return null;
  logEvent({ event: "registration.completed", userId: id });
  return { id, email };
}
