import { AsyncResource } from "node:async_hooks";
import type { Knex } from "@mikro-orm/postgresql";
import type PgBoss from "pg-boss";
import { commitWithoutFlush } from "../database/prepared";
import { runStatement } from "../database/run-statement";
import { isConnectionFailure } from "../database/unavailable";
import type { LoggedEvent, MailRefusal } from "../events/events";
import { duringJob, errorFields, log, logEvent } from "../log";
import { concurrentJobs } from "../rules";
import type { JobHandler } from "./jobs";

export const databaseConcurrency = 4; // of `concurrentJobs`, those in the database; the embedded one is one connection
const pollInterval = 5_000; // ms, for retries and for the jobs that another instance left

interface FetchedJob<Task> {
  id: string;
  data: Task;
  createdOn: Date | string;
  retryCount: number;
  retryLimit: number;
}

/** What a failure means; by default, that the job is retried. */
interface Judgement {
  /** Why the mail service refuses it for good. */
  refusal?: MailRefusal | null;
  /** Whether the job is deleted after its last retry: it had no mail. */
  leavesNothing?: boolean;
  /** The event to log if this process works no more jobs of the queue. */
  stop?: LoggedEvent;
}

export interface QueueKind<Task> {
  name: string;
  /** Whether the end of a job makes another one due. */
  ordered: boolean;
  judge(error: unknown): Judgement;
  logGivenUp(job: Task, refusal: MailRefusal | null): void;
  /** SQL: which of the waiting jobs `due` may start, and which of them first. */
  isDue: string;
  order: string;
}

/**
 * Runs the jobs of one queue in this process, each at least once, with growing waits after failures.
 *
 * A job has two parts: its work in the database, for few jobs at a time, and its call. It is fetched only when a place
 * is free, and keeps the place until it ends. When no place is free, mails wait for each other, and the mails to an
 * attacker's own addresses could show how long a job for another address takes. So a job for an address that gets no
 * mail keeps its place as long as a recent mail call took, and fails and is retried as that call did.
 */
export class Worker<Task extends { task: string }> {
  readonly #running = new Set<Promise<void>>();
  /** The ends of jobs that the database could not store. Without them, pg-boss would repeat a mail that was sent. */
  #unrecorded: (() => Promise<void>)[] = [];
  #poll: NodeJS.Timeout | undefined;
  #free = concurrentJobs;
  #freeInDatabase = databaseConcurrency;
  #mayHaveMore = false;
  #fetching = false;
  #stopped = true;

  constructor(
    readonly boss: PgBoss,
    readonly knex: Knex,
    readonly kind: QueueKind<Task>,
    readonly handle: JobHandler<Task>,
  ) {}

  /** Runs new jobs at once. Jobs that already wait run from the first poll on, so that they do not slow the start. */
  start(): void {
    this.#stopped = false;
    this.#poll = setInterval(() => this.wake(), pollInterval);
  }

  async drain(): Promise<void> {
    for (let [job] = await this.#fetch(1); job; [job] = await this.#fetch(1)) await this.#work(job);
  }

  async stop(): Promise<void> {
    this.#fetchNoMore();
    this.#run(this.#recordAgain());
    while (this.#running.size > 0) await Promise.all(this.#running);
  }

  wake(): void {
    this.#mayHaveMore = true;
    if (!this.#fetching && !this.#stopped && this.#places() > 0) this.#run(this.#fetchDue());
  }

  #fetchNoMore(): void {
    this.#stopped = true;
    clearInterval(this.#poll);
  }

  #places(): number {
    return Math.min(this.#free, this.#freeInDatabase);
  }

  async #fetch(limit: number): Promise<FetchedJob<Task>[]> {
    await this.#recordAgain();
    return runStatement(this.knex, fetchJobs(this.kind, limit));
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

  #begin(job: FetchedJob<Task>): void {
    this.#free--;
    this.#freeInDatabase--;
    const leaveDatabase = () => {
      this.#freeInDatabase++;
      if (this.#mayHaveMore) this.wake();
    };
    const work = this.#work(job, leaveDatabase).finally(() => {
      this.#free++;
      if (this.#mayHaveMore || this.kind.ordered) this.wake();
    });
    this.#run(work);
  }

  async #work(job: FetchedJob<Task>, leaveDatabase = () => {}): Promise<void> {
    try {
      const end = await duringJob(job.id, async () => {
        const enqueued = { id: job.id, at: new Date(job.createdOn) };
        const call = await this.handle(job.data, enqueued).finally(leaveDatabase);
        return call?.();
      });
      if (end === "ended") return;
    } catch (error) {
      return duringJob(job.id, () => this.#fail(job, error));
    }
    await this.#record(() => this.boss.deleteJob(this.kind.name, job.id));
  }

  /** Keeps a job that is given up, as `cancelled` if refused, else as `failed`. Deletes one without a mail. */
  async #fail({ id, data, retryCount, retryLimit }: FetchedJob<Task>, error: unknown): Promise<void> {
    const { name } = this.kind;
    const { refusal = null, leavesNothing, stop } = this.kind.judge(error);
    if (stop) {
      this.#fetchNoMore();
      logEvent(stop);
    }
    const givenUp = refusal !== null || retryCount >= retryLimit;
    if (givenUp && leavesNothing) return this.#record(() => this.boss.deleteJob(name, id));
    const message = givenUp ? "A job failed and is given up." : "A job failed and will be retried.";
    log.warn({ task: data.task, ...errorFields(error) }, message);
    const end = async () => {
      await this.boss.fail(name, id, errorFields(error));
      if (refusal !== null) await this.boss.cancel(name, id);
      if (givenUp) this.kind.logGivenUp(data, refusal);
    };
    await this.#record(AsyncResource.bind(end)); // a later call logs for this job, too
  }

  async #recordAgain(): Promise<void> {
    await Promise.all(this.#unrecorded.splice(0).map((end) => this.#record(end)));
  }

  async #record(end: () => Promise<void>): Promise<void> {
    try {
      await end();
    } catch (error) {
      if (isConnectionFailure(error)) this.#unrecorded.push(end);
      throw error;
    }
  }
}

/**
 * Marks up to `limit` jobs as active. pg-boss's own fetch reads all columns of a job; its commit waits for the disk.
 * `next` is no subquery of the `update`: PostgreSQL could lock more rows than `limit`.
 */
const fetchJobs = ({ name, isDue, order }: QueueKind<never>, limit: number) => ({
  name: `fetch-${name}`,
  text: `
    with next as (
      select id from pgboss.job as due where name = $1 and state < 'active' and ${isDue}
      order by ${order} limit $2 for update skip locked)
    update pgboss.job set state = 'active', started_on = now(),
      retry_count = case when started_on is null then retry_count else retry_count + 1 end
    from next where name = $1 and job.id = next.id
    returning job.id, data, created_on as "createdOn", retry_count as "retryCount", retry_limit as "retryLimit",
      ${commitWithoutFlush}`,
  values: [name, limit],
});
