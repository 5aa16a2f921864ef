import type { Knex } from "@mikro-orm/postgresql";
import PgBoss from "pg-boss";
import { runStatement } from "../database/run-statement";
import { bossDatabase } from "./boss";
import { queue, retries } from "./job-queue";

/** Creates the queue's schema within a transaction. pg-boss's script has a transaction of its own, which is cut off. */
export async function createQueueSchema(transaction: Knex.Transaction): Promise<void> {
  const script = PgBoss.getConstructionPlans();
  const statements = /^\s*BEGIN;(.*);\s*COMMIT;\s*$/s.exec(script)?.[1];
  if (statements === undefined) throw new Error("pg-boss's script is not one transaction.");
  await runStatement(transaction, { text: statements });
  // The script's limit for its own transaction.
  await runStatement(transaction, { text: "set local idle_in_transaction_session_timeout = 0" });
  const boss = new PgBoss({ db: bossDatabase(transaction), schedule: false, supervise: false });
  await boss.createQueue(queue, { name: queue, ...retries });
}

/** The jobs that have not been done: those that wait, run or are retried, and those that were given up. */
export const unfinishedJobs = { table: "pgboss.job", where: "state <> 'completed'" };
