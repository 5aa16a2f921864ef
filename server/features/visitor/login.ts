import { countLogin } from "../../accounts/limits/rate-limits";
import { hashPassword, isOutdated, verifyPassword } from "../../accounts/passwords/password-hashing";
import { isSlowToNormalize } from "../../accounts/passwords/stored-hashes";
import { startKnownSession } from "../../accounts/sessions/sessions";
import { parseAddress } from "../../accounts/users/email-address";
import { lockUser } from "../../accounts/users/users";
import { config } from "../../config";
import { User } from "../../database/entities";
import { passwordKinds } from "../../database/password-kinds";
import { prepared } from "../../database/prepared";
import { query, unitOfWork } from "../../database/unit-of-work";
import { HashingOverloaded } from "../../errors";
import { logEvent } from "../../log";
import type { Visitor } from "../../visitor/visitor";

type TypedCredentials = Record<"email" | "password", string>;

/** Starts a session; `null` for wrong credentials; `wait` seconds after too many of them. @throws HashingOverloaded */
export function logIn(visitor: Visitor, typed: TypedCredentials) {
  return countLogin(visitor, typed.email, async () => {
    const verified = await authenticate(visitor, typed);
    return verified && startVerifiedSession(visitor, verified);
  });
}

export type Authenticated = Record<"id" | "email" | "passwordHash", string>;

const credentials = `
  with recursive ${passwordKinds}
  select users.id, users.password_hash as hash,
    array(select kind from kinds where kind is not null) as kinds
  from (select 1) as always left join users on users.email = ? and users.suspended_at is null`;

type Credentials = { id: string | null; hash: string | null; kinds: string[] };

/** The user of these typed credentials; `null`, after the same time, for every other pair. @throws HashingOverloaded */
export async function authenticate(visitor: Visitor, typed: TypedCredentials): Promise<Authenticated | null> {
  const { password } = typed;
  const email = parseAddress(typed.email);
  const [found] = config().passwords.on ? await prepared<Credentials>("credentials", credentials, [email]) : [];
  const { id, hash, kinds } = found ?? { id: null, hash: null, kinds: [] };
  const matches = found && (await verifyPassword(visitor, password, { hash, kinds }));
  if (!matches || !id || !hash || email === null) {
    logEvent({ event: "login.failed", reason: "wrong_credentials" });
    return null;
  }
  const verified = { id, email, passwordHash: hash };
  if (!isOutdated(hash) || isSlowToNormalize(password)) return verified;
  const passwordHash = await hashPassword(visitor, password).catch((error: unknown) => {
    if (error instanceof HashingOverloaded) return null; // a later login renews the hash
    throw error;
  });
  if (passwordHash === null) return verified;
  const renewed = await query((em) => em.nativeUpdate(User, { id, passwordHash: hash }, { passwordHash }));
  // Another login renewed the hash, or a reset replaced it: the stored hash decides again.
  return renewed === 0 ? authenticate(visitor, typed) : { ...verified, passwordHash };
}

/** Starts a session in one transaction; `null` if the account was suspended or changed since the verification. */
export async function startVerifiedSession(visitor: Visitor, { id, email, passwordHash }: Authenticated) {
  const done = await unitOfWork(async (em) => {
    const user = await lockUser(em, { id, email, passwordHash, suspendedAt: null });
    return user && startKnownSession(em, user, { visitor, way: "password" });
  });
  if (done) logEvent({ event: "login.succeeded", userId: id });
  else logEvent({ event: "login.failed", userId: id, reason: "account_changed" });
  return done;
}
