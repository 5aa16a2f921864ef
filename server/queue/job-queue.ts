import type { EntityManager, Knex, MikroORM } from "@mikro-orm/postgresql";
import DataLoader from "dataloader";
import PgBoss from "pg-boss";
import { runStatement } from "../database/run-statement";
import { translateConnectionErrors } from "../database/unavailable";
import { CallError, MailRefused, SimulatedFailure } from "../errors";
import { errorFields, log, logEvent } from "../log";
import { requiredValue } from "../process/value";
import { givenUpDays } from "../rules";
import { bossDatabase } from "./boss";
import { type Job, type JobHandler, mailQueue, type WebhookJob, webhookQueue } from "./jobs";
import { type QueueKind, Worker } from "./worker";

/** Uses the index of pg-boss's own fetch, because it repeats the index's condition. */
const waitingMails = {
  text: `select state, count(*)::int as waiting, extract(epoch from now() - min(created_on))::float as oldest
    from pgboss.job where name = $1 and state < 'active' group by state`,
  values: [mailQueue],
};

/** Without those in their last try, which pg-boss ends: a job that kills its process would otherwise never end. */
const interruptedJobs = {
  text: `update pgboss.job set state = 'retry' where state = 'active' and retry_count < retry_limit`,
};

/**
 * How long a job waits before it starts, in ms: a random time from `from` to `to`. A job for a known address does more
 * work than one for an unknown one. Started at once, it would slow down the answer to its own request, or to the next.
 */
export const randomDelay = { from: 50, to: 450 };

/** Before now: pg-boss fetches jobs that were due earlier, and PGlite's clock has a resolution of one millisecond. */
const noDelay = { from: -1, to: -1 };

/** The jobs in the service's own database: one queue for mails and other work, one for webhooks. */
export class JobQueue {
  readonly #boss: PgBoss;
  readonly #knex: Knex;
  readonly #delay: typeof noDelay;
  readonly #workers = new Map<string, Pick<Worker<never>, "wake" | "stop">>();
  /** Jobs that come while others are being stored are stored, and flushed to the disk, together after them. */
  readonly #insertion = new DataLoader(
    async (jobs: readonly PgBoss.JobInsert[]) => {
      this.#inserted = this.#boss.insert([...jobs]);
      await this.#inserted;
      return jobs.map(() => null);
    },
    { cache: false, batchScheduleFn: (run) => void this.#inserted.then(run, run) },
  );
  #inserted = Promise.resolve();

  constructor(orm: MikroORM, delay = noDelay) {
    this.#knex = orm.em.getKnex();
    this.#delay = delay;
    this.#boss = new PgBoss({
      db: bossDatabase(this.#knex),
      schedule: false,
      supervise: true,
      maintenanceIntervalSeconds: 30,
      archiveCompletedAfterSeconds: givenUpDays * 86_400,
      deleteAfterSeconds: 60,
    });
    this.#boss.on("error", (error) => log.error(errorFields(error), "The maintenance of the job queue failed."));
  }

  async open(): Promise<void> {
    await this.#boss.start();
  }

  async exists(): Promise<boolean> {
    return (await this.#boss.isInstalled()) && (await this.#boss.getQueue(webhookQueue)) !== null;
  }

  worker<Task extends Job | WebhookJob>(kind: QueueKind<Task>, handle: JobHandler<Task>): Worker<Task> {
    const worker = new Worker(this.#boss, this.#knex, kind, handle);
    this.#workers.set(kind.name, worker);
    return worker;
  }

  /** Makes the jobs of a killed process due, as pg-boss does after a minute. No other process may be working jobs. */
  async repeatInterrupted(): Promise<void> {
    await runStatement(this.#knex, interruptedJobs);
  }

  /** @param send if `null`, webhooks wait for a process that sends them */
  work(handle: JobHandler<Job>, send: JobHandler<WebhookJob> | null): void {
    this.worker(mails, handle).start();
    if (send) this.worker(webhooks, send).start();
  }

  /** Enqueues within `em`'s transaction, if it has one. The job runs after the commit and the delay. */
  async enqueue(em: EntityManager, data: Job): Promise<void> {
    const { from, to } = this.#delay;
    const delay = Math.round(from + Math.random() * (to - from));
    const startAfter = `${delay / 1000}`; // as text, an interval: pg-boss ignores a negative number
    const job = { name: mailQueue, data, startAfter };
    const transaction = em.getTransactionContext<Knex.Transaction>();
    if (transaction) await this.#boss.insert([job], { db: bossDatabase(transaction) });
    else await this.#insertion.load(job);
    this.#wake(mailQueue, transaction, delay);
  }

  /** Within `em`'s transaction, which holds each user's row. */
  async enqueueWebhooks(em: EntityManager, jobs: WebhookJob[]): Promise<void> {
    const transaction = em.getTransactionContext<Knex.Transaction>();
    await runStatement(transaction ?? em.getKnex(), insertWebhooks(jobs));
    this.#wake(webhookQueue, transaction);
  }

  /** Wakes the worker after the commit of the transaction, if there is one, and after the delay. */
  #wake(name: string, transaction: Knex.Transaction | undefined, delay = 0): void {
    const wakeWhenDue = () => void setTimeout(() => this.#workers.get(name)?.wake(), delay + 5).unref();
    if (transaction) transaction.executionPromise.then(wakeWhenDue, () => {});
    else wakeWhenDue();
  }

  /** The number of waiting mails by pg-boss's state, and the oldest's age in seconds. @throws DatabaseUnavailable */
  async waiting() {
    const states = { created: { waiting: 0, oldest: 0 }, retry: { waiting: 0, oldest: 0 } };
    type Row = { state: keyof typeof states; waiting: number; oldest: number };
    const rows = await translateConnectionErrors(() => runStatement<Row>(this.#knex, waitingMails));
    for (const { state, ...values } of rows) states[state] = values;
    return states;
  }

  async stop(): Promise<void> {
    await Promise.all([...this.#workers.values()].map((worker) => worker.stop()));
    await this.#boss.stop({ graceful: false, close: false, wait: false });
  }
}

export const mails: QueueKind<Job> = {
  name: mailQueue,
  ordered: false,
  judge: (error) => ({
    refusal: error instanceof MailRefused ? error.reason : null,
    leavesNothing: error instanceof SimulatedFailure,
  }),
  logGivenUp(job, refusal) {
    if ("email" in job) logEvent({ event: "mail.failed", reason: refusal ?? "retries_exhausted" });
  },
  isDue: "start_after < now()",
  order: "priority desc, created_on, id",
};

export const webhooks: QueueKind<WebhookJob> = {
  name: webhookQueue,
  ordered: true, // the end of a webhook makes the user's next one due
  /** 410: the application wants no webhook. */
  judge: (error) => (error instanceof CallError && error.status === 410 ? { stop: { event: "webhook.stopped" } } : {}),
  logGivenUp: () => logEvent({ event: "webhook.failed", reason: "retries_exhausted" }),
  // A webhook waits for all earlier ones of its user, also in a retry or other process. No policy of pg-boss does this.
  isDue: `start_after < now() and not exists (
    select from pgboss.job as earlier
    where name = $1 and singleton_key = due.singleton_key and state < 'completed'
      and (created_on, id) < (due.created_on, due.id))`,
  order: "start_after",
};

/**
 * The time of a change is read from the database's clock while the user's row is locked: a transaction may have started
 * before the one that it waited for. It is later than the time of every waiting webhook of the user: PGlite's clock has
 * a resolution of one millisecond, and every clock may be set back.
 */
const insertWebhooks = (webhooks: WebhookJob[]) => ({
  name: "insert-webhooks",
  text: `
    insert into pgboss.job (name, data, singleton_key, start_after, created_on,
      retry_limit, retry_delay, retry_backoff, expire_in, keep_until)
    select name, data, data #>> '{data,id}', now() - interval '1 millisecond',
      greatest(clock_timestamp(), (select max(created_on) + interval '1 microsecond' from pgboss.job
        where job.name = $1 and singleton_key = data #>> '{data,id}')),
      retry_limit, retry_delay, retry_backoff, expire_seconds * interval '1 second', 'infinity'
    from pgboss.queue cross join json_array_elements($2::json) as data where name = $1`,
  values: [webhookQueue, JSON.stringify(webhooks)],
});

export const [setQueue, queue] = requiredValue<JobQueue>("queue", "The job queue has not been opened.");

export const enqueue = (em: EntityManager, job: Job): Promise<void> => queue().enqueue(em, job);
