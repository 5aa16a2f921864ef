import { DatabaseUnavailable, HashingOverloaded } from "#server/errors";

const overloadEnds = 2; // seconds; 64 waiting hashes take less

const unavailable = (headers: Record<string, string> = {}) =>
  new Response(null, { status: 503, statusText: "Service Unavailable", headers });

/**
 * Runs a loader or an action.
 *
 * @throws Response 503 when the database is unavailable, or too many passwords wait to be hashed
 */
export async function respond<T>(work: () => T | Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof DatabaseUnavailable) throw unavailable();
    if (error instanceof HashingOverloaded) throw unavailable({ "Retry-After": String(overloadEnds) });
    throw error;
  }
}
