import type { EntityManager } from "@mikro-orm/postgresql";
import type { ErrorFields } from "../log";
import { givenUpJobsKept, queue } from "./job-queue";
import type { Job } from "./jobs";

/** A job whose last retry failed, or whose mail was refused for good. */
export interface GivenUpJob {
  id: string;
  data: Job;
  /** When, in ms since 1970. */
  at: number;
  /** What `errorFields` made of the last error; another shape when the job ended with its process. */
  error: Partial<ErrorFields> | null;
}

const mails = "name = ? and state in ('failed', 'cancelled') and data ->> 'email' is not null";

/** The given-up mails, the last first. pg-boss has no list of jobs. */
export function givenUpMails(em: EntityManager): Promise<GivenUpJob[]> {
  return em.execute<GivenUpJob[]>(
    `select id, data, floor(extract(epoch from completed_on) * 1000)::float8 as at, output as error
     from pgboss.job where ${mails} order by completed_on desc, id`,
    [queue],
  );
}

// As new: with every retry.
const asNew = `
  state = 'created', retry_count = 0, start_after = now(), started_on = null, completed_on = null, output = null,
  keep_until = now() + ${givenUpJobsKept} * interval '1 second'`;

/**
 * Makes given-up mails wait again. A running service works them at its next poll.
 *
 * @param id of one job; `null` for all
 * @returns how many
 */
export async function retryGivenUpMails(em: EntityManager, id: string | null): Promise<number> {
  const jobs = await em.execute<unknown[]>(
    `update pgboss.job set ${asNew} where ${mails} and (id::text = lower(?::text) or ?::text is null) returning id`,
    [queue, id, id],
  );
  return jobs.length;
}
