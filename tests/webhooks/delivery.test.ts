import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { announce } from "#server/accounts/users/changes";
import { orm, unitOfWork } from "#server/database/unit-of-work";
import type { WebhookType } from "#server/events/events";
import { handleWebhook } from "#server/features/application/webhooks";
import { purgeExpired } from "#server/features/operator/purge";
import { givenUpMails, givenUpWebhooks } from "#server/queue/given-up";
import { JobQueue, webhooks } from "#server/queue/job-queue";
import { startApplication } from "../support/application";
import { startLatchkey } from "../support/latchkey";
import { until } from "../support/until";

const latchkey = startLatchkey();

const ada = "5f0c7a7e-3d9c-4d2b-9c1a-0f1e2d3c4b5a";
const bob = "0e1ac3a2-6a6d-4a0a-9a3b-7f8e9d0c1b2a";

let status: (webhook: { type: string; data: { id: string } }) => number;
let application: Awaited<ReturnType<typeof startApplication>>;

beforeEach(async () => {
  status = () => 204;
  application = await startApplication((webhook) => status(webhook));
  latchkey.configure(application.settings);
});

afterEach(() => application.stop());

const change = (type: WebhookType, id = ada) =>
  unitOfWork((em) => announce(em, type, { id, email: `${id}@example.com` }));

const received = () => application.received.map(({ type, data }) => `${type} ${data.id === ada ? "ada" : "bob"}`);

const states = async () => {
  const sql = "select state::text from pgboss.job where name = 'latchkey-webhooks' order by created_on";
  return (await latchkey.execute<{ state: string }>(sql)).map(({ state }) => state);
};

const endWait = () =>
  latchkey.execute("update pgboss.job set start_after = now() - interval '1 second' where state = 'retry'");

async function failAdasFirst(): Promise<void> {
  status = ({ type, data }) => (data.id === ada && type === "user.created" ? 500 : 204);
  await change("user.created");
  await change("user.suspended");
  await change("user.created", bob);
  await change("user.suspended", bob);
  await latchkey.drainWebhooks();
  await latchkey.drainWebhooks();
}

test("a user's changes do not wait for those of another", async () => {
  await failAdasFirst();
  expect(received()).toEqual(["user.created ada", "user.created bob", "user.suspended bob"]);
  expect(await states()).toEqual(["retry", "created"]);
});

test("a user's changes arrive in their order when the first is retried", async () => {
  await failAdasFirst();
  status = () => 204;
  await endWait();
  await latchkey.drainWebhooks();
  expect(received().slice(3)).toEqual(["user.created ada", "user.suspended ada"]);
  const [first, , , again] = application.received;
  expect(again).toEqual(first);
  expect(await states()).toEqual([]);
});

test("changes are ordered by when they had the user's lock", async () => {
  const moments = await unitOfWork(async (em) => {
    // PGlite's clock has a resolution of one millisecond.
    await em.execute("do $$ begin while clock_timestamp() <= now() loop end loop; end $$");
    await announce(em, "user.restored", { id: ada, email: "ada@example.com" });
    return em.execute<object[]>("select created_on > now() as later from pgboss.job where name = 'latchkey-webhooks'");
  });
  expect(moments).toEqual([{ later: true }]);
});

test("a webhook that an active job of another process precedes waits", async () => {
  await change("user.created");
  await change("user.suspended");
  await latchkey.execute(
    "update pgboss.job set state = 'active', started_on = now() where data ->> 'type' = 'user.created'",
  );
  await latchkey.drainWebhooks();
  expect(received()).toEqual([]);
  expect(await states()).toEqual(["active", "created"]);
});

describe("a webhook that is never accepted", () => {
  beforeEach(async () => {
    status = () => 500;
    await change("user.created");
    await change("user.suspended");
    for (let attempt = 1; attempt <= 15; attempt++) {
      expect(latchkey.events()).toEqual([]);
      await latchkey.drainWebhooks();
      await endWait();
      if (attempt < 15) expect(await states()).toEqual(["retry", "created"]);
    }
  });

  test("has one id in its fifteen attempts", () => {
    expect(new Set(application.received.slice(0, 15).map(({ id }) => id)).size).toBe(1);
  });

  test("is reported as given up", () => {
    expect(latchkey.events()).toEqual([{ event: "webhook.failed", reason: "retries_exhausted" }]);
  });

  test("leaves no address in the log", () => {
    expect(latchkey.logLines().join()).not.toContain("@example.com");
  });

  test("is listed with its error", async () => {
    const id = application.received[0]!.id;
    const error = "CallError status 500";
    expect(await givenUpWebhooks.list()).toEqual([
      { id, at: expect.any(Date), type: "user.created", userId: ada, error },
    ]);
  });

  test("is no mail that was given up", async () => {
    expect(await givenUpMails.list()).toEqual([]);
    expect(await givenUpMails.retry(null)).toBe(0);
  });

  test("is sent again by hand before the user's next one", async () => {
    const id = application.received[0]!.id;
    status = () => 204;
    application.received.length = 0;
    expect(await givenUpWebhooks.retry(id)).toBe(1);
    await latchkey.drainWebhooks();
    await endWait();
    await latchkey.drainWebhooks();
    expect(received()).toEqual(["user.created ada", "user.suspended ada"]);
    expect(await states()).toEqual([]);
  });
});

async function answerWith410(): Promise<void> {
  status = () => 410;
  await change("user.created");
  const first = new JobQueue(orm()).worker(webhooks, handleWebhook);
  first.start();
  first.wake();
  await until(() => latchkey.events().length === 1, "the stop");
  await until(async () => (await states())[0] === "retry", "the failed job");
  await change("user.created", bob);
  first.wake();
  await first.stop();
}

test("410 stops the webhooks", async () => {
  await answerWith410();
  expect(latchkey.events()).toEqual([{ event: "webhook.stopped" }]);
  expect(await states()).toEqual(["retry", "created"]);
});

test("after 410 the next start sends the webhooks that wait", async () => {
  await answerWith410();
  status = () => 204;
  await endWait();
  await latchkey.drainWebhooks();
  expect(received().sort()).toEqual(["user.created ada", "user.created ada", "user.created bob"]);
});

describe.each([
  ["for longer than 14 days", "start_after = now() - interval '14 days 1 minute'"],
  ["until the deletion that an earlier release gave it", "keep_until = now() + interval '50 minutes'"],
])("a webhook that waits %s", (_how, waited) => {
  beforeEach(async () => {
    await change("user.created");
    await latchkey.execute(`update pgboss.job set ${waited}`);
    await purgeExpired();
    await purgeExpired();
  });

  test("is reported once", () => {
    expect(latchkey.events()).toEqual([{ event: "webhook.failed", reason: "waited_too_long" }]);
  });

  test("is not sent", () => {
    expect(received()).toEqual([]);
  });

  test("is listed as given up", async () => {
    const error = "WaitedTooLong";
    const { stdout } = await latchkey.command("webhook", "failed", "--json");
    expect(JSON.parse(stdout)).toMatchObject([{ type: "user.created", userId: ada, error }]);
  });

  test("is sent again by hand", async () => {
    expect(await givenUpWebhooks.retry(null)).toBe(1);
    await purgeExpired();
    await latchkey.execute("update pgboss.job set start_after = now() - interval '1 second'");
    await latchkey.drainWebhooks();
    expect(received()).toEqual(["user.created ada"]);
  });
});

test("a webhook that waits for almost 14 days still waits", async () => {
  await change("user.created");
  await latchkey.execute("update pgboss.job set start_after = now() - interval '13 days 23 hours'");
  await purgeExpired();
  expect(await states()).toEqual(["created"]);
  expect(latchkey.events()).toEqual([]);
});

test("the maintenance of the queue deletes no webhook that waits", async () => {
  await change("user.created");
  const [row] = await latchkey.execute<{ kept: boolean }>(
    "select keep_until > now() + interval '100 years' as kept from pgboss.job",
  );
  expect(row?.kept).toBe(true);
});

test("a webhook whose process ended during its last retry is reported once", async () => {
  await change("user.created");
  await latchkey.execute("update pgboss.job set state = 'failed', completed_on = now()");
  await purgeExpired();
  await purgeExpired();
  expect(latchkey.events()).toEqual([{ event: "webhook.failed", reason: "retries_exhausted" }]);
});

test.each([
  [204, "ok", "accepted latchkey.test", undefined],
  [410, "fail", "wants no webhooks (status 410)", "start the service again when it does"],
  [401, "fail", "refuses the signature (status 401)", "give the application the same WEBHOOK_SECRET"],
  [302, "fail", "redirects (redirect 302), which is not followed", "set WEBHOOK_URL to where it leads"],
  [500, "fail", "answered: status 500", "correct WEBHOOK_URL, or see the application's log"],
])("doctor --webhook judges the answer %i: %s", async (answer, verdict, found, fix) => {
  status = () => answer;
  const { stdout } = await latchkey.command("doctor", "--webhook", "--json");
  const check = JSON.parse(stdout).find(({ name }: { name: string }) => name === "webhook");
  const { host } = new URL(application.settings.WEBHOOK_URL);
  expect(check).toEqual({ status: verdict, name: "webhook", found: `${host} ${found}`, ...(fix && { fix }) });
  expect(application.received.map(({ type, data }) => ({ type, data }))).toEqual([{ type: "latchkey.test", data: {} }]);
});
