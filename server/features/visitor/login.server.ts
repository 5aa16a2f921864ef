import type { EntityManager } from "@mikro-orm/postgresql";
import {
  type Counters,
  clientCounters,
  count,
  countersOf,
  deviceCounters,
  loginLimit,
  signInMailCounters,
  takeBackCount,
} from "../../accounts/limits/rate-limits";
import { hashPassword, isOutdated, verifyPassword } from "../../accounts/passwords/password-hashing";
import { isSlowToNormalize } from "../../accounts/passwords/stored-hashes";
import { browserName } from "../../accounts/sessions/browser-name";
import { findAnyDevice, findDevice, rememberDevice } from "../../accounts/sessions/devices";
import { type Browser, type DeviceSignIn, startSession } from "../../accounts/sessions/sessions";
import { languageOf } from "../../accounts/users/changes";
import { parseAddress } from "../../accounts/users/email-address";
import { lockUser } from "../../accounts/users/users";
import { config } from "../../config";
import { User } from "../../database/entities";
import { passwordKinds } from "../../database/password-kinds";
import { prepared, query, unitOfWork } from "../../database/unit-of-work";
import type { Requester } from "../../door/request-facts.server";
import { HashingOverloaded } from "../../errors";
import { logEvent } from "../../log";
import { enqueue } from "../../queue/job-queue";

export interface LoginOrigin {
  client: string;
  deviceToken: string | null;
}

type CountedLogin = { counters: Counters; wait: null } | { wait: number };

async function loginCounters(email: string | null, { client, deviceToken }: LoginOrigin): Promise<Counters> {
  const device = await (email === null ? findAnyDevice(deviceToken) : findDevice(deviceToken, parseAddress(email)));
  if (device) return deviceCounters(device);
  return email === null ? clientCounters(loginLimit, client) : countersOf(loginLimit, email, client);
}

/**
 * Counts a login under the browser's device, when that belongs to the account, else under the address and the client. A
 * passkey's names no address (`null`): it counts under the device, whosever it is, else under the client.
 */
export async function countLogin(email: string | null, origin: LoginOrigin): Promise<CountedLogin> {
  const counters = await loginCounters(email, origin);
  const wait = await count(counters);
  if (wait === null) return { counters, wait };
  logEvent({ event: "login.throttled" });
  return { wait };
}

export interface Authenticated {
  id: string;
  email: string;
  passwordHash: string;
}

// Without MikroORM, which takes 0.25 ms longer for a known user's row than for none (median of 2,000 pairs): the time
// would tell which addresses have an account.
const credentials = `
  with recursive ${passwordKinds}
  select users.id, users.password_hash as "passwordHash",
    array(select kind from kinds where kind is not null) as kinds
  from (select 1) as always left join users on users.email = ? and users.suspended_at is null`;

type Credentials = { id: string | null; passwordHash: string | null; kinds: string[] };

/** The user of these credentials, as typed; `null`, after the same time, for every other pair. @throws HashingOverloaded */
export async function authenticate(
  typedEmail: string,
  password: string,
  requester?: Requester,
  counters: Counters = [],
): Promise<Authenticated | null> {
  const email = parseAddress(typedEmail);
  const [found] = config().passwords.on ? await prepared<Credentials>("credentials", credentials, [email]) : [];
  const { id, passwordHash: stored, kinds } = found ?? { id: null, passwordHash: null, kinds: [] };
  const verifying = found && verifyPassword(stored, password, kinds, requester);
  const matches = await verifying?.catch(async (error: unknown) => {
    await takeBackCount(counters); // nothing was verified: too many wait, or the client has hung up
    throw error;
  });
  if (!matches || !id || !stored || email === null) {
    logEvent({ event: "login.failed", reason: "wrong_credentials" });
    return null;
  }
  const verified = { id, email, passwordHash: stored };
  if (!isOutdated(stored) || isSlowToNormalize(password)) return verified;
  const passwordHash = await hashPassword(password, requester).catch((error: unknown) => {
    if (error instanceof HashingOverloaded) return null; // a later login renews the hash
    throw error;
  });
  if (passwordHash === null) return verified;
  const renewed = await query((em) => em.nativeUpdate(User, { id, passwordHash: stored }, { passwordHash }));
  // Another login renewed the hash, or a reset replaced it: the stored hash decides again.
  return renewed === 0 ? authenticate(typedEmail, password, requester, counters) : { ...verified, passwordHash };
}

/** Starts a session. The browser is known from now on, and one that was not is told to the owner. The caller holds the user's row. */
export async function startKnownSession(
  em: EntityManager,
  user: User,
  browser: Browser,
  { client, deviceToken }: LoginOrigin,
  by: "password" | "passkey",
): Promise<DeviceSignIn> {
  const session = await startSession(em, user.id, browser);
  const device = await rememberDevice(em, user.id, deviceToken);
  if (!device.isKnown && (await count(signInMailCounters(user.id, client), em)) === null) {
    const language = languageOf(user);
    const signIn = { by, browser: browserName(browser.userAgent, language), at: new Date().toISOString() };
    await enqueue(em, { task: "mail_new_sign_in", email: user.email, language, ...signIn });
  }
  return { session, deviceToken: device.token };
}

/** In one transaction; `null` when the account was suspended, or its password or address changed, since they were verified. */
export async function logIn(
  { id, email, passwordHash }: Authenticated,
  counters: Counters,
  browser: Browser,
  origin: LoginOrigin,
): Promise<DeviceSignIn | null> {
  const done = await unitOfWork(async (em) => {
    const user = await lockUser(em, { id, email, passwordHash, suspendedAt: null });
    return user && startKnownSession(em, user, browser, origin, "password");
  });
  if (!done) {
    logEvent({ event: "login.failed", userId: id, reason: "account_changed" });
    return null;
  }
  await takeBackCount(counters);
  logEvent({ event: "login.succeeded", userId: id });
  return done;
}
