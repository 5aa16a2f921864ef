import type { SMTPServerOptions } from "smtp-server";
import { beforeEach, describe, expect, test, vi } from "vitest";
import { orm } from "#server/database/unit-of-work";
import { MailRefused } from "#server/errors";
import { JobQueue, mails } from "#server/queue/job-queue";
import type { Job } from "#server/queue/jobs";
import type { Worker } from "#server/queue/worker";
import * as resetPassword from "~/routes/reset-password";
import { askForReset } from "../support/account-calls";
import { startLatchkey } from "../support/latchkey";
import { recordOutgoingCalls } from "../support/outgoing-calls";
import { twice } from "../support/passwords";
import { call, post } from "../support/route-calls";
import { refuse, startSmtpServer } from "../support/smtp-service";

const latchkey = startLatchkey({
  APP_URL: "https://latchkey.example",
  MAIL_FROM: "mail@latchkey.example",
  MAIL_DRIVER: "resend",
  RESEND_API_KEY: "re_secret",
});
const outgoing = recordOutgoingCalls();

const email = "ada@example.com";
const resend = "https://api.resend.com/emails";
const day = 86_400; // s

const jobs = () => latchkey.execute<object>("select * from pgboss.job where data->>'task' = 'mail_password_reset'");

const endWait = () =>
  latchkey.execute("update pgboss.job set start_after = now() - interval '1 second' where state = 'retry'");

const tokenOf = (sent?: { body: string }) => /token=([0-9a-f]{64})\b/.exec(sent?.body ?? "")?.[1] ?? "no token";

beforeEach(() => latchkey.createUser({ email, password: null }));

describe("a mail that always fails", () => {
  let waits: number[];

  beforeEach(async () => {
    await askForReset(email);
    waits = [];
    for (;;) {
      outgoing.answer("POST", resend, { broken: true });
      await latchkey.drain();
      const [job] = await latchkey.execute<{ state: string; wait: number }>(
        "select state::text, extract(epoch from start_after - now())::float as wait from pgboss.job where data->>'email' = ?",
        [email],
      );
      if (job?.state === "failed") break;
      expect(job).toEqual({ state: "retry", wait: expect.any(Number) });
      waits.push(job?.wait ?? 0);
      await endWait();
    }
  });

  test("is tried at least ten times", () => {
    const tries = outgoing.calls().length;
    expect(tries).toBe(waits.length + 1);
    expect(tries).toBeGreaterThanOrEqual(10);
    expect(latchkey.mails()).toEqual([]);
  });

  test("is tried for at least a day", () => {
    expect(waits.reduce((sum, wait) => sum + wait)).toBeGreaterThanOrEqual(day);
  });

  test("is tried with growing delays", () => {
    expect(waits).toEqual([...waits].sort((a, b) => a - b));
    expect(waits[0]).toBeGreaterThan(0);
  });

  test("is reported as given up", () => {
    expect(latchkey.events()).toEqual([
      { event: "password_reset.requested" },
      { event: "mail.failed", reason: "retries_exhausted" },
    ]);
  });
});

describe("a job for an unknown address that fails like recent mails", () => {
  let tries: number;

  beforeEach(async () => {
    await askForReset(email);
    outgoing.answer("POST", resend, { broken: true });
    await latchkey.drain();
    await latchkey.execute("delete from pgboss.job where data->>'email' = ?", [email]);

    const unknown = "nobody@example.com";
    await askForReset(unknown);
    const ofUnknown = "select state::text, output from pgboss.job where data->>'email' = ?";
    const find = () => latchkey.execute<object>(ofUnknown, [unknown]);
    tries = 0;
    do {
      await endWait();
      await latchkey.drain();
      tries++;
      for (const job of await find()) expect(job).toEqual({ state: "retry", output: { error: "SimulatedFailure" } });
    } while ((await find()).length > 0);
  });

  test("is retried as often as a mail", () => {
    expect(tries).toBe(15);
  });

  test("makes no call", () => {
    expect(outgoing.calls()).toHaveLength(1);
  });

  test("ends without an event", () => {
    const requested = { event: "password_reset.requested" };
    expect(latchkey.events()).toEqual([requested, requested]);
  });
});

describe("a mail that the mail service refuses permanently", () => {
  beforeEach(async () => {
    await askForReset(email);
    const body = '{"name":"validation_error","message":"Invalid `to` field"}';
    outgoing.answer("POST", resend, { status: 422, body });
    await latchkey.drain();
  });

  test("is not retried", async () => {
    const output = { error: "MailRefused", reason: "message_refused" };
    expect(await jobs()).toMatchObject([{ state: "cancelled", output }]);
    await latchkey.drain();
    expect(outgoing.calls()).toHaveLength(1);
  });

  test("is reported with its reason", () => {
    expect(latchkey.events()).toEqual([
      { event: "password_reset.requested" },
      { event: "mail.failed", reason: "message_refused" },
    ]);
    const failed = latchkey.logLines().find((line) => line.includes("mail.failed")) ?? "";
    const fields = { level: 30, time: expect.any(String), jobId: expect.any(String) };
    expect(JSON.parse(failed)).toEqual({ ...fields, event: "mail.failed", reason: "message_refused" });
  });

  test("leaves no address in the log", () => {
    expect(latchkey.logLines().join()).not.toContain(email);
  });
});

describe("a failed mail", () => {
  const first = () => tokenOf(outgoing.calls()[0]);

  beforeEach(async () => {
    await askForReset(email);
    outgoing.answer("POST", resend, { status: 500 });
    await latchkey.drain();
  });

  async function retry(): Promise<void> {
    await endWait();
    outgoing.answer("POST", resend, { body: '{"id":"49a3999c-0ce1-4ea6-ab68-afcd6dc2e794"}' });
    await latchkey.drain();
    expect(outgoing.calls()).toHaveLength(2);
  }

  test("is retried with the same job", async () => {
    const data = { task: "mail_password_reset", email, language: "en" };
    expect(await jobs()).toMatchObject([{ state: "retry", data, retry_count: 0 }]);
  });

  test("leaves no secret in the job", async () => {
    const [failed] = await jobs();
    for (const secret of [first(), "re_secret"]) expect(JSON.stringify(failed)).not.toContain(secret);
  });

  test("leaves no secret in the log", () => {
    for (const secret of [first(), "re_secret"]) expect(latchkey.logLines().join()).not.toContain(secret);
  });

  test("is no event before its retry", async () => {
    const requested = { event: "password_reset.requested" };
    expect(latchkey.events()).toEqual([requested]);
    await retry();
    expect(latchkey.events().slice(0, 2)).toEqual([requested, { event: "password_reset.sent" }]);
  });

  test("is retried with a new token", async () => {
    await retry();
    const second = tokenOf(outgoing.calls()[1]);
    expect(await latchkey.execute("select from password_resets")).toHaveLength(2);
    expect(second).not.toBe(first());
    const link = post("/reset-password", { email, token: second, ...twice("another good password") });
    expect(await call(resetPassword.action, link)).toMatchObject({ location: "/login?notice=password_reset" });
  });
});

test.each([
  ["job", async () => JSON.stringify((await jobs())[0])],
  ["log", async () => latchkey.logLines().join()],
])("of a failed SMTP server's answer the %s has the codes alone", async (_where, text) => {
  const onRcptTo: SMTPServerOptions["onRcptTo"] = (_address, _session, done) => done(refuse(451));
  const { port } = await startSmtpServer({ authOptional: true, hideSTARTTLS: true, onRcptTo });
  latchkey.configure({ MAIL_DRIVER: "smtp", SMTP_URL: `smtp://127.0.0.1:${port}` });
  await askForReset(email);
  await latchkey.drain();
  const output = { error: "SmtpError", code: "EENVELOPE 451" };
  expect(await jobs()).toMatchObject([{ state: "retry", output }]);
  expect(await text()).toContain("EENVELOPE 451");
  expect(await text()).not.toMatch(/refused for a reason|[0-9a-f]{64}/);
});

describe("a job that ends while the database is away", () => {
  const refused = Object.assign(new Error("connect ECONNREFUSED"), { code: "ECONNREFUSED" });
  let calls: number;

  async function cutOff(call: () => Promise<"sent">, next = (worker: Worker<Job>) => worker.drain()) {
    await askForReset(email);
    calls = 0;
    const worker = new JobQueue(orm()).worker(mails, async () => () => {
      calls++;
      vi.spyOn(orm().em.getKnex().client, "acquireConnection").mockRejectedValueOnce(refused);
      return call();
    });
    await expect(worker.drain()).rejects.toThrow("ECONNREFUSED");
    expect(await jobs()).toMatchObject([{ state: "active" }]);
    await next(worker);
  }

  test("is not sent again if it was sent", async () => {
    await cutOff(async () => "sent");
    expect(await jobs()).toEqual([]);
    expect(calls).toBe(1);
  });

  test("is not sent again by the next process if this one stops after the return", async () => {
    await cutOff(
      async () => "sent",
      (worker) => worker.stop(),
    );
    expect(await jobs()).toEqual([]);
  });

  test("is recorded before another job is fetched", async () => {
    await cutOff(
      async () => "sent",
      async (worker) => {
        await latchkey.execute("update pgboss.job set state = 'retry', start_after = now() - interval '1 second'");
        await worker.drain();
      },
    );
    expect(calls).toBe(1);
  });

  test("is recorded after an outage of seven hours", async () => {
    await cutOff(
      async () => "sent",
      async (worker) => {
        const away = vi.spyOn(orm().em.getKnex().client, "acquireConnection").mockRejectedValue(refused);
        for (let poll = 0; poll < 5_000; poll++) await worker.drain().catch(() => {});
        away.mockRestore();
        await worker.drain();
      },
    );
    expect(await jobs()).toEqual([]);
  });

  test("is retried if it failed", async () => {
    await cutOff(() => Promise.reject(new Error("cut off")));
    expect(await jobs()).toMatchObject([{ state: "retry" }]);
    expect(calls).toBe(1);
  });

  test("is reported with its id if it was refused", async () => {
    await cutOff(() => Promise.reject(new MailRefused("message_refused")));
    const [job] = await latchkey.execute<{ id: string }>("select id from pgboss.job where state = 'cancelled'");
    const failed = latchkey
      .logLines()
      .map((line) => JSON.parse(line))
      .filter(({ event }) => event === "mail.failed");
    expect(failed).toMatchObject([{ jobId: job?.id, reason: "message_refused" }]);
  });
});

test.each([
  ["with a try left is worked", 13, []],
  ["in its last try stays active for pg-boss to end", 14, [{ state: "active" }]],
])("a mail whose process was killed %s after repeatInterrupted()", async (_what, retryCount, left) => {
  await askForReset(email);
  await latchkey.execute("update pgboss.job set state = 'active', started_on = now(), retry_count = ?", [retryCount]);
  const queue = new JobQueue(orm());
  await queue.repeatInterrupted();
  await queue.worker(mails, async () => undefined).drain();
  expect(await jobs()).toMatchObject(left);
});
