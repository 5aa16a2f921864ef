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

/** A database, a mail service and one server at a time for one test; disposed at the end of the block. */
class Fixture implements AsyncDisposable {
  #server: RunningServer | undefined;

  private constructor(
    readonly mailService: MailService,
    readonly database: TestDatabase,
  ) {}

  /** The mail service receives every mail and sends no answer until the test does. */
  static async create(): Promise<Fixture> {
    return new Fixture(await startMailService({ kind: "no_answer" }), await createDatabase());
  }

  async start(): Promise<RunningServer> {
    this.#server = await startServer({ DATABASE_URL: this.database.url, ...this.mailService.settings });
    return this.#server;
  }

  /** Runs a statement while no server runs: only one process can open the embedded database. */
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

// tests/faults/kill.test.ts waits until those in flight are sent again.
test("kill -9 with the most concurrent mails in flight and one waiting loses no job, and the restart sends the one that waited", async () => {
  await using fixture = await Fixture.create();
  const { mailService } = fixture;
  const killed = await fixture.start();
  await Promise.all(running.map((email) => register(killed, email)));
  await Promise.all(running.map((email) => mailService.held(email)));
  await register(killed, waiting);
  await killed.kill();

  const jobs = await fixture.execute<{ state: string; data: { email: string } }>(
    `select state, data from pgboss.job where ${mailJobs} order by data ->> 'email'`,
  );
  expect(jobs.map(({ state, data }) => [data.email, state])).toEqual([
    ...running.map((email) => [email, "active"]),
    [waiting, "created"],
  ]);
  const server = await fixture.start();
  const sent = await mailService.held(waiting);
  expect(sent.token).toMatch(/^[0-9a-f]{64}$/);
  sent.answer({ kind: "accept" });
  expect(await server.stop()).toBe(0);
  expect(server.output()).not.toContain("a-secret-value");
});

test("a failed mail is retried with a new token, even after a restart", async () => {
  await using fixture = await Fixture.create();
  const { mailService } = fixture;
  const first = await fixture.start();
  await register(first, "f@example.com");
  const failed = await mailService.held("f@example.com");
  failed.answer({ kind: "answer", status: 500, body: '{"ErrorCode":500}' });
  await first.waitFor(/A job failed and will be retried/);
  expect(await first.stop()).toBe(0);
  expect(first.output()).not.toContain(failed.token);

  await fixture.execute(`update pgboss.job set start_after = now() where state = 'retry' and ${mailJobs}`);
  const second = await fixture.start();
  const retried = await mailService.held("f@example.com");
  expect(retried.token).toMatch(/^[0-9a-f]{64}$/);
  expect(retried.token).not.toBe(failed.token);
  retried.answer({ kind: "accept" });
  expect(await second.stop()).toBe(0);
  expect(await fixture.execute(`select * from pgboss.job where ${mailJobs}`)).toEqual([]);
});

test("on SIGTERM the process finishes the mail in flight before it exits", async () => {
  await using fixture = await Fixture.create();
  const server = await fixture.start();
  await register(server, "g@example.com");
  const held = await fixture.mailService.held("g@example.com");
  const stopped = server.stop();
  const closed = () =>
    fetch(server.url).then(
      () => false,
      () => true,
    );
  await until(closed, "the server refuses connections");
  held.answer({ kind: "accept" });
  expect(await stopped).toBe(0);
  expect(await fixture.execute(`select * from pgboss.job where ${mailJobs}`)).toEqual([]);
});
