import { LockMode } from "@mikro-orm/postgresql";
import { prepared, query, unitOfWork } from "./database.server";
import { emailAddress } from "./email-address.server";
import { PasswordReset, Registration, User } from "./entities";
import { logEvent } from "./log";
import { hashPassword, isOutdated, verifyPassword } from "./passwords";
import { countAttempt, forgiveAttempt, loginLimit } from "./rate-limits";
import { type Browser, endAllSessions, logReplaced, type NewSession, startSession } from "./sessions";

/**
 * Counts a login before its password is looked at.
 *
 * @returns `null`, or the seconds after which the next one is allowed
 */
export async function countLogin(email: string, client: string): Promise<number | null> {
  const wait = await countAttempt(loginLimit, email, client);
  if (wait !== null) logEvent("login.throttled");
  return wait;
}

/** A user whose password was right, and the very hash that it was right for. */
export interface Authenticated {
  id: string;
  passwordHash: string;
}

// Past the ORM, which would spend time on a known user's row and none on an unknown one's: a clock tells them apart.
const credentials = `select id, password_hash as "passwordHash" from users where email = $1`;

/** The user of these credentials, as typed; `null`, after the same time, for every other pair. */
export async function authenticate(typedEmail: string, password: string): Promise<Authenticated | null> {
  const email = emailAddress.safeParse(typedEmail).data ?? "";
  const [user] = await prepared<{ id: string; passwordHash: string | null }>("credentials", credentials, [email]);
  const stored = user?.passwordHash ?? null;
  if (!(await verifyPassword(stored, password)) || !user || !stored) {
    logEvent("login.failed", { reason: "wrong_credentials" });
    return null;
  }
  if (!isOutdated(stored)) return { id: user.id, passwordHash: stored };
  const passwordHash = await hashPassword(password);
  const renewed = await query((em) => em.nativeUpdate(User, { id: user.id, passwordHash: stored }, { passwordHash }));
  // Another login renewed the hash, or a reset replaced it: only the one that is stored now says whether this is right.
  return renewed === 0 ? authenticate(typedEmail, password) : { id: user.id, passwordHash };
}

/**
 * Starts the session of a login, which was no failure after all.
 *
 * @returns `null` when the password was changed, or the account deleted, since it was verified: a reset that ends every
 * session must not be outlived by a login that was already on its way
 */
export async function logIn(
  { id, passwordHash }: Authenticated,
  email: string,
  client: string,
  browser: Browser,
): Promise<NewSession | null> {
  const session = await unitOfWork(async (em) => {
    const user = await em.findOne(User, { id, passwordHash }, { fields: ["id"], lockMode: LockMode.PESSIMISTIC_READ });
    return user && startSession(em, user.id, browser);
  });
  if (!session) {
    logEvent("login.failed", { userId: id, reason: "password_changed" });
    return null;
  }
  await forgiveAttempt(loginLimit, email, client);
  logReplaced(session);
  logEvent("login.succeeded", { userId: id });
  return session;
}

/** @returns false, and nothing changed, when the provider is the account's only way in */
export async function unlinkProvider(userId: string): Promise<boolean> {
  const unlinked = await query((em) =>
    em.nativeUpdate(User, { id: userId, passwordHash: { $ne: null } }, { idpId: null }),
  );
  if (unlinked > 0) logEvent("idp.unlinked", { userId });
  return unlinked > 0;
}

/** Removes the user, the sessions, and every pending link of the address. */
export async function deleteAccount({ id, email }: { id: string; email: string }): Promise<void> {
  const ended = await unitOfWork(async (em) => {
    // The order in which the other flows lock: a registration its links first, everything else the user.
    await em.nativeDelete(Registration, { email });
    await em.findOne(User, { id }, { fields: ["id"], lockMode: LockMode.PESSIMISTIC_WRITE });
    await em.nativeDelete(PasswordReset, { email });
    const sessions = await endAllSessions(em, id);
    await em.nativeDelete(User, { id });
    return sessions;
  });
  logEvent("session.ended", { userId: id, reason: "account_deleted", count: ended });
  logEvent("account.deleted", { userId: id });
}
