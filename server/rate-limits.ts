import { RateLimiterPostgres, RateLimiterRes } from "rate-limiter-flexible";
import { query } from "./database.server";
import { normalizeAddress } from "./email-address.server";
import { service } from "./service";
import { hashToken } from "./tokens";

const window = 15 * 60; // seconds

/** How many an address and a client may have in one window. */
interface Limit {
  perAddress: RateLimiterPostgres;
  perClient: RateLimiterPostgres;
}

/** The ORM's pool, as a knex has it; looked up at each use, so that the counters are made once. */
const storeClient = {
  get client() {
    return service().orm.em.getKnex().client;
  },
};

function counter(keyPrefix: string, points: number): RateLimiterPostgres {
  return new RateLimiterPostgres({
    storeClient,
    storeType: "knex",
    tableName: "rate_limits",
    tableCreated: true,
    clearExpiredByTimeout: false,
    keyPrefix,
    points,
    duration: window,
  });
}

const limit = (name: string, { perAddress, perClient }: { perAddress: number; perClient: number }): Limit => ({
  perAddress: counter(`${name}:address`, perAddress),
  perClient: counter(`${name}:client`, perClient),
});

export const resetLimit = limit("reset", { perAddress: 5, perClient: 50 });
export const registrationLimit = limit("registration", { perAddress: 5, perClient: 50 });
export const loginLimit = limit("login", { perAddress: 10, perClient: 100 });

/** A fixed-length key, so that what was typed is neither stored nor bounded by the column. */
const keyOf = (typed: string) => hashToken(normalizeAddress(typed));

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
export function countAttempt(
  { perAddress, perClient }: Limit,
  address: string,
  client: string,
): Promise<number | null> {
  return query(async () => {
    const wait = await consume(perClient, client);
    return wait ?? consume(perAddress, keyOf(address));
  });
}

/** Takes back an attempt that turned out to be no failure. */
export function forgiveAttempt({ perAddress, perClient }: Limit, address: string, client: string): Promise<void> {
  return query(async () => {
    await perClient.reward(client);
    await perAddress.reward(keyOf(address));
  });
}

export function clearAttempts({ perAddress }: Limit, address: string): Promise<void> {
  return query(async () => {
    await perAddress.delete(keyOf(address));
  });
}
