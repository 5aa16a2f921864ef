import type { EntityManager, Knex, MikroORM } from "@mikro-orm/postgresql";
import PgBoss from "pg-boss";
import { runStatement } from "../database/run-statement";
import { namingUnavailability } from "../database/unavailable";
import { errorFields, log } from "../log";
import { processValue } from "../process-value";
import { bossDatabase, createQueues, mailQueue, webhookQueue } from "./boss";
import { givenUpKept } from "./given-up";
import type { Job, JobHandler, WebhookJob } from "./jobs";
import { mails, waitingMails } from "./mails";
import { insertWebhooks, webhooks } from "./webhooks";
import { Worker } from "./worker";

/**
 * How long a job waits before it starts, in ms: a random time between the two. A job for a known address does more work
 * than one for an unknown one. Started at once, it would slow down the answer to its own request, or to the next one.
 */
export const randomDelay = { from: 50, to: 450 };

/** Before now: pg-boss fetches jobs that were due earlier, and PGlite's clock has a resolution of one millisecond. */
const noDelay = { from: -1, to: -1 };

interface WaitingJobs {
  state: "created" | "retry";
  waiting: number;
  oldest: number;
}

/** The jobs in the service's own database: one queue for mails and other work, one for webhooks. */
export class JobQueue {
  readonly #boss: PgBoss;
  readonly #knex: Knex;
  readonly #delay: typeof noDelay;
  readonly #workers = new Map<string, Worker>();

  constructor(orm: MikroORM, delay = noDelay) {
    this.#knex = orm.em.getKnex();
    this.#delay = delay;
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

  worker(kind: typeof mails, handle: JobHandler): Worker {
    const worker = new Worker(this.#boss, this.#knex, kind, handle);
    this.#workers.set(kind.name, worker);
    return worker;
  }

  /** @param sendsWebhooks if false, webhooks wait for a process that sends them */
  work(handle: JobHandler, sendsWebhooks: boolean): void {
    for (const kind of sendsWebhooks ? [mails, webhooks] : [mails]) this.worker(kind, handle).start();
  }

  /** Enqueues within `em`'s transaction, if it has one. The job runs after the commit and the delay. */
  async enqueue(em: EntityManager, job: Job): Promise<void> {
    const { from, to } = this.#delay;
    const delay = Math.round(from + Math.random() * (to - from));
    const transaction = em.getTransactionContext<Knex.Transaction>();
    await this.#boss.send(mailQueue, job, {
      db: bossDatabase(transaction ?? em.getKnex()),
      startAfter: `${delay / 1000}`, // as text, an interval: pg-boss ignores a negative number
    });
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
  async waiting(): Promise<Record<"created" | "retry", { waiting: number; oldest: number }>> {
    const states = { created: { waiting: 0, oldest: 0 }, retry: { waiting: 0, oldest: 0 } };
    const rows = await namingUnavailability(() => runStatement<WaitingJobs>(this.#knex, waitingMails));
    for (const { state, waiting, oldest } of rows) states[state] = { waiting, oldest };
    return states;
  }

  async stop(): Promise<void> {
    await Promise.all([...this.#workers.values()].map((worker) => worker.stop()));
    await this.#boss.stop({ graceful: false, close: false, wait: false });
  }
}

const provided = processValue<JobQueue>("queue");

export function provideQueue(queue: JobQueue): void {
  provided.current = queue;
}

function queue(): JobQueue {
  if (!provided.current) throw new Error("The job queue has not been opened.");
  return provided.current;
}

export const enqueue = (em: EntityManager, job: Job): Promise<void> => queue().enqueue(em, job);

export const enqueueWebhooks = (em: EntityManager, jobs: WebhookJob[]): Promise<void> =>
  queue().enqueueWebhooks(em, jobs);
