import { config, loadConfig, setConfig } from "../config";
import { folderOf, hasNoDatabase } from "../database/embedded";
import { type Database, openDatabase } from "../database/orm";
import { setOrm } from "../database/unit-of-work";
import { isPrepared } from "../features/operator/schema";
import { commandEvents } from "../log";
import { processValue } from "../process/value";
import { JobQueue, setQueue } from "../queue/job-queue";
import { CommandError } from "./program";

export const statementLimit = 60_000; // ms; nobody waits for a page

export const withUnpreparedDatabase = <T>(work: (database: Database, queue: JobQueue) => Promise<T>): Promise<T> =>
  open(readDatabaseUrl(), work);

const held = processValue<Database>("held-database");

/** Lets commands in this process, the service's, use its database. */
export const holdDatabase = (database: Database | undefined): void => {
  held.current = database;
};

/** @throws CommandError on PostgreSQL */
export function dataFolder(): string {
  const folder = folderOf(held.current ? config().databaseUrl : readDatabaseUrl());
  if (folder === null)
    throw new CommandError("PostgreSQL has `pg_dump` and `pg_restore` for this (docs/operation.md).");
  return folder;
}

/** Runs `work` with the database of the configuration. The service runs enqueued jobs at its next poll or start. */
export async function withDatabase<T>(work: (database: Database) => Promise<T>): Promise<T> {
  if (held.current) return work(held.current);
  const databaseUrl = readDatabaseUrl();
  const folder = folderOf(databaseUrl);
  if (folder !== null && hasNoDatabase(folder)) {
    throw new CommandError(`There is no database in the folder ${folder}: \`latchkey database migrate\` makes one.`);
  }
  return open(databaseUrl, async (database, queue) => {
    if (!(await isPrepared(database, queue))) {
      throw new CommandError("The database is not up to date: `latchkey database migrate` runs the migrations.");
    }
    setOrm(database.orm);
    setQueue(queue);
    return work(database);
  });
}

function readDatabaseUrl(): string {
  const config = loadConfig(process.env);
  setConfig(config);
  return config.databaseDirectUrl ?? config.databaseUrl;
}

async function open<T>(databaseUrl: string, work: (database: Database, queue: JobQueue) => Promise<T>): Promise<T> {
  const database = await openDatabase(databaseUrl, null, statementLimit);
  const queue = new JobQueue(database.orm);
  const working = work(database, queue);
  const enqueueEvents = async () => {
    for (const event of commandEvents.splice(0)) {
      await queue.enqueue(database.orm.em.fork(), { task: "log_event", event });
    }
  };
  const [done, enqueued] = await Promise.allSettled([working, working.then(enqueueEvents, enqueueEvents)]);
  await queue.stop();
  await database.close();
  if (done.status === "rejected") throw done.reason;
  if (enqueued.status === "rejected") throw enqueued.reason;
  return done.value;
}
