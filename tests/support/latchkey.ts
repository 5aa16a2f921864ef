import { afterAll, beforeAll, beforeEach, expect, vi } from "vitest";
import type { Config, Environment } from "#server/config";
import { entityTables } from "#server/database/copy-rows";
import * as databases from "#server/database/orm";
import { setOrm } from "#server/database/unit-of-work";
import { handleWebhook } from "#server/features/application/webhooks";
import { handleJob } from "#server/job-handlers";
import { context } from "#server/process/context";
import { processValue } from "#server/process/value";
import { JobQueue, mails, setQueue, webhooks } from "#server/queue/job-queue";
import { createUser, type NewAccount, signedIn } from "./accounts";
import { commandHere, type Finished } from "./command";
import { configure } from "./configure";
import { recordLog } from "./logged";
import { mailsIn } from "./printed-mails";
import { connectToCopy } from "./template-copy";

const entities = entityTables().map(({ table }) => table);
const tables = [...entities.filter((table) => table !== "installation"), "pgboss.job"];

/** Every table's rows in a stable order, by one statement, to compare before and after. */
function snapshot({ orm }: databases.Database, except: string[] = []): Promise<unknown[]> {
  const rowsOf = (table: string) => `select '${table}' as "table", t::text as "row" from ${table} t`;
  const compared = tables.filter((name) => !except.includes(name)).map(rowsOf);
  return orm.em.fork().execute(`${compared.join(" union all ")} order by 1, 2`);
}

/** The database of a worker, which is emptied before each test: a start takes longer than most files. */
const ofWorker = processValue<Promise<databases.Database>>("test-database");

const openCopy = async () => databases.connect(await connectToCopy());

function openOfWorker(): Promise<databases.Database> {
  ofWorker.current ??= openCopy();
  return ofWorker.current;
}

/**
 * On the worker's database, emptied before each test. On a new one where plans of statements are the subject, which depend
 * on what a table has held, and where a test sets the clock, which is PGlite's, too. Jobs run only in `drain`; mails are read from standard output.
 */
export function startLatchkey(environment: Environment = {}, { onNewDatabase = false } = {}) {
  let database: databases.Database;
  let queue: JobQueue;
  let drains: Record<"mails" | "webhooks", { drain(): Promise<void> }>;
  let output = "";
  let current: Environment = environment;
  const log = recordLog();

  function use(settings: Environment): Config {
    current = settings;
    return configure(settings);
  }

  beforeAll(async () => {
    database = await (onNewDatabase ? openCopy() : openOfWorker());
    queue = new JobQueue(database.orm);
    await queue.open();
    setOrm(database.orm);
    drains = { mails: queue.worker(mails, handleJob), webhooks: queue.worker(webhooks, handleWebhook) };
    setQueue(queue);
  });

  beforeEach(async () => {
    // In the embedded database, emptying small tables by `truncate` takes 55 ms of CPU, by `delete` 5.
    await database.orm.em.fork().execute(tables.map((table) => `delete from ${table}`).join(";"));
    use(environment);
    output = "";
    vi.spyOn(process.stdout, "write").mockImplementation((chunk) => {
      output += String(chunk);
      return true;
    });
  });

  afterAll(async () => {
    await queue.stop();
    if (onNewDatabase) await database.close();
    // Rows that were deleted stay in the tables until a vacuum, and every later file would read past them.
    else await database.orm.em.fork().execute("vacuum");
  });

  return {
    /** Replaces the configuration until the end of the test. */
    configure: (more: Environment): Config => use({ ...environment, ...more }),
    em: () => database.orm.em.fork(),
    createUser: (account?: NewAccount) => createUser(database.orm.em.fork(), account),
    async signedIn(user: string | NewAccount = {}, userAgent?: string): Promise<string> {
      return signedIn(typeof user === "string" ? user : await createUser(database.orm.em.fork(), user), userAgent);
    },
    execute: <T>(sql: string, values: unknown[] = []) => database.orm.em.fork().execute<T[]>(sql, values),
    /** Counts `points` of a quarter of an hour that has just begun. */
    countUp: (key: string, points: number) =>
      database.orm.em
        .fork()
        .execute("insert into rate_limits values (?, ?, extract(epoch from now()) * 1000 + 900000)", [key, points]),
    snapshot: () => snapshot(database),
    /** The result of `work`, which must not change a row, but of the tables `except`. */
    async unchanged<T>(
      work: () => Promise<T>,
      ...except: ("rate_limits" | "sessions" | "passkey_challenges" | "account_events")[]
    ): Promise<T> {
      const before = await snapshot(database, except);
      const result = await work();
      expect(await snapshot(database, except)).toEqual(before);
      return result;
    },
    async withoutTable(table: string, work: () => Promise<unknown>): Promise<void> {
      const rename = (from: string, to: string) =>
        database.orm.em.fork().execute(`alter table ${from} rename to ${to}`);
      await rename(table, "gone");
      try {
        await work();
      } finally {
        await rename("gone", table);
      }
    },
    async jobs(): Promise<unknown[]> {
      const rows = await database.orm.em.fork().execute<{ data: unknown }[]>("select data from pgboss.job");
      return rows.map(({ data }) => data);
    },
    /** Runs a command in this process, on this database, with this configuration. */
    async command(...words: string[]): Promise<Finished> {
      vi.spyOn(databases, "openDatabase").mockResolvedValue({ ...database, close: async () => {} });
      const settings = { NODE_ENV: "test", ...current, DATABASE_URL: "postgresql://localhost/this-one" };
      const logged = log.lines().length;
      const finished = await context.run({ actor: "cli" }, () => commandHere(words, settings));
      setOrm(database.orm);
      setQueue(queue);
      configure(current);
      const events = log
        .lines()
        .slice(logged)
        .map((line) => JSON.parse(line))
        .filter(({ event }) => event)
        .map(({ level, time, ...event }) => event);
      return { ...finished, events };
    },
    drain: () => drains.mails.drain(),
    drainWebhooks: () => drains.webhooks.drain(),
    output: () => output,
    logLines: log.lines,
    events: log.events,
    mails: () => mailsIn(output),
  };
}

export type Latchkey = ReturnType<typeof startLatchkey>;
