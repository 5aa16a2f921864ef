import { afterEach, beforeEach, expect, test } from "vitest";
import { openDatabase } from "#server/database/orm";
import { concurrency } from "#server/queue/job-queue";
import { send } from "../support/http";
import { type MailService, startMailService } from "../support/mail-service";
import { type RunningServer, startServer, type TestDatabase } from "../support/server";
import { createDatabase } from "../support/template-copy";
import { until } from "../support/until";

const running = Array.from({ length: concurrency }, (_, n) => `running${n + 10}@example.com`);
const waiting = "waiting@example.com";

let mailService: MailService;
let database: TestDatabase;
let server: RunningServer | undefined;

/** The mail service receives every mail and sends no answer until the test does. */
beforeEach(async () => {
  [mailService, database] = [await startMailService({ kind: "no_answer" }), await createDatabase()];
});

afterEach(async () => {
  await server?.kill();
  await mailService.stop();
  await database.drop();
});

async function start(): Promise<RunningServer> {
  server = await startServer({ DATABASE_URL: database.url, ...mailService.settings });
  return server;
}

/** The jobs of mails while no server runs: only one process can open the embedded database. */
async function mailJobs() {
  const { orm, close } = await openDatabase(database.url);
  const rows = await orm.em.fork().execute<{ state: string; email: string }[]>(
    `select state, data ->> 'email' as email from pgboss.job
     where data ->> 'task' = 'mail_registration' order by data ->> 'email'`,
  );
  await close();
  return rows.map(({ state, email }) => [email, state]);
}

async function register({ url }: RunningServer, email: string) {
  expect((await send(url, "/register", { form: { email } })).status).toBe(200);
}

// tests/faults/kill.test.ts waits until those in flight are sent again.
test("kill -9 with the most concurrent mails in flight and one waiting loses no job, and the restart sends the one that waited", async () => {
  const killed = await start();
  await Promise.all(running.map((email) => register(killed, email)));
  await Promise.all(running.map((email) => mailService.held(email)));
  await register(killed, waiting);
  await killed.kill();

  expect(await mailJobs()).toEqual([...running.map((email) => [email, "active"]), [waiting, "created"]]);
  const server = await start();
  const sent = await mailService.held(waiting);
  expect(sent.token).toMatch(/^[0-9a-f]{64}$/);
  sent.answer({ kind: "accept" });
  expect(await server.stop()).toBe(0);
  expect(server.output()).not.toContain("a-secret-value");
});

test("on SIGTERM the process finishes the mail in flight before it exits", async () => {
  const server = await start();
  await register(server, "g@example.com");
  const held = await mailService.held("g@example.com");
  const stopped = server.stop();
  const closed = () =>
    fetch(server.url).then(
      () => false,
      () => true,
    );
  await until(closed, "the server refuses connections");
  held.answer({ kind: "accept" });
  expect(await stopped).toBe(0);
  expect(await mailJobs()).toEqual([]);
});
