import type { EntityManager, Knex, MikroORM } from "@mikro-orm/postgresql";
import PgBoss from "pg-boss";
import { describe, duringJob, log } from "./log";
import { runStatement } from "./statement";

/** All that a job ever carries: what to do, and for which address. */
export type Job =
  | {
      task: "mail_password_reset" | "mail_registration" | "mail_password_changed" | "mail_provider_linked";
      email: string;
    }
  | { task: "purge_expired" };

export type JobHandler = (job: Job) => Promise<void>;

const queue = "latchkey";
const lanes = 4;
const pollInterval = 5_000; // ms, for retries and for what another instance left behind
const purgeInterval = 600_000; // ms

// Retries wait 10–20 s, then twice as long each time: 13 of them take from 23 to 45 hours.
const retries = { retryLimit: 13, retryDelay: 10, retryBackoff: true, expireInSeconds: 60 };

/** pg-boss's statements, named so that a connection plans each of them once. */
const names = new Map<string, string>();

function nameOf(text: string): string {
  const name = names.get(text) ?? `pgboss:${names.size}`;
  names.set(text, name);
  return name;
}

/** pg-boss runs on the ORM's own connection: PGlite has only one, and a job belongs to its transaction. */
function database(knex: Knex): PgBoss.Db {
  return {
    async executeSql(text, values) {
      const name = values && nameOf(text);
      return { rows: await runStatement(knex, { name, text, values }) };
    },
  };
}

/** How long a job waits before it begins, in ms: a random time between both. */
interface Delay {
  from: number;
  to: number;
}

/**
 * A job for a known address does more than one for an unknown address. Begun at once, it would slow down the very
 * answer to the request that asked for it, or always the next one, and a clock would tell which addresses have an
 * account. A random wait, wide against the time of a request, spreads it over requests that it has nothing to do with.
 */
export const unrelatedDelay: Delay = { from: 50, to: 450 };

/**
 * Jobs on the service's own database, worked in this process: enqueued in the transaction that asks for them, at
 * least once each, with growing waits after a failure.
 */
export class JobQueue {
  readonly #boss: PgBoss;
  readonly #handle: JobHandler;
  readonly #delay: Delay;
  readonly #running = new Set<Promise<void>>();
  #poll: NodeJS.Timeout | undefined;
  #woken = false;
  #stopped = true;

  constructor(orm: MikroORM, handle: JobHandler, delay: Delay = { from: 0, to: 0 }) {
    this.#handle = handle;
    this.#delay = delay;
    this.#boss = new PgBoss({
      db: database(orm.em.getKnex()),
      schedule: false,
      supervise: true,
      maintenanceIntervalSeconds: 30,
    });
    this.#boss.on("error", (error) => log.error(describe(error), "The job queue's upkeep failed."));
  }

  /** Creates or migrates the queue's schema; nothing is worked yet. */
  async open(): Promise<void> {
    await this.#boss.start();
    await this.#boss.createQueue(queue, { name: queue, ...retries });
  }

  /** Works what is waiting and what will come. */
  work(): void {
    this.#stopped = false;
    this.#poll = setInterval(() => this.#wake(), pollInterval);
    this.#wake();
  }

  /** Within `em`'s transaction, or at once where it has none; worked when that is committed and the delay is over. */
  async enqueue(em: EntityManager, job: Job): Promise<void> {
    const { from, to } = this.#delay;
    const delay = Math.round(from + Math.random() * (to - from));
    const transaction = em.getTransactionContext<Knex.Transaction>();
    await this.#boss.send(queue, job, { db: database(transaction ?? em.getKnex()), startAfter: delay / 1000 });
    const wakeWhenDue = () => void setTimeout(() => this.#wake(), delay + 5).unref();
    if (transaction) transaction.executionPromise.then(wakeWhenDue, () => {});
    else wakeWhenDue();
  }

  /** Works every job that is due; resolves when none is left. */
  async drain(): Promise<void> {
    while (await this.#workOne());
  }

  /** Takes no further job and waits for those that run. */
  async stop(): Promise<void> {
    this.#stopped = true;
    clearInterval(this.#poll);
    await Promise.all(this.#running);
    await this.#boss.stop({ graceful: false, close: false, wait: false });
  }

  #wake(): void {
    this.#woken = true;
    if (this.#stopped || this.#running.size >= lanes) return;
    const lane = this.#lane().catch((error) => log.error(describe(error), "The job queue is not available."));
    this.#running.add(lane);
    void lane.finally(() => this.#running.delete(lane));
  }

  async #lane(): Promise<void> {
    do {
      this.#woken = false;
      while (!this.#stopped && (await this.#workOne()));
    } while (this.#woken && !this.#stopped);
  }

  async #workOne(): Promise<boolean> {
    await this.#schedulePurge();
    const [job] = await this.#boss.fetch<Job>(queue);
    if (!job) return false;
    if (this.#running.size > 0) this.#wake();
    try {
      await duringJob(job.id, () => this.#handle(job.data));
    } catch (error) {
      log.warn({ jobId: job.id, task: job.data.task, ...describe(error) }, "A job failed and will be tried again.");
      await this.#boss.fail(queue, job.id, describe(error));
      return true;
    }
    await this.#boss.deleteJob(queue, job.id);
    return true;
  }

  #nextPurge = 0;

  async #schedulePurge(): Promise<void> {
    const now = Date.now();
    if (now < this.#nextPurge) return;
    await this.#boss.send(queue, { task: "purge_expired" } satisfies Job, {
      singletonKey: "purge_expired",
      singletonSeconds: purgeInterval / 1000,
    });
    this.#nextPurge = now + purgeInterval;
  }
}
