import type { EntityManager } from "@mikro-orm/postgresql";
import ipaddr from "ipaddr.js";
import { sha256 } from "../../crypto/tokens";
import { RateLimit } from "../../database/entities";
import { commitWithoutFlush, prepared, preparedWithin } from "../../database/prepared";
import { query } from "../../database/unit-of-work";
import { DatabaseUnavailable } from "../../errors";
import { logEvent } from "../../log";
import { mailsPerQuarterHour as perAddress } from "../../rules";
import type { Visitor } from "../../visitor/visitor";
import { findAnyDevice, findDevice } from "../sessions/devices";
import { normalizeAddress, parseAddress } from "../users/email-address";

const quarterHour = 15 * 60; // seconds
const hour = 3_600; // seconds
const day = 24 * hour;

interface Limit {
  name: string;
  perNetwork: number; // in a quarter of an hour, as the next
  perAddress: number;
  perAddressAndDay?: number;
}

export const resetLimit: Limit = { name: "reset", perNetwork: 50, perAddress, perAddressAndDay: 20 };
export const registrationLimit: Limit = { name: "registration", perNetwork: 50, perAddress, perAddressAndDay: 20 };
export const loginLimit: Limit = { name: "login", perNetwork: 100, perAddress: 10 };

const loginsPerDevice = 10; // in a quarter of an hour

interface Counter {
  key: string;
  /** Counts only if every counter of an earlier stage has room: a refused attempt uses up no later limit. */
  stage: 0 | 1 | 2;
  maximum: number;
  /** Seconds. */
  window: number;
}

/** In the order in which their rows are locked. */
type Counters = Counter[];

const now = "(extract(epoch from now()) * 1000)::bigint";

const counted = (stage: number, condition = "true") => `
  insert into rate_limits as counter (key, points, expire)
  select key, 1, ${now} + seconds * 1000 from asked where stage = ${stage} and ${condition} order by position
  on conflict (key) do update set
    points = case when counter.expire <= ${now} then 1
      else least(counter.points + 1, (select maximum + 1 from asked where asked.key = counter.key)) end,
    expire = case when counter.expire <= ${now} then excluded.expire else counter.expire end
  returning key, points, expire`;

const fullSql = (stage: string) => `exists (select from ${stage} join asked using (key) where points > maximum)`;

export const countAttempt = (limit: Limit, address: string, network: string): Promise<number | null> =>
  count(countersOf(limit, address, network));

const challengeLimit = { name: "passkey", perNetwork: 300 }; // /login asks for one when it opens and every four minutes

/**
 * Counts a passkey's challenge for the user, else for the device, else for the network. Nobody else can use up the
 * limit of a user or a device.
 */
export async function countChallenge({ user, deviceToken, network }: Visitor & { user?: { id: string } }) {
  const owner = user?.id ?? (await findAnyDevice(deviceToken));
  if (owner === null) return count(networkCounters(challengeLimit, network));
  return count([{ key: `passkey:owner:${owner}`, stage: 0, maximum: challengeLimit.perNetwork, window: quarterHour }]);
}

/** Counts a mail about a sign-in from a network: somebody who knows the password could flood the mailbox. */
export const countSignInMail = (em: EntityManager, userId: string, { network }: Visitor): Promise<number | null> =>
  count(
    [{ key: `sign-in-mail:${userId}:${largeNetwork(network) ?? network}`, stage: 0, maximum: 3, window: hour }],
    em,
  );

/**
 * Runs an attempt to log in that is counted as failed until it has succeeded, so that simultaneous attempts do not all
 * find room. It counts for the browser's device if the device belongs to the account, else for the address and the
 * network. A passkey's sign-in has no address (`null`): it counts for the device, whatever its account, else for the
 * network. An attempt that throws is not counted: nothing was verified, as too many wait or the client has hung up.
 *
 * @returns the attempt's outcome, `null` for a failure; `wait` seconds, without an attempt, after too many failures
 */
export async function countLogin<Done>(visitor: Visitor, email: string | null, attempt: () => Promise<Done | null>) {
  const counters = await loginCounters(visitor, email);
  const wait = await count(counters);
  if (wait !== null) {
    logEvent({ event: "login.throttled" });
    return { wait };
  }
  const done = await attempt().catch(async (error: unknown) => {
    await takeBackCount(counters);
    throw error;
  });
  if (done !== null) await takeBackCount(counters);
  return done;
}

async function loginCounters({ network, deviceToken }: Visitor, email: string | null): Promise<Counters> {
  const device = await (email === null ? findAnyDevice(deviceToken) : findDevice(deviceToken, parseAddress(email)));
  if (device) return deviceCounters(device);
  return email === null ? networkCounters(loginLimit, network) : countersOf(loginLimit, email, network);
}

export function countersOf(limit: Limit, address: string, network: string): Counters {
  const { perAddress, perAddressAndDay } = limit;
  const key = keyOf(limit, address);
  return [
    ...networkCounters(limit, network),
    { key, stage: 1, maximum: perAddress, window: quarterHour },
    ...(perAddressAndDay ? ([{ key: `${key}:day`, stage: 2, maximum: perAddressAndDay, window: day }] as const) : []),
  ];
}

/** @param network an IPv4 address, or an IPv6 /64, whose /48 has four times the limit */
function networkCounters({ name, perNetwork }: Pick<Limit, "name" | "perNetwork">, network: string): Counters {
  const ofNetwork = (counted: string, maximum: number) =>
    ({ key: `${name}:client:${counted}`, stage: 0, maximum, window: quarterHour }) as const;
  const large = largeNetwork(network);
  return [...(large === null ? [] : [ofNetwork(large, perNetwork * 4)]), ofNetwork(network, perNetwork)];
}

/** The /48 of an IPv6 address, because providers assign a whole /48 to one customer; `null` for an IPv4 address. */
const largeNetwork = (network: string) =>
  ipaddr.IPv6.isValid(network) ? `${ipaddr.IPv6.networkAddressFromCIDR(`${network}/48`)}/48` : null;

// A counter stops at one above its maximum: otherwise simultaneous correct logins would block the address, because only
// the allowed ones are taken back.
const countAll = `
  with asked as (
    select * from unnest(?::text[], ?::int[], ?::int[], ?::int[])
      with ordinality as asked (key, stage, maximum, seconds, position)
  ),
  first as (${counted(0)}),
  second as (${counted(1, `not ${fullSql("first")}`)}),
  third as (${counted(2, `not ${fullSql("first")} and not ${fullSql("second")}`)})
  select max(expire) - ${now} as wait, case when ? then ${commitWithoutFlush} end
  from (select * from first union all select * from second union all select * from third) as counted
  join asked using (key) where points > maximum`;

/** `wait`: milliseconds until every counter has room; `null` when each has. */
type Counted = { wait: string | null };

const columns = ["key", "stage", "maximum", "window"] as const;

/**
 * Counts one attempt before the work that it allows: simultaneous attempts must not all see room. @returns `null`, or
 * the seconds until the next attempt is allowed
 */
export async function count(counters: Counters, em?: EntityManager): Promise<number | null> {
  const isWholeTransaction = em === undefined;
  const values = [...columns.map((column) => counters.map((counter) => counter[column])), isWholeTransaction];
  const counting = ["count-attempt", countAll, values] as const;
  const [row] = await (em ? preparedWithin<Counted>(em, ...counting) : prepared<Counted>(...counting));
  return row?.wait == null ? null : Math.max(1, Math.ceil(Number(row.wait) / 1000));
}

// Locks in the order in which `countAll` does: otherwise both could deadlock.
const takeBack = `
  update rate_limits set points = points - 1 where key in (
    select key from rate_limits where key = any(?::text[]) and points > 0 and expire > ${now}
    order by array_position(?::text[], key::text) for update)
  returning ${commitWithoutFlush}`;

/** Takes back an attempt that was no failure. Without the database, it stays counted: its outcome matters more. */
export async function takeBackCount(counters: Counters): Promise<void> {
  const keys = counters.map(({ key }) => key);
  await prepared("take-back-attempt", takeBack, [keys, keys]).catch((error: unknown) => {
    if (!(error instanceof DatabaseUnavailable)) throw error;
  });
}

/** When the next attempt for an address is allowed; `null` when it is allowed now. Counts nothing. */
export async function blockedUntil(limit: Limit, address: string): Promise<Date | null> {
  const key = keyOf(limit, address);
  const counters = await query((em) => em.find(RateLimit, { key: [key, `${key}:day`] }));
  const ends = counters
    .filter(({ key, points }) => points >= ((key.endsWith(":day") && limit.perAddressAndDay) || limit.perAddress))
    .map(({ expire }) => Number(expire))
    .filter((end) => end > Date.now());
  return ends.length > 0 ? new Date(Math.max(...ends)) : null;
}

/** Removes every count of an address and of devices, so that logins and mails are allowed at once. @returns how many */
export function clearAllAttempts(em: EntityManager, address: string, deviceTokenHashes: string[]): Promise<number> {
  const addresses = [resetLimit, registrationLimit, loginLimit].map((limit) => keyOf(limit, address));
  const devices = deviceTokenHashes.flatMap(deviceCounters).map(({ key }) => key);
  return em.nativeDelete(RateLimit, { key: [...addresses, ...addresses.map((key) => `${key}:day`), ...devices] });
}

/** For logins from a known browser. Address and network are not counted, so that nobody else can lock the owner out. */
const deviceCounters = (deviceTokenHash: string): Counters => [
  { key: `login:device:${deviceTokenHash}`, stage: 0, maximum: loginsPerDevice, window: quarterHour },
];

export async function clearAttempts(em: EntityManager, limit: Limit, address: string): Promise<void> {
  await em.nativeDelete(RateLimit, { key: keyOf(limit, address) });
}

/** A key of fixed length: the typed text is not stored and may be longer than the column. */
const keyOf = ({ name }: Limit, typed: string) => `${name}:address:${sha256(normalizeAddress(typed))}`;
