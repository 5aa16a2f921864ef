import { loadConfig, provideConfig } from "../config";
import { type Database, openDatabase } from "../database/orm";
import { provideOrm } from "../database/unit-of-work";
import { isPrepared } from "../features/schema.server";
import { handleNoJob, JobQueue, provideQueue } from "../queue/job-queue";
import { CommandError } from "./command";

/**
 * Opens the database of the configuration, whatever migrations it has, runs `work`, and closes it.
 *
 * @throws StartError when the configuration or the database cannot be used
 */
export async function withUnpreparedDatabase<T>(work: (database: Database, queue: JobQueue) => Promise<T>): Promise<T> {
  const config = loadConfig(process.env);
  provideConfig(config);
  const database = await openDatabase(config.databaseUrl);
  const queue = new JobQueue(database.orm, handleNoJob);
  try {
    return await work(database, queue);
  } finally {
    await queue.stop();
    await database.close();
  }
}

/**
 * Opens the database of the configuration, and the queue for what the features enqueue, and runs `work`. The service
 * works the jobs: at its next poll, or after its next start.
 *
 * @throws StartError when the configuration or the database cannot be used
 * @throws CommandError when a migration is missing
 */
export function withDatabase<T>(work: (database: Database) => Promise<T>): Promise<T> {
  return withUnpreparedDatabase(async (database, queue) => {
    if (!(await isPrepared(database, queue))) {
      throw new CommandError("The database is not up to date: `latchkey database migrate` runs the migrations.");
    }
    provideOrm(database.orm);
    provideQueue(queue);
    return work(database);
  });
}
