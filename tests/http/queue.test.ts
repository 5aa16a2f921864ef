import { expect, test } from "vitest";
import { openDatabase } from "#server/database/orm";
import { concurrency } from "#server/queue/job-queue";
import { send } from "../support/http";
import { type MailService, startMailService } from "../support/mail-service";
import { type RunningServer, startServer, type TestDatabase } from "../support/server";
import { createDatabase } from "../support/template-copy";
import { until } from "../support/until";

const running = Array.from({ length: concurrency }, (_, n) => `running${n + 10}@example.com`);
const waiting = "waiting@example.com";
const mailJobs = "data ->> 'task' = 'mail_registration'";

/** A database and a mail service for one test, and one server on them at a time; gone at the end of the block. */
class Stage implements AsyncDisposable {
  #server: RunningServer | undefined;

  private constructor(
    readonly mailService: MailService,
    readonly database: TestDatabase,
  ) {}

  /** The mail service takes every mail and says nothing until the test answers it. */
  static async set(): Promise<Stage> {
    return new Stage(await startMailService({ kind: "silence" }), await createDatabase());
  }

  async start(): Promise<RunningServer> {
    this.#server = await startServer({ DATABASE_URL: this.database.url, ...this.mailService.settings });
    return this.#server;
  }

  /** A statement of the test's own, while no server runs: the embedded database is one process's. */
  async execute<T>(sql: string): Promise<T[]> {
    const { orm, close } = await openDatabase(this.database.url);
    const rows = await orm.em.fork().execute<T[]>(sql);
    await close();
    return rows;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server?.kill();
    await this.mailService.stop();
    await this.database.drop();
  }
}

async function register({ url }: RunningServer, email: string) {
  expect((await send(url, "/register", { form: { email } })).status).toBe(200);
}

test("killed with as many mails being sent as there may be and one more waiting, the process sends them all after the restart (their minute aged by SQL)", async () => {
  await using stage = await Stage.set();
  const { mailService } = stage;
  const killed = await stage.start();
  await Promise.all(running.map((email) => register(killed, email)));
  await Promise.all(running.map((email) => mailService.held(email)));
  await register(killed, waiting);
  await killed.kill();

  const jobs = await stage.execute<{ state: string; data: { email: string } }>(
    `select state, data from pgboss.job where ${mailJobs} order by data ->> 'email'`,
  );
  expect(jobs.map(({ state, data }) => [data.email, state])).toEqual([
    ...running.map((email) => [email, "active"]),
    [waiting, "created"],
  ]);
  await stage.execute("update pgboss.job set started_on = started_on - interval '60 seconds' where state = 'active'");
  const server = await stage.start();

  const sent = await mailService.held(waiting);
  expect(sent.token).toMatch(/^[0-9a-f]{64}$/);
  sent.answer({ kind: "accept" });
  await Promise.all(running.map(async (email) => (await mailService.held(email)).answer({ kind: "accept" })));
  expect(server.output()).not.toContain("hush-hush");
}, 120_000);

test("a mail that fails is tried again with a new token, after a restart too", async () => {
  await using stage = await Stage.set();
  const { mailService } = stage;
  const first = await stage.start();
  await register(first, "f@example.com");
  const failed = await mailService.held("f@example.com");
  failed.answer({ kind: "answer", status: 500, body: '{"ErrorCode":500}' });
  await first.waitFor(/A job failed and will be retried/);
  expect(await first.stop()).toBe(0);
  expect(first.output()).not.toContain(failed.token);

  await stage.execute(`update pgboss.job set start_after = now() where state = 'retry' and ${mailJobs}`);
  const second = await stage.start();
  const retried = await mailService.held("f@example.com");
  expect(retried.token).toMatch(/^[0-9a-f]{64}$/);
  expect(retried.token).not.toBe(failed.token);
  retried.answer({ kind: "accept" });
  expect(await second.stop()).toBe(0);
  expect(await stage.execute(`select * from pgboss.job where ${mailJobs}`)).toEqual([]);
}, 60_000);

test("SIGTERM waits for the mail that is being sent", async () => {
  await using stage = await Stage.set();
  const server = await stage.start();
  await register(server, "g@example.com");
  const held = await stage.mailService.held("g@example.com");
  const stopped = server.stop();
  const closed = () =>
    fetch(server.url).then(
      () => false,
      () => true,
    );
  await until(closed, "the server takes no connection");
  held.answer({ kind: "accept" });
  expect(await stopped).toBe(0);
  expect(await stage.execute(`select * from pgboss.job where ${mailJobs}`)).toEqual([]);
}, 60_000);
