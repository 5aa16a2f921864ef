import { query } from "../database/unit-of-work";
import { type ErrorFields, logEvent } from "../log";
import { mailQueue, webhookQueue } from "./boss";
import type { Job, WebhookJob } from "./jobs";

export const givenUpKept = 14 * 24 * 3_600; // seconds in which an operator can retry them; other jobs go at their end

interface GivenUp {
  id: string;
  at: Date;
  /** Names, reasons and codes; no text of the service that was called. */
  error: string;
}

export interface GivenUpJobs<Columns> {
  list(): Promise<(GivenUp & Columns)[]>;
  /** Lets the service work them again at its next poll, as new: one, or all (`null`). @returns how many */
  retry(id: string | null): Promise<number>;
}

// pg-boss has no list of jobs.
const isGivenUp = "state in ('failed', 'cancelled') and data ->> 'task' <> 'purge_expired'";

const givenUpJobs = <Columns>(queue: string, columns: string): GivenUpJobs<Columns> => ({
  async list() {
    const sql = `select id, ${columns}, output as error, floor(extract(epoch from completed_on) * 1000)::float8 as at
      from pgboss.job where name = ? and ${isGivenUp} order by completed_on desc, id`;
    type Row = Columns & { id: string; at: number; error: Partial<ErrorFields> | null };
    const rows = await query((em) => em.execute<Row[]>(sql, [queue]));
    return rows.map((row) => {
      const { error, reason, code } = row.error ?? {};
      const words = [error, reason, code].filter((word) => word != null);
      return { ...row, at: new Date(row.at), error: words.join(" ") };
    });
  },
  async retry(id) {
    const sql = `
      update pgboss.job set state = 'created', retry_count = 0, start_after = now(), started_on = null,
        completed_on = null, output = null, keep_until = now() + ${givenUpKept} * interval '1 second'
      where name = ? and ${isGivenUp} and (id::text = lower(?::text) or ?::text is null) returning id`;
    return (await query((em) => em.execute<unknown[]>(sql, [queue, id, id]))).length;
  },
});

export const givenUpMails = givenUpJobs<{ task: Job["task"]; email: string }>(
  mailQueue,
  "data ->> 'task' as task, data ->> 'email' as email",
);

export const givenUpWebhooks = givenUpJobs<{ type: WebhookJob["type"]; userId: string }>(
  webhookQueue,
  `data ->> 'type' as type, data #>> '{data,id}' as "userId"`,
);

/** Logs the jobs whose process ended during the last retry, and stores an error, so that each is logged once. */
export async function reportEndedJobs(): Promise<void> {
  const jobs = await query((em) =>
    em.execute<{ name: string }[]>(
      `update pgboss.job set output = '{"error": "ProcessEnded"}'
       where ${isGivenUp} and state = 'failed' and output ->> 'error' is null returning name`,
    ),
  );
  for (const { name } of jobs) {
    logEvent({ event: name === webhookQueue ? "webhook.failed" : "mail.failed", reason: "retries_exhausted" });
  }
}
