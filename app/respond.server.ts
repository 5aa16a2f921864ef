import { DatabaseUnavailable } from "#server/features/health.server";

/**
 * Runs a loader or an action.
 *
 * @throws Response 503 when the database is unavailable
 */
export async function respond<T>(work: () => T | Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof DatabaseUnavailable)) throw error;
    throw new Response(null, { status: 503, statusText: "Service Unavailable" });
  }
}
