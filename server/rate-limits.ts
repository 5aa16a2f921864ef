import { RateLimiterPostgres, RateLimiterRes } from "rate-limiter-flexible";
import { query } from "./database.server";
import { service } from "./service";
import { hashToken } from "./tokens";

const window = 15 * 60; // seconds

/** How many an address and a client may have in one window. */
interface Limit {
  name: string;
  perAddress: number;
  perClient: number;
}

export const mailLimit = (kind: "reset" | "registration"): Limit => ({ name: kind, perAddress: 5, perClient: 50 });
export const loginLimit: Limit = { name: "login", perAddress: 10, perClient: 100 };

function counter(keyPrefix: string, points: number): RateLimiterPostgres {
  return new RateLimiterPostgres({
    storeClient: service().orm.em.getKnex(),
    storeType: "knex",
    tableName: "rate_limits",
    tableCreated: true,
    clearExpiredByTimeout: false,
    keyPrefix,
    points,
    duration: window,
  });
}

const clientCounter = ({ name, perClient }: Limit) => counter(`${name}:client`, perClient);
const addressCounter = ({ name, perAddress }: Limit) => counter(`${name}:address`, perAddress);

/** A fixed-length key, so that what was typed is neither stored nor bounded by the column. */
const keyOf = (typed: string) => hashToken(typed.trim().replace(/[A-Z]/g, (letter) => letter.toLowerCase()));

async function consume(limiter: RateLimiterPostgres, key: string): Promise<number | null> {
  try {
    await limiter.consume(key);
    return null;
  } catch (refusal) {
    if (refusal instanceof RateLimiterRes) return Math.max(1, Math.ceil(refusal.msBeforeNext / 1000));
    throw refusal;
  }
}

/**
 * Counts one attempt, atomically, before the work that it allows: attempts that arrive at once cannot all see room.
 *
 * @returns `null`, or the seconds until the next attempt is allowed
 */
export function countAttempt(limit: Limit, address: string, client: string): Promise<number | null> {
  return query(async () => {
    const wait = await consume(clientCounter(limit), client);
    return wait ?? consume(addressCounter(limit), await keyOf(address));
  });
}

/** Takes back an attempt that turned out to be no failure. */
export function forgiveAttempt(limit: Limit, address: string, client: string): Promise<void> {
  return query(async () => {
    await clientCounter(limit).reward(client);
    await addressCounter(limit).reward(await keyOf(address));
  });
}

export function clearAttempts(limit: Limit, address: string): Promise<void> {
  return query(async () => {
    await addressCounter(limit).delete(await keyOf(address));
  });
}
