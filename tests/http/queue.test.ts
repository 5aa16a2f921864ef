import { afterAll, beforeAll, expect, test } from "vitest";
import { openDatabase } from "#server/database/orm";
import { send } from "../support/http";
import { type MailService, startMailService } from "../support/mail-service";
import { createDatabase, type RunningServer, startServer, type TestDatabase } from "../support/server";

const running = ["a@example.com", "b@example.com", "c@example.com", "d@example.com"];
const waiting = "e@example.com";
const twoMinutes = 120_000;

let mailService: MailService;
let database: TestDatabase;
let server: RunningServer;

async function execute<T>(sql: string): Promise<T[]> {
  const { orm, close } = await openDatabase(database.url);
  const rows = await orm.em.fork().execute<T[]>(sql);
  await close();
  return rows;
}

async function register(email: string) {
  expect((await send(server.url, "/register", { form: { email } })).status).toBe(200);
}

/** Four jobs are running, all that one process runs at once, and a fifth is waiting, when the process is killed. */
beforeAll(async () => {
  mailService = await startMailService({ kind: "silence" });
  database = await createDatabase();
  server = await startServer({ DATABASE_URL: database.url, ...mailService.settings });
  for (const email of running) {
    await register(email);
    await mailService.held(email);
  }
  await register(waiting);
  await server.kill();
}, 60_000);

afterAll(async () => {
  await server.stop();
  await mailService.stop();
  await database.drop();
});

test(
  "killed between the request and the mail, the process sends it after the restart; killed while the job runs, within two minutes (aged to a minute by SQL)",
  async () => {
    const jobs = await execute<{ state: string; data: { email: string } }>(
      "select state, data from pgboss.job where data ->> 'task' = 'mail_registration' order by data ->> 'email'",
    );
    expect(jobs.map(({ state, data }) => [data.email, state])).toEqual([
      ...running.map((email) => [email, "active"]),
      [waiting, "created"],
    ]);
    await execute("update pgboss.job set started_on = started_on - interval '60 seconds' where state = 'active'");
    server = await startServer({ DATABASE_URL: database.url, ...mailService.settings });

    const sent = await mailService.held(waiting);
    expect(sent.token).toMatch(/^[0-9a-f]{64}$/);
    sent.answer({ kind: "accept" });
    await Promise.all(running.map(async (email) => (await mailService.held(email)).answer({ kind: "accept" })));
    expect(server.output()).not.toContain("hush-hush");
  },
  twoMinutes,
);

test("a mail that fails is tried again with a new token, and the page never waits for it", async () => {
  await register("f@example.com");
  const failed = await mailService.held("f@example.com");
  failed.answer({ kind: "answer", status: 500, body: '{"ErrorCode":500}' });
  await server.waitFor(/A job failed and will be tried again/);
  const retried = await mailService.held("f@example.com");
  expect(retried.token).toMatch(/^[0-9a-f]{64}$/);
  expect(retried.token).not.toBe(failed.token);
  retried.answer({ kind: "accept" });
  expect(server.output()).not.toContain(failed.token);
}, 60_000);

test("SIGTERM waits for the mail that is being sent", async () => {
  await register("g@example.com");
  const held = await mailService.held("g@example.com");
  const stopped = server.stop();
  held.answer({ kind: "accept" });
  expect(await stopped).toBe(0);
  const left = "select * from pgboss.job where state <> 'completed' and data ->> 'task' = 'mail_registration'";
  expect(await execute(left)).toEqual([]);
});
