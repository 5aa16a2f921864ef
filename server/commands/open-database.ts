import { type Config, loadConfig, provideConfig } from "../config";
import { hasNoDatabase } from "../database/embedded";
import { type Database, openDatabase } from "../database/orm";
import { provideOrm } from "../database/unit-of-work";
import { isPrepared } from "../features/schema.server";
import { handleNoJob, JobQueue, provideQueue } from "../queue/job-queue";
import { CommandError } from "./program";

export const statementLimit = 60_000; // ms; nobody waits for a page

function readConfig(): Config {
  const config = loadConfig(process.env);
  provideConfig(config);
  return config;
}

/** An embedded database that does not exist would be created: in the wrong folder, where a command finds no account. */
function assertExists(databaseUrl: string): void {
  if (!databaseUrl.startsWith("pglite:")) return;
  const folder = databaseUrl.slice("pglite:".length);
  if (hasNoDatabase(folder)) {
    throw new CommandError(`There is no database in the folder ${folder}: \`latchkey database migrate\` makes one.`);
  }
}

async function open<T>(databaseUrl: string, work: (database: Database, queue: JobQueue) => Promise<T>): Promise<T> {
  const database = await openDatabase(databaseUrl, statementLimit);
  const queue = new JobQueue(database.orm, handleNoJob);
  try {
    return await work(database, queue);
  } finally {
    await queue.stop();
    await database.close();
  }
}

/**
 * Opens the database of the configuration, whatever migrations it has, runs `work`, and closes it. An embedded database
 * that does not exist is created.
 *
 * @throws StartError when the configuration or the database cannot be used
 */
export function withUnpreparedDatabase<T>(work: (database: Database, queue: JobQueue) => Promise<T>): Promise<T> {
  return open(readConfig().databaseUrl, work);
}

/**
 * Opens the database of the configuration, and the queue for what the features enqueue, and runs `work`. The service
 * works the jobs: at its next poll, or after its next start.
 *
 * @throws StartError when the configuration or the database cannot be used
 * @throws CommandError when there is no database, or a migration is missing
 */
export async function withDatabase<T>(work: (database: Database) => Promise<T>): Promise<T> {
  const { databaseUrl } = readConfig();
  assertExists(databaseUrl);
  return open(databaseUrl, async (database, queue) => {
    if (!(await isPrepared(database, queue))) {
      throw new CommandError("The database is not up to date: `latchkey database migrate` runs the migrations.");
    }
    provideOrm(database.orm);
    provideQueue(queue);
    return work(database);
  });
}
