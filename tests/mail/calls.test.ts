import { beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { orm, query } from "#server/database/unit-of-work";
import { MailRefused } from "#server/errors";
import { setMailer } from "#server/mail/mailer";
import { RecentCalls } from "#server/mail/recent-calls";
import type { Mail } from "#server/mail-services/service";
import { enqueue, JobQueue } from "#server/queue/job-queue";
import { databaseConcurrency } from "#server/queue/worker";
import { concurrentJobs } from "#server/rules";
import { startLatchkey } from "../support/latchkey";
import { until } from "../support/until";

const latchkey = startLatchkey();

const requestMail = (email: string, task: "mail_password_reset" | "mail_registration" = "mail_password_reset") =>
  query((em) => enqueue(em, { task, email, language: "en" }));

async function states(): Promise<Record<string, number>> {
  const rows = await latchkey.execute<{ state: string; count: number }>(
    "select state::text, count(*)::int from pgboss.job where data->>'email' is not null group by state",
  );
  return Object.fromEntries(rows.map(({ state, count }) => [state, count]));
}

interface HeldCall {
  mail: Mail;
  accept(): void;
  fail(error?: Error): void;
}

function holdMails(): HeldCall[] {
  const calls: HeldCall[] = [];
  setMailer({
    verify: async () => {},
    send: (mail) =>
      new Promise((accept, fail) => calls.push({ mail, accept, fail: (error = new Error("down")) => fail(error) })),
  });
  return calls;
}

/** A registration whose mail call is made and not answered. */
async function registrationInFlight() {
  const calls = holdMails();
  await requestMail("new@example.com", "mail_registration");
  const registration = latchkey.drain();
  await until(() => calls.length === 1, "the mail call");
  return { calls, registration };
}

describe("of more jobs than may run at once", () => {
  let ends: (() => void)[];
  let maxInDatabase: number;
  let stop: () => Promise<void>;

  beforeEach(async () => {
    ends = [];
    let inDatabase = 0;
    maxInDatabase = 0;
    const queue = new JobQueue(orm());
    const handle = async () => {
      maxInDatabase = Math.max(maxInDatabase, ++inDatabase);
      await latchkey.execute("select 1");
      inDatabase--;
      return () => new Promise<void>((resolve) => ends.push(resolve));
    };
    stop = async () => {
      const stopped = queue.stop();
      for (const end of ends) end();
      await stopped;
    };
    await queue.open();
    for (let n = 0; n < concurrentJobs + 10; n++) await requestMail(`user${n}@example.com`);
    queue.work(handle, null);
    await query((em) => queue.enqueue(em, { task: "mail_password_reset", email: "last@example.com", language: "en" }));
    await until(() => ends.length === concurrentJobs, "as many mail calls as there may be");
  });

  test("the mail calls are limited", async () => {
    onTestFinished(stop);
    expect(await states()).toEqual({ active: concurrentJobs, created: 11 });
  });

  test("those that use the database are limited", async () => {
    onTestFinished(stop);
    expect(maxInDatabase).toBe(databaseConcurrency);
  });

  test("the next runs when one ends", async () => {
    onTestFinished(stop);
    ends.shift()!();
    await until(() => ends.length === concurrentJobs, "the next mail call");
    expect(await states()).toEqual({ active: concurrentJobs, created: 10 });
  });

  test("a stop leaves those that wait in the queue", async () => {
    await stop();
    expect(await states()).toEqual({ created: 11 });
  });
});

test("a job for an unknown address takes as long as a running mail call", async () => {
  const simulate = vi.spyOn(RecentCalls.prototype, "simulate");
  const { calls, registration } = await registrationInFlight();
  await requestMail("nobody@example.com");
  const reset = latchkey.drain();
  await until(() => simulate.mock.calls.length === 1, "the job without a mail");
  // If the job ended early, a statement between these would delete it.
  for (let look = 0; look < 5; look++) expect(await states()).toEqual({ active: 2 });
  calls[0]!.accept();
  await Promise.all([registration, reset]);
  expect(await states()).toEqual({});
  expect(calls.map(({ mail }) => mail.to)).toEqual(["new@example.com"]);
});

/** A job for an unknown address after a mail call that failed. */
async function failLikeMails(): Promise<void> {
  const { calls, registration } = await registrationInFlight();
  calls[0]!.fail();
  await registration;
  await requestMail("nobody@example.com");
  await latchkey.drain();
}

test("a job for an unknown address fails as the mail calls do", async () => {
  await failLikeMails();
  expect(await states()).toEqual({ retry: 2 });
});

test("the retry of a job for an unknown address sends no mail", async () => {
  await failLikeMails();
  latchkey.configure({});
  await latchkey.execute("update pgboss.job set start_after = now() - interval '1 second'");
  await latchkey.drain();
  expect(await states()).toEqual({});
  expect(latchkey.mails().map(({ to }) => to)).toEqual(["new@example.com"]);
});

describe("after a mail call that was refused permanently a job for an unknown address", () => {
  beforeEach(async () => {
    const { calls, registration } = await registrationInFlight();
    calls[0]!.fail(new MailRefused("recipient_refused"));
    await registration;
    expect(await states()).toEqual({ cancelled: 1 });
    expect(latchkey.events()).toEqual([{ event: "mail.failed", reason: "recipient_refused" }]);
    await requestMail("nobody@example.com");
    await latchkey.drain();
  });

  test("completes", async () => {
    expect(await states()).toEqual({ cancelled: 1 });
  });

  test("logs no failed mail", () => {
    expect(latchkey.events()).toHaveLength(1);
  });
});
