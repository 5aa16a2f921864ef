import { runStatement } from "../database/run-statement";
import { logEvent } from "../log";
import { webhookQueue } from "./boss";
import type { WebhookJob } from "./jobs";
import type { QueueKind } from "./worker";

/**
 * The time of a change is read from the database's clock while the user's row is locked: a transaction may have started
 * before the one that it waited for. It is later than the time of every waiting webhook of the user: PGlite's clock has
 * a resolution of one millisecond, and every clock may be set back.
 */
export const insertWebhooks = (webhooks: WebhookJob[]) => ({
  name: "insert-webhooks",
  text: `
    insert into pgboss.job (name, data, singleton_key, start_after, created_on,
      retry_limit, retry_delay, retry_backoff, expire_in)
    select name, data, data #>> '{data,id}', now() - interval '1 millisecond',
      greatest(clock_timestamp(), (select max(created_on) + interval '1 microsecond' from pgboss.job
        where job.name = $1 and singleton_key = data #>> '{data,id}')),
      retry_limit, retry_delay, retry_backoff, expire_seconds * interval '1 second'
    from pgboss.queue cross join json_array_elements($2::json) as data where name = $1`,
  values: [webhookQueue, JSON.stringify(webhooks)],
});

/**
 * pg-boss's own fetch, except that a webhook waits for all earlier ones of its user, also in a retry or other process.
 * No policy of pg-boss does this. In a subquery of the `update`, PostgreSQL may lock more rows than `limit`.
 */
const fetchDue = (limit: number) => ({
  name: "fetch-webhooks",
  text: `
    with next as (
      select id from pgboss.job as due where name = $1 and state < 'active' and start_after < now() and not exists (
        select from pgboss.job as earlier
        where name = $1 and singleton_key = due.singleton_key and state < 'completed'
          and (created_on, id) < (due.created_on, due.id))
      order by start_after limit $2 for update skip locked)
    update pgboss.job set state = 'active', started_on = now(),
      retry_count = case when started_on is null then retry_count else retry_count + 1 end
    from next where name = $1 and job.id = next.id
    returning job.id, data, created_on as "createdOn", retry_count as "retryCount", retry_limit as "retryLimit"`,
  values: [webhookQueue, limit],
});

export const webhooks: QueueKind = {
  name: webhookQueue,
  ordered: true, // the end of a webhook makes the user's next one due
  logGivenUp: () => logEvent({ event: "webhook.failed", reason: "retries_exhausted" }),
  fetch: (_boss, knex, limit) => runStatement(knex, fetchDue(limit)),
};
