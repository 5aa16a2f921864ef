import { DatabaseUnavailable } from "../errors";
import { errorFields, log } from "../log";

/** @throws DatabaseUnavailable in the place of a failed connection's error */
export async function translateConnectionErrors<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!isConnectionFailure(error)) throw error;
    log.warn(errorFields(error), "The database is not available.");
    throw new DatabaseUnavailable("The database is not available.", { cause: error });
  }
}

/** Node's network errors, PostgreSQL's error classes 08, 53 and 57, and 55000: the database allows no connections. */
const connectionFailures =
  /^(?:ECONN\w+|EPIPE|ENOENT|ENOTFOUND|EAI_AGAIN|ETIMEDOUT|EHOSTUNREACH|08\w{3}|53\w{3}|57P0[1-5]|57014|55000|25006)$/;

/** Errors without a code: of node-postgres, of the pool, and of knex's transaction after a BEGIN that failed. */
const connectionMessages =
  /Connection terminated|timeout expired|Timeout acquiring a connection|Client has encountered a connection error|Query read timeout|Transaction query already complete/;

export function isConnectionFailure(error: unknown): boolean {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    const { code } = cause as { code?: unknown };
    if (typeof code === "string" && connectionFailures.test(code)) return true;
    if (connectionMessages.test(cause.message)) return true;
  }
  return false;
}
