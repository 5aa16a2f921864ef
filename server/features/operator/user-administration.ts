import { z } from "zod";
import { groupsOf, ofGroup } from "../../accounts/groups/membership";
import { blockedUntil, clearAllAttempts, loginLimit, resetLimit } from "../../accounts/limits/rate-limits";
import { issueLink, lockAddresses } from "../../accounts/links/mailed-links";
import { isUsable } from "../../accounts/passkeys/relying-party";
import { notLinked } from "../../accounts/provider/provider-identities";
import { parseAddress } from "../../accounts/users/email-address";
import { record } from "../../accounts/users/history";
import { removeInvitation } from "../../accounts/users/invitations";
import { createUser, lockUser, nullIfTaken, usersByAddress } from "../../accounts/users/users";
import { noWayIn, waysIn } from "../../accounts/users/ways-in";
import { config } from "../../config";
import { Device, PasswordReset, User } from "../../database/entities";
import { kindOf } from "../../database/password-kinds";
import { query, unitOfWork } from "../../database/unit-of-work";
import { logEvent } from "../../log";
import { resetLink } from "../../mail/messages";
import { enqueue } from "../../queue/job-queue";
import { browserName } from "../../visitor/browsers";
import { plainToken, tokensOf } from "../owner/access-tokens";
import { shownColumns } from "../owner/account-data";
import { eventsOf, plainEvent } from "../owner/activity";
import { activeSessions } from "../owner/own-sessions";
import { passkeysOf } from "../owner/passkeys";

/** @param typed an address, or the id that the log has of an account */
export function findUser(typed: string): Promise<User | null> {
  const id = z.uuid().safeParse(typed).data;
  return query((em) => em.findOne(User, id === undefined ? { email: parseAddress(typed) ?? "" } : { id }));
}

export async function accountDetails(user: User) {
  const passkeys = await passkeysOf(user.id);
  const sessions = await activeSessions(user.id);
  const ways = await query((em) => waysIn(em, user));
  const links = await query((em) => em.count(PasswordReset, { email: user.email, expiresAt: { $gt: new Date() } }));
  return {
    ...shownColumns(user),
    hasWayIn: ways.password || ways.provider || ways.passkeys > 0,
    password: user.passwordHash ? (kindOf(user.passwordHash) ?? "unknown") : null,
    provider: user.idpId === null ? null : { id: user.idpId, issuer: user.idpIssuer ?? null },
    providerBlockedAt: user.idpBlockedAt ?? null,
    loginBlockedUntil: await blockedUntil(loginLimit, user.email),
    resetMailsBlockedUntil: await blockedUntil(resetLimit, user.email),
    resetLinks: links,
    passkeys: passkeys.map(({ name, rpId, backedUp, createdAt, lastUsedAt }) => ({
      name,
      madeFor: isUsable({ rpId }) ? null : rpId,
      backedUp,
      createdAt,
      lastUsedAt,
    })),
    devices: await query((em) => em.count(Device, { user: user.id })),
    sessions: sessions.map(({ userAgent, createdAt, lastSeenAt, isBound: bound }) => ({
      browser: browserName(userAgent, "en"),
      createdAt,
      lastSeenAt,
      bound,
    })),
    tokens: (await tokensOf(user.id)).map(plainToken),
    events: (await eventsOf(user.id)).map(plainEvent),
  };
}

export type AccountDetails = Awaited<ReturnType<typeof accountDetails>>;

export type ListedUser = Pick<User, "id" | "email" | "name" | "groups" | "createdAt" | "suspendedAt">;

/**
 * In the order of the addresses: all users, those of one group, the suspended, those without the provider or a way to
 * sign in, those whose mails do not arrive.
 */
export async function* listUsers(which: {
  group?: string;
  unlinked?: true;
  wayIn?: boolean;
  suspended?: true;
  undeliverable?: true;
}): AsyncGenerator<ListedUser> {
  const { group, unlinked, wayIn, suspended, undeliverable } = which;
  const where = {
    ...(group !== undefined && ofGroup(group)),
    ...(unlinked && notLinked()),
    ...(wayIn === false && noWayIn()),
    ...(suspended && { suspendedAt: { $ne: null } }),
    ...(undeliverable && { undeliverableAt: { $ne: null } }),
  };
  for await (const user of usersByAddress(where)) {
    const { id, email, name, createdAt, suspendedAt } = user;
    yield { id, email, name, groups: groupsOf(user), createdAt, suspendedAt };
  }
}

/** Clears the limits of an address and of its account's browsers. @returns how many counts there were */
export function clearLimits(email: string): Promise<number> {
  return unitOfWork(async (em) => {
    const user = await lockUser(em, { email });
    if (user) await record(em, [user.id], {}, { type: "limits.cleared" });
    const devices = await em.find(Device, { user: { email } }, { fields: ["tokenHash"] });
    const hashes = devices.map(({ tokenHash }) => tokenHash);
    return clearAllAttempts(em, email, hashes);
  });
}

/** `null` with `PASSWORDS=off`. */
export async function createResetLink({ id, email }: Pick<User, "id" | "email">): Promise<string | null> {
  if (!config().passwords.on) return null;
  const token = await unitOfWork(async (em) => {
    if (await lockUser(em, { id })) await record(em, [id], {}, { type: "password_reset.requested" });
    return issueLink(em, PasswordReset, email);
  });
  logEvent({ event: "password_reset.requested", userId: id });
  return resetLink(email, token);
}

/** Creates a user for an address that the operator vouches for; `null`, and nothing changed, if the address has one. */
export async function createUserWithoutPassword(email: string, name: string | null, invites = false) {
  const done = await unitOfWork(async (em) => {
    await lockAddresses(em, email);
    const uninvited = await removeInvitation(em, email);
    if (invites) await enqueue(em, { task: "mail_invitation", email, language: config().defaultLanguage });
    const id = await createUser(em, { email, name });
    await record(em, [id], {}, { type: "registration.completed" });
    return { id, email, uninvited };
  }).catch(nullIfTaken);
  if (done) logEvent({ event: "registration.completed", userId: done.id });
  return done;
}
