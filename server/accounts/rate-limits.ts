import { RateLimiterPostgres, RateLimiterRes } from "rate-limiter-flexible";
import { orm, query } from "../database/unit-of-work";
import { sha256 } from "../sha256";
import { normalizeAddress } from "./email-address";

const window = 15 * 60; // seconds

/** How many attempts an address and a client have in one window. */
interface Limit {
  perAddress: RateLimiterPostgres;
  perClient: RateLimiterPostgres;
}

/** The ORM's knex pool. Read at each use, because the counters are created before the ORM. */
const storeClient = {
  get client() {
    return orm().em.getKnex().client;
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

/** A key of fixed length: the typed text is not stored and may be longer than the column. */
const keyOf = (typed: string) => sha256(normalizeAddress(typed));

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

/** Takes back an attempt that was not a failure. */
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
