import { query } from "../database/unit-of-work";
import { type ErrorFields, logEvent } from "../log";
import { queue } from "./boss";
import type { Job } from "./jobs";

export const givenUpKept = 14 * 24 * 3_600; // seconds, for an operator to retry them; other jobs are removed when they end

export interface GivenUpMail {
  id: string;
  task: Job["task"];
  email: string;
  at: Date;
  /** Names, reasons and codes; no text of the mail service. */
  error: string;
}

type Row = Pick<GivenUpMail, "id" | "task" | "email"> & { at: number; error: Partial<ErrorFields> | null };

// pg-boss has no list of jobs.
const givenUp = "name = ? and state in ('failed', 'cancelled') and data ->> 'email' is not null";

export async function givenUpMails(): Promise<GivenUpMail[]> {
  const rows = await query((em) =>
    em.execute<Row[]>(
      `select id, data ->> 'task' as task, data ->> 'email' as email, output as error,
         floor(extract(epoch from completed_on) * 1000)::float8 as at
       from pgboss.job where ${givenUp} order by completed_on desc, id`,
      [queue],
    ),
  );
  return rows.map(({ at, error, ...mail }) => {
    const words = [error?.error, error?.reason, error?.code].filter((word) => word != null);
    return { ...mail, at: new Date(at), error: words.join(" ") };
  });
}

/** Lets the service send given-up mails again at its next poll, as new: one, or all (`null`). @returns how many */
export async function retryGivenUpMails(id: string | null): Promise<number> {
  const jobs = await query((em) =>
    em.execute<unknown[]>(
      `update pgboss.job set state = 'created', retry_count = 0, start_after = now(), started_on = null,
         completed_on = null, output = null, keep_until = now() + ${givenUpKept} * interval '1 second'
       where ${givenUp} and (id::text = lower(?::text) or ?::text is null) returning id`,
      [queue, id, id],
    ),
  );
  return jobs.length;
}

/** Mails whose process ended during the last retry: the error marks them, so that each is logged once. */
export async function reportEndedMails(): Promise<void> {
  const jobs = await query((em) =>
    em.execute<unknown[]>(
      `update pgboss.job set output = '{"error": "ProcessEnded"}'
       where ${givenUp} and state = 'failed' and output ->> 'error' is null returning id`,
      [queue],
    ),
  );
  for (const _ of jobs) logEvent({ event: "mail.failed", reason: "retries_exhausted" });
}
