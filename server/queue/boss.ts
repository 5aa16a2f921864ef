import type { Knex } from "@mikro-orm/postgresql";
import PgBoss from "pg-boss";
import { runStatement } from "../database/run-statement";
import { mailQueue, retries, webhookQueue } from "./jobs";

/** The jobs that have not been done: those that wait, run or are retried, and those that were given up. */
export const unfinishedJobs = { table: "pgboss.job", where: "state <> 'completed'" };

/** Creates or upgrades the queue's schema. */
export async function prepareQueues(knex: Knex): Promise<void> {
  const boss = new PgBoss({ db: bossDatabase(knex), schedule: false, supervise: false });
  await boss.start();
  await createQueues(boss, knex);
  await boss.stop({ graceful: false, close: false, wait: false });
}

/** Creates the queue's schema within a transaction. pg-boss's script has a transaction of its own, which is cut off. */
export async function createQueueSchema(transaction: Knex.Transaction): Promise<void> {
  const statements = /^\s*BEGIN;(.*);\s*COMMIT;\s*$/s.exec(PgBoss.getConstructionPlans())?.[1];
  if (statements === undefined) throw new Error("pg-boss's script is not one transaction.");
  await runStatement(transaction, { text: statements });
  // The script's limit for its own transaction.
  await runStatement(transaction, { text: "set local idle_in_transaction_session_timeout = 0" });
  await createQueues(new PgBoss({ db: bossDatabase(transaction), schedule: false, supervise: false }), transaction);
}

async function createQueues(boss: PgBoss, knex: Knex): Promise<void> {
  for (const name of [mailQueue, webhookQueue]) await boss.createQueue(name, { name, ...retries });
  await indexJobs(knex);
}

// pg-boss's own index does not order the due jobs: each fetch of a mail read and sorted them, which took 160 ms with
// 100,000 jobs. `start_after` is a column of the first index, because jobs to retry, which are not due, come before
// newer ones. The second index finds the earlier webhooks of a user.
const indexes = {
  job_waiting_index: `execute (select format('create index job_waiting_index on pgboss.%I
      (priority desc, created_on, id, start_after) where state < ''active''', partition_name)
    from pgboss.queue where name = '${mailQueue}')`,
  job_order_index:
    "create index job_order_index on pgboss.job (singleton_key, created_on) where singleton_key is not null",
};

/** One transaction for each: both together would keep the lock of a partition while they wait for that of the table. */
export async function indexJobs(knex: Knex): Promise<void> {
  for (const [name, create] of Object.entries(indexes)) {
    const text = `do $$ begin if to_regclass('pgboss.${name}') is null then ${create}; end if; end $$`;
    await runStatement(knex, { text });
  }
}

/** Runs pg-boss on the ORM's own connection: PGlite has only one, and a job belongs to its caller's transaction. */
export function bossDatabase(knex: Knex): PgBoss.Db {
  return {
    async executeSql(text, values) {
      return { rows: await runStatement(knex, { name: values && nameOf(text), text, values }) };
    },
  };
}

const names = new Map<string, string>();

/** pg-boss's statements get names, so that a connection plans each of them once. */
function nameOf(text: string): string {
  const name = names.get(text) ?? `pgboss:${names.size}`;
  names.set(text, name);
  return name;
}
