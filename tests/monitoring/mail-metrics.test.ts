import nock from "nock";
import type { Registry } from "prom-client";
import { beforeAll, beforeEach, expect, test } from "vitest";
import { orm } from "#server/database/unit-of-work";
import { openMetrics } from "#server/door/metrics-registry";
import { JobQueue } from "#server/queue/job-queue";
import * as mailEvents from "~/routes/mail.events";
import { askForAccount, registerWith } from "../support/account-calls";
import { startLatchkey } from "../support/latchkey";
import { goodPassword } from "../support/passwords";
import { call } from "../support/route-calls";

// After a mail that was sent and bounced, a failed and a refused one.

const postmark = "https://api.postmarkapp.com";
const password = "a-password-of-the-mail-service";
const latchkey = startLatchkey({
  APP_URL: "https://login.example.com",
  MAIL_DRIVER: "postmark",
  MAIL_FROM: "latchkey@example.com",
  POSTMARK_SERVER_TOKEN: "token",
  MAIL_EVENTS_SECRET: password,
});

let registry: Registry;

beforeAll(async () => {
  const pool = { connections: { used: 0, free: 0 }, waiting: 0 };
  const jobs = () => new JobQueue(orm()).waiting();
  registry = await openMetrics({ hashesWaiting: () => 0, pool: () => pool, jobs, sessions: null });
});

/** Asks for a registration mail, which the service answers so. @returns the mailed token */
async function register(email: string, status: number, answer: object): Promise<string> {
  let text = "";
  nock(postmark)
    .post("/email", ({ TextBody }) => {
      text = TextBody;
      return true;
    })
    .reply(status, answer);
  await askForAccount(email);
  await latchkey.drain();
  return /token=([0-9a-f]{64})/.exec(text)?.[1] ?? "";
}

function bounce(Email: string) {
  const event = { RecordType: "Bounce", Type: "HardBounce", ID: 1, From: "latchkey@example.com", Email };
  const headers = {
    "Content-Type": "application/json",
    Authorization: `Basic ${Buffer.from(`postmark:${password}`).toString("base64")}`,
  };
  const body = JSON.stringify({ ...event, BouncedAt: new Date() });
  return call(mailEvents.action, new Request("http://localhost:3000/mail/events", { method: "POST", body, headers }));
}

beforeEach(async () => {
  registry.resetMetrics();
  const email = "first@example.com";
  const token = await register(email, 200, { ErrorCode: 0 });
  await registerWith({ email, token }, goodPassword);
  await bounce(email);
  await register("second@example.com", 500, {});
  await register("third@example.com", 422, { ErrorCode: 406, Message: "Inactive" });
});

/** The value of each series of a metric. */
async function series(name: string): Promise<[labels: Record<string, unknown>, value: number][]> {
  const metric = await registry.getSingleMetric(name)?.get();
  return metric?.values.map(({ labels, value }) => [labels, value]) ?? [];
}

const countsOf = async (event: string) =>
  (await series("latchkey_events_total")).filter(([labels]) => labels.event === event);

test("the mails are counted by their outcome", async () => {
  expect(await series("latchkey_mails_total")).toEqual([
    [{ outcome: "sent" }, 1],
    [{ outcome: "failed" }, 1],
    [{ outcome: "refused" }, 1],
  ]);
});

test("the bounced mail is counted", async () => {
  expect(await countsOf("mail.bounced")).toEqual([[{ event: "mail.bounced" }, 1]]);
});

test("the refused mail alone is given up", async () => {
  expect(await countsOf("mail.failed")).toEqual([[{ event: "mail.failed", reason: "recipient_refused" }, 1]]);
});

test("the failed mail waits", async () => {
  expect(await series("latchkey_jobs_waiting")).toContainEqual([{ state: "retry" }, 1]);
  const [, oldest] = (await series("latchkey_job_oldest_seconds")).find(([{ state }]) => state === "retry") ?? [];
  expect(oldest).toBeGreaterThan(0);
  expect(oldest).toBeLessThan(60);
});
