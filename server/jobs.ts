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
const places = 4; // jobs at a time
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

/** pg-boss takes what was due before now, and PGlite's clock stands still for a millisecond. */
const noDelay: Delay = { from: -1, to: -1 };

/** A delay in ms for pg-boss, which takes a negative number of seconds for none, but an interval at its word. */
const startAfter = (delay: number) => `${delay / 1000}`;

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
  #free = places;
  #mayHaveMore = false;
  #taking = false;
  #stopped = true;

  constructor(orm: MikroORM, handle: JobHandler, delay: Delay = noDelay) {
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

  /** Works what will come, and from the first poll on what is waiting: the first pages need not wait for that. */
  work(): void {
    this.#stopped = false;
    this.#poll = setInterval(() => this.#wake(), pollInterval);
  }

  /** Within `em`'s transaction, or at once where it has none; worked when that is committed and the delay is over. */
  async enqueue(em: EntityManager, job: Job): Promise<void> {
    const { from, to } = this.#delay;
    const delay = Math.round(from + Math.random() * (to - from));
    const transaction = em.getTransactionContext<Knex.Transaction>();
    await this.#boss.send(queue, job, { db: database(transaction ?? em.getKnex()), startAfter: startAfter(delay) });
    const wakeWhenDue = () => void setTimeout(() => this.#wake(), delay + 5).unref();
    if (transaction) transaction.executionPromise.then(wakeWhenDue, () => {});
    else wakeWhenDue();
  }

  /** Works every job that is due; resolves when none is left. */
  async drain(): Promise<void> {
    await this.#schedulePurge();
    for (let [job] = await this.#fetch(1); job; [job] = await this.#fetch(1)) await this.#work(job);
  }

  /** Takes no further job and waits for those that run. */
  async stop(): Promise<void> {
    this.#stopped = true;
    clearInterval(this.#poll);
    while (this.#running.size > 0) await Promise.all(this.#running);
    await this.#boss.stop({ graceful: false, close: false, wait: false });
  }

  #wake(): void {
    this.#mayHaveMore = true;
    if (!this.#taking && !this.#stopped && this.#free > 0) this.#run(this.#take());
  }

  /** Nothing that goes wrong here ends the process: the next poll tries again. */
  #run(work: Promise<void>): void {
    const done = work.catch((error) => log.error(describe(error), "The job queue is not available."));
    this.#running.add(done);
    void done.finally(() => this.#running.delete(done));
  }

  /** Takes as many jobs at once as there are places for, as long as there may be more. */
  async #take(): Promise<void> {
    this.#taking = true;
    try {
      await this.#schedulePurge();
      while (this.#mayHaveMore && !this.#stopped && this.#free > 0) {
        const asked = this.#free;
        this.#mayHaveMore = false;
        const jobs = await this.#fetch(asked);
        for (const job of jobs) this.#begin(job);
        if (jobs.length === asked) this.#mayHaveMore = true;
      }
    } finally {
      this.#taking = false;
    }
  }

  #begin(job: PgBoss.Job<Job>): void {
    this.#free--;
    const work = this.#work(job).finally(() => {
      this.#free++;
      if (this.#mayHaveMore) this.#wake();
    });
    this.#run(work);
  }

  #fetch(batchSize: number): Promise<PgBoss.Job<Job>[]> {
    return this.#boss.fetch<Job>(queue, { batchSize });
  }

  async #work(job: PgBoss.Job<Job>): Promise<void> {
    try {
      await duringJob(job.id, () => this.#handle(job.data));
    } catch (error) {
      log.warn({ jobId: job.id, task: job.data.task, ...describe(error) }, "A job failed and will be tried again.");
      await this.#boss.fail(queue, job.id, describe(error));
      return;
    }
    await this.#boss.deleteJob(queue, job.id);
  }

  #nextPurge = 0;

  async #schedulePurge(): Promise<void> {
    const now = Date.now();
    if (now < this.#nextPurge) return;
    await this.#boss.send(queue, { task: "purge_expired" } satisfies Job, {
      startAfter: startAfter(this.#delay.from),
      singletonKey: "purge_expired",
      singletonSeconds: purgeInterval / 1000,
    });
    this.#nextPurge = now + purgeInterval;
  }
}
