import { expect, onTestFinished, test } from "vitest";
import { orm, query } from "#server/database/unit-of-work";
import { JobQueue, queue, randomDelay } from "#server/queue/job-queue";
import { startLatchkey } from "../support/latchkey";
import { statementsOf } from "../support/statements";

const latchkey = startLatchkey();

const emails = Array.from({ length: 100 }, (_, n) => `person-${n}@example.com`);

const ask = (email: string, by = queue()) =>
  query((em) => by.enqueue(em, { task: "mail_password_reset", email, language: "en" }));
const askAll = (by?: JobQueue) => Promise.allSettled(emails.map((email) => ask(email, by)));

async function stored(): Promise<string[]> {
  const rows = await latchkey.execute<{ email: string }>("select data ->> 'email' as email from pgboss.job");
  return rows.map(({ email }) => email);
}

async function failing(work: () => Promise<void>): Promise<void> {
  await latchkey.execute("alter table pgboss.queue rename to gone");
  try {
    await work();
  } finally {
    await latchkey.execute("alter table pgboss.gone rename to queue");
  }
}

test("a hundred jobs that are enqueued at once are stored by two statements at most", async () => {
  const statements = await statementsOf(() => askAll());
  expect(statements.length).toBeLessThanOrEqual(2);
  expect((await stored()).sort()).toEqual([...emails].sort());
});

test("each of the jobs that are stored together has a delay of its own", async () => {
  const delayed = new JobQueue(orm(), randomDelay);
  await delayed.open();
  onTestFinished(() => delayed.stop());
  await askAll(delayed);
  const [row] = await latchkey.execute<{ delays: number }>(
    "select count(distinct start_after - created_on)::int as delays from pgboss.job",
  );
  expect(row?.delays).toBeGreaterThan(50);
});

test("jobs that cannot be stored fail for each who enqueues one", async () => {
  await failing(async () => {
    expect((await askAll()).filter(({ status }) => status === "rejected")).toHaveLength(emails.length);
  });
  expect(await stored()).toEqual([]);
});

test("a job is stored after others could not be", async () => {
  await failing(async () => void (await askAll()));
  await ask("ada@example.com");
  expect(await stored()).toEqual(["ada@example.com"]);
});
