import { afterEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { orm } from "#server/database/unit-of-work";
import { purgeExpired } from "#server/features/operator/purge";
import { givenUpMails } from "#server/queue/given-up";
import { JobQueue } from "#server/queue/job-queue";
import { startLatchkey } from "../support/latchkey";
import { until } from "../support/until";

const latchkey = startLatchkey();

afterEach(() => {
  vi.useRealTimers();
});

async function openQueue() {
  vi.useFakeTimers({ toFake: ["setInterval"] });
  const queue = new JobQueue(orm());
  await queue.open();
  const maintain = async () => {
    await latchkey.execute("update pgboss.version set maintained_on = null");
    vi.advanceTimersByTime(30_000); // ms, its interval
  };
  return { queue, maintain };
}

describe("a mail that was given up", () => {
  const emails = async (table: string) => {
    const rows = await latchkey.execute<{ email: string }>(`select data->>'email' as email from ${table} order by 1`);
    return rows.map(({ email }) => email);
  };

  /** The queue after its maintenance of mails that were given up 13.9 and 14.1 days ago. */
  async function maintained() {
    for (const state of ["failed", "cancelled"]) {
      for (const days of [13.9, 14.1]) {
        await latchkey.execute(
          `insert into pgboss.job (name, state, data, completed_on)
           values ('latchkey', ?, json_build_object('task', 'mail_registration', 'email', ?::text), now() - ? * interval '1 day')`,
          [state, `${state}-${days}@example.com`, days],
        );
      }
    }
    const { maintain, queue } = await openQueue();
    onTestFinished(() => queue.stop());
    await maintain();
    await until(async () => (await emails("pgboss.archive")).length === 2, "the maintenance has run");
    return maintain;
  }

  test("is kept for 14 days", async () => {
    await maintained();
    expect(await emails("pgboss.job")).toEqual(["cancelled-13.9@example.com", "failed-13.9@example.com"]);
    await latchkey.execute("delete from pgboss.archive");
  });

  test("is deleted after 14 days", async () => {
    const maintain = await maintained();
    await latchkey.execute("update pgboss.archive set archived_on = archived_on - interval '1 minute'");
    await maintain();
    await until(async () => (await emails("pgboss.archive")).length === 0, "the maintenance has run again");
  });
});

test("a retry by hand has 14 days again", async () => {
  await latchkey.execute(
    `insert into pgboss.job (name, state, data, start_after, keep_until)
     values ('latchkey', 'failed', '{"task": "mail_registration", "email": "ada@example.com"}',
       now() - interval '4 days', now() - interval '3 days')`,
  );
  expect(await givenUpMails.retry(null)).toBe(1);
  const kept = "select state::text, keep_until - now() > interval '13 days 23 hours' as kept from pgboss.job";
  expect(await latchkey.execute(kept)).toEqual([{ state: "created", kept: true }]);
});

test("a mail whose process ended during its last retry is reported once", async () => {
  await latchkey.execute("delete from pgboss.job");
  const active = `insert into pgboss.job (name, state, data, retry_limit, retry_count, started_on, expire_in)
    values ('latchkey', 'active', ?, 14, 14, now() - interval '2 minutes', interval '1 minute')`;
  await latchkey.execute(active, ['{"task": "mail_registration", "email": "ada@example.com", "language": "en"}']);
  await latchkey.execute(active, ['{"task": "purge_expired"}']);
  await latchkey.execute(active, ['{"task": "log_event", "event": {"event": "user.suspended"}}']);
  const { maintain, queue } = await openQueue();
  await maintain();
  const failed = () => latchkey.execute("select id from pgboss.job where state = 'failed'");
  await until(async () => (await failed()).length === 3, "the maintenance has run");
  await queue.stop();

  await purgeExpired();
  await purgeExpired();
  expect(latchkey.events()).toEqual([{ event: "mail.failed", reason: "retries_exhausted" }]);
  expect(await givenUpMails.list()).toMatchObject([{ email: "ada@example.com", error: "ProcessEnded" }]);
});

test("a mail that is to be sent again is due within the millisecond of the command", async () => {
  vi.useFakeTimers({ toFake: ["Date"] });
  const [job] = await latchkey.execute<{ id: string }>(
    `insert into pgboss.job (name, state, data, completed_on)
     values ('latchkey', 'failed', '{"task":"mail_registration","email":"ada@example.com","language":"en"}', now())
     returning id`,
  );
  expect(await givenUpMails.retry(job!.id)).toBe(1);
  await latchkey.drain();
  expect(latchkey.mails()).toMatchObject([{ to: "ada@example.com" }]);
});
