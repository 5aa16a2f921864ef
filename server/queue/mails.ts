import { logEvent } from "../log";
import { mailQueue } from "./boss";
import type { Job } from "./jobs";
import type { QueueKind } from "./worker";

export const mails: QueueKind = {
  name: mailQueue,
  ordered: false,
  logGivenUp(job, refusal) {
    if ("email" in job) logEvent({ event: "mail.failed", reason: refusal ?? "retries_exhausted" });
  },
  fetch: (boss, _knex, batchSize) => boss.fetch<Job>(mailQueue, { batchSize, includeMetadata: true }),
};

/** Uses the index of pg-boss's own fetch, because it repeats the index's condition. */
export const waitingMails = {
  text: `select state, count(*)::int as waiting, extract(epoch from now() - min(created_on))::float as oldest
    from pgboss.job where name = $1 and state < 'active' group by state`,
  values: [mailQueue],
};
