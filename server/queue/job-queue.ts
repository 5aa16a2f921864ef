import type { EntityManager, Knex, MikroORM } from "@mikro-orm/postgresql";
import PgBoss from "pg-boss";
import { runStatement } from "../database/run-statement";
import { namingUnavailability } from "../database/unavailable";
import { EndpointGone, MailRefused, SimulatedFailure } from "../errors";
import { duringJob, errorFields, log, logEvent } from "../log";
import { processValue } from "../process-value";
import { bossDatabase, createQueues, mailQueue, webhookQueue } from "./boss";
import { givenUpKept } from "./given-up";
import type { Job, JobHandler, WebhookJob } from "./jobs";
import { type FetchedJob, fetchWebhooks, insertWebhooks } from "./webhook-statements";

export const concurrency = 20; // jobs at a time, and so calls to the mail service; its connections must not be fewer
export const databaseConcurrency = 4; // of them, those in the database; the embedded one is a single connection
const pollInterval = 5_000; // ms, for retries and for the jobs that another instance left
const purgeInterval = 600_000; // ms

/**
 * How long a job waits before it starts, in ms: a random time between the two. A job for a known address does more work
 * than one for an unknown one. Started at once, it would slow down the answer to its own request, or to the next one.
 */
const randomDelay = { from: 50, to: 450 };

/** Before now: pg-boss fetches jobs that were due earlier, and PGlite's clock has a resolution of one millisecond. */
const noDelay = { from: -1, to: -1 };

/** As pg-boss's interval text: as a number, pg-boss takes a negative one for none. */
const startAfter = (delay: number) => `${delay / 1000}`;

interface WaitingJobs {
  state: "created" | "retry";
  waiting: number;
  oldest: number;
}

/** By the index of pg-boss's own fetch, whose condition it repeats. */
const waitingJobs = {
  text: `select state, count(*)::int as waiting, extract(epoch from now() - min(created_on))::float as oldest
    from pgboss.job where name = $1 and state < 'active' group by state`,
  values: [mailQueue],
};

/**
 * Jobs in the service's own database, worked in this process at least once, with growing waits after failures.
 *
 * A job has two parts: its work in the database, for few jobs at a time, and its mail call. It is fetched only when one
 * of all places is free and keeps that until it ends. When the places are full, mails wait for each other, and an
 * attacker could see in the mails to addresses of his own how long a job for another address takes. So a job for an
 * address that gets no mail keeps its place as long as a recent mail call took, and fails and is retried as that did.
 */
export class JobQueue {
  readonly #boss: PgBoss;
  readonly #knex: Knex;
  readonly #handle: JobHandler;
  readonly #name: typeof mailQueue | typeof webhookQueue;
  readonly #delay: typeof noDelay;
  readonly #running = new Set<Promise<void>>();
  #poll: NodeJS.Timeout | undefined;
  #free = concurrency;
  #freeInDatabase = databaseConcurrency;
  #mayHaveMore = false;
  #fetching = false;
  #stopped = true;

  constructor(orm: MikroORM, handle: JobHandler, { delayed = false, webhooks = false } = {}) {
    this.#knex = orm.em.getKnex();
    this.#handle = handle;
    this.#name = webhooks ? webhookQueue : mailQueue;
    this.#delay = delayed ? randomDelay : noDelay;
    this.#boss = new PgBoss({
      db: bossDatabase(this.#knex),
      schedule: false,
      supervise: true,
      maintenanceIntervalSeconds: 30,
      archiveCompletedAfterSeconds: givenUpKept,
      deleteAfterSeconds: 60,
    });
    this.#boss.on("error", (error) => log.error(errorFields(error), "The maintenance of the job queue failed."));
  }

  async open(): Promise<void> {
    await this.#boss.start();
    await createQueues(this.#boss, this.#knex);
  }

  async exists(): Promise<boolean> {
    return (await this.#boss.isInstalled()) && (await this.#boss.getQueue(webhookQueue)) !== null;
  }

  /** Works new jobs at once. Jobs that wait already are worked from the first poll on, so that they do not slow the start. */
  work(): void {
    this.#stopped = false;
    this.#poll = setInterval(() => this.#wake(), pollInterval);
  }

  /** Enqueues within `em`'s transaction, if it has one. The job is worked after the commit and the delay. */
  async enqueue(em: EntityManager, job: Job): Promise<void> {
    const { from, to } = this.#delay;
    const delay = Math.round(from + Math.random() * (to - from));
    const transaction = em.getTransactionContext<Knex.Transaction>();
    await this.#boss.send(mailQueue, job, {
      db: bossDatabase(transaction ?? em.getKnex()),
      startAfter: startAfter(delay),
    });
    this.wakeAfter(transaction, delay);
  }

  /** When the transaction, if there is one, is committed, and the delay over. */
  wakeAfter(transaction: Knex.Transaction | undefined, delay = 0): void {
    const wakeWhenDue = () => void setTimeout(() => this.#wake(), delay + 5).unref();
    if (transaction) transaction.executionPromise.then(wakeWhenDue, () => {});
    else wakeWhenDue();
  }

  async drain(): Promise<void> {
    await this.#schedulePurge();
    for (let [job] = await this.#fetch(1); job; [job] = await this.#fetch(1)) await this.#work(job);
  }

  /** The jobs that wait, by pg-boss's state, and the seconds since the oldest was enqueued. @throws DatabaseUnavailable */
  async waiting(): Promise<Record<"created" | "retry", { waiting: number; oldest: number }>> {
    const states = { created: { waiting: 0, oldest: 0 }, retry: { waiting: 0, oldest: 0 } };
    const rows = await namingUnavailability(() => runStatement<WaitingJobs>(this.#knex, waitingJobs));
    for (const { state, waiting, oldest } of rows) states[state] = { waiting, oldest };
    return states;
  }

  #fetchNoMore(): void {
    this.#stopped = true;
    clearInterval(this.#poll);
  }

  async stop(): Promise<void> {
    this.#fetchNoMore();
    while (this.#running.size > 0) await Promise.all(this.#running);
    await this.#boss.stop({ graceful: false, close: false, wait: false });
  }

  #wake(): void {
    this.#mayHaveMore = true;
    if (!this.#fetching && !this.#stopped && this.#places() > 0) this.#run(this.#fetchDue());
  }

  #places(): number {
    return Math.min(this.#free, this.#freeInDatabase);
  }

  /** Logs a rejection, which would end the process; the next poll tries again. */
  #run(work: Promise<void>): void {
    const done = work.catch((error) => log.error(errorFields(error), "The job queue is not available."));
    this.#running.add(done);
    void done.finally(() => this.#running.delete(done));
  }

  async #fetchDue(): Promise<void> {
    this.#fetching = true;
    try {
      await this.#schedulePurge();
      while (this.#mayHaveMore && !this.#stopped && this.#places() > 0) {
        const asked = this.#places();
        this.#mayHaveMore = false;
        const jobs = await this.#fetch(asked);
        for (const job of jobs) this.#begin(job);
        if (jobs.length === asked) this.#mayHaveMore = true;
      }
    } finally {
      this.#fetching = false;
    }
  }

  #begin(job: FetchedJob): void {
    this.#free--;
    this.#freeInDatabase--;
    const leaveDatabase = () => {
      this.#freeInDatabase++;
      if (this.#mayHaveMore) this.#wake();
    };
    const work = this.#work(job, leaveDatabase).finally(() => {
      this.#free++;
      if (this.#mayHaveMore || this.#name === webhookQueue) this.#wake(); // the next one of its user waits
    });
    this.#run(work);
  }

  #fetch(batchSize: number): Promise<FetchedJob[]> {
    if (this.#name === webhookQueue) return runStatement(this.#knex, fetchWebhooks(batchSize));
    return this.#boss.fetch<Job>(mailQueue, { batchSize, includeMetadata: true });
  }

  async #work(job: FetchedJob, leaveDatabase = () => {}): Promise<void> {
    try {
      await duringJob(job.id, async () => {
        const enqueued = { id: job.id, at: new Date(job.createdOn) };
        const call = await this.#handle(job.data, enqueued).finally(leaveDatabase);
        await call?.();
      });
    } catch (error) {
      return duringJob(job.id, () => this.#fail(job, error));
    }
    await this.#boss.deleteJob(this.#name, job.id);
  }

  /** A job that is given up stays, as `cancelled` when refused, else as `failed`; one without a mail leaves nothing. */
  async #fail({ id, data, retryCount, retryLimit }: FetchedJob, error: unknown): Promise<void> {
    if (error instanceof EndpointGone) {
      this.#fetchNoMore();
      logEvent({ event: "webhook.stopped" });
    }
    const refusal = error instanceof MailRefused ? error.reason : null;
    const givenUp = refusal !== null || retryCount >= retryLimit;
    if (givenUp && error instanceof SimulatedFailure) return void (await this.#boss.deleteJob(mailQueue, id));
    const message = givenUp ? "A job failed and is given up." : "A job failed and will be retried.";
    log.warn({ task: data.task, ...errorFields(error) }, message);
    await this.#boss.fail(this.#name, id, errorFields(error));
    if (refusal !== null) await this.#boss.cancel(mailQueue, id);
    if (givenUp && "email" in data) logEvent({ event: "mail.failed", reason: refusal ?? "retries_exhausted" });
    if (givenUp && data.task === "webhook") logEvent({ event: "webhook.failed", reason: "retries_exhausted" });
  }

  #nextPurge = 0;

  async #schedulePurge(): Promise<void> {
    const now = Date.now();
    if (this.#name === webhookQueue || now < this.#nextPurge) return;
    await this.#boss.send(mailQueue, { task: "purge_expired" } satisfies Job, {
      startAfter: startAfter(this.#delay.from),
      singletonKey: "purge_expired",
      singletonSeconds: purgeInterval / 1000,
    });
    this.#nextPurge = now + purgeInterval;
  }
}

export async function handleNoJob(): Promise<never> {
  throw new Error("This process works no job.");
}

const provided = processValue<{ mails: JobQueue; webhooks: JobQueue | null }>("queue");

export function provideQueue(mails: JobQueue, webhooks: JobQueue | null = null): void {
  provided.current = { mails, webhooks };
}

export function enqueue(em: EntityManager, job: Job): Promise<void> {
  if (!provided.current) throw new Error("The job queue has not been opened.");
  return provided.current.mails.enqueue(em, job);
}

/** Within `em`'s transaction, which holds each user's row. */
export async function enqueueWebhooks(em: EntityManager, webhooks: WebhookJob[]): Promise<void> {
  const transaction = em.getTransactionContext<Knex.Transaction>();
  await runStatement(transaction ?? em.getKnex(), insertWebhooks(webhooks));
  provided.current?.webhooks?.wakeAfter(transaction);
}
