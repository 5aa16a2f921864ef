import { query } from "../database/unit-of-work";
import { type ErrorFields, logEvent } from "../log";
import { mailQueue, webhookQueue } from "./boss";
import type { Job, WebhookJob } from "./jobs";

export const givenUpKept = 14 * 24 * 3_600; // seconds in which an operator can retry them; other jobs go at their end

export interface GivenUp {
  id: string;
  at: Date;
  /** Names, reasons and codes; no text of the service that was called. */
  error: string;
}

export type GivenUpMail = GivenUp & { task: Job["task"]; email: string };
export type GivenUpWebhook = GivenUp & { type: WebhookJob["type"]; userId: string };

type Row<Kind extends GivenUp> = Omit<Kind, "at" | "error"> & { at: number; error: Partial<ErrorFields> | null };

// pg-boss has no list of jobs.
const isGivenUp = "state in ('failed', 'cancelled') and data ->> 'task' <> 'purge_expired'";

async function givenUp<Kind extends GivenUp>(queue: string, columns: string) {
  const rows = await query((em) =>
    em.execute<Row<Kind>[]>(
      `select id, ${columns}, output as error, floor(extract(epoch from completed_on) * 1000)::float8 as at
       from pgboss.job where name = ? and ${isGivenUp} order by completed_on desc, id`,
      [queue],
    ),
  );
  return rows.map(({ at, error, ...job }) => {
    const words = [error?.error, error?.reason, error?.code].filter((word) => word != null);
    return { ...job, at: new Date(at), error: words.join(" ") };
  });
}

/** Lets the service work given-up jobs again at its next poll, as new: one, or all (`null`). @returns how many */
async function retryGivenUp(queue: string, id: string | null): Promise<number> {
  const jobs = await query((em) =>
    em.execute<unknown[]>(
      `update pgboss.job set state = 'created', retry_count = 0, start_after = now(), started_on = null,
         completed_on = null, output = null, keep_until = now() + ${givenUpKept} * interval '1 second'
       where name = ? and ${isGivenUp} and (id::text = lower(?::text) or ?::text is null) returning id`,
      [queue, id, id],
    ),
  );
  return jobs.length;
}

export const givenUpMails = {
  list: () => givenUp<GivenUpMail>(mailQueue, "data ->> 'task' as task, data ->> 'email' as email"),
  retry: (id: string | null) => retryGivenUp(mailQueue, id),
};

export const givenUpWebhooks = {
  list: () => givenUp<GivenUpWebhook>(webhookQueue, `data ->> 'type' as type, data #>> '{data,id}' as "userId"`),
  retry: (id: string | null) => retryGivenUp(webhookQueue, id),
};

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
