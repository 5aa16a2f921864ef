import type { EntityManager } from "@mikro-orm/postgresql";
import type { User } from "../database/entities";
import { query } from "../database/unit-of-work";
import { type ErrorFields, logEvent } from "../log";
import { givenUpDays } from "../rules";
import { type Job, mailQueue, type WebhookJob, webhookQueue } from "./jobs";

interface GivenUp {
  id: string;
  at: Date;
  /** Names, reasons and codes; no text of the service that was called. */
  error: string;
}

export type GivenUpJobs<Columns> = ReturnType<typeof givenUpJobs<Columns>>;

// pg-boss has no list of jobs.
const givenUpSql = "state in ('failed', 'cancelled') and data ->> 'task' not in ('purge_expired', 'log_event')";

const givenUpJobs = <Columns>(queue: string, columns: string) => ({
  async list(): Promise<(GivenUp & Columns)[]> {
    const sql = `select id, ${columns}, output as error, floor(extract(epoch from completed_on) * 1000)::float8 as at
      from pgboss.job where name = ? and ${givenUpSql} order by completed_on desc, id`;
    type Row = Columns & { id: string; at: number; error: Partial<ErrorFields> | null };
    const rows = await query((em) => em.execute<Row[]>(sql, [queue]));
    return rows.map((row) => {
      const { error, reason, code } = row.error ?? {};
      const words = [error, reason, code].filter((word) => word != null);
      return { ...row, at: new Date(row.at), error: words.join(" ") };
    });
  },
  /** Lets the service work them again at its next poll, as new: one, or all (`null`). @returns how many */
  async retry(id: string | null): Promise<number> {
    // Due at once: PGlite's clock has a resolution of one millisecond.
    const sql = `
      update pgboss.job set state = 'created', retry_count = 0, start_after = now() - interval '1 ms', started_on = null,
        completed_on = null, output = null, keep_until = greatest(keep_until, now() + ${givenUpDays} * interval '24 hours')
      where name = ? and ${givenUpSql} and (id::text = lower(?::text) or ?::text is null) returning id`;
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

/** Removes the jobs with an account's data, but the webhooks that wait: the application hears of the account's end. */
export async function removeJobs(em: EntityManager, { id, email }: Pick<User, "id" | "email">): Promise<void> {
  const sql = `delete from pgboss.job where name = ? and ? in (data ->> 'email', data ->> 'currentEmail')
    or name = ? and singleton_key = ? and ${givenUpSql}`;
  await em.execute(sql, [mailQueue, email, webhookQueue, id]);
}

// pg-boss deletes waiting jobs at their `keep_until`, and logs nothing. Of the webhooks, only those of 1.1.0 have one.
const waitsTooLong = `name = '${webhookQueue}' and state < 'active'
  and least(start_after + ${givenUpDays} * interval '24 hours', keep_until - interval '1 hour') < now()`;

/**
 * Gives up the webhooks that have waited too long, and logs them and the jobs whose process ended during the last
 * retry. Stores an error, so that each is logged once.
 */
export async function reportEndedJobs(): Promise<void> {
  const jobs = await query((em) =>
    em.execute<{ name: string; waited: boolean }[]>(
      `with ended as (select id, state < 'active' as waited from pgboss.job
         where ${givenUpSql} and state = 'failed' and output ->> 'error' is null or ${waitsTooLong} for update)
       update pgboss.job set state = 'failed', completed_on = case when waited then now() else completed_on end,
         output = json_build_object('error', case when waited then 'WaitedTooLong' else 'ProcessEnded' end)
       from ended where job.id = ended.id returning name, waited`,
    ),
  );
  for (const { name, waited } of jobs) {
    if (waited) logEvent({ event: "webhook.failed", reason: "waited_too_long" });
    else logEvent({ event: name === webhookQueue ? "webhook.failed" : "mail.failed", reason: "retries_exhausted" });
  }
}
