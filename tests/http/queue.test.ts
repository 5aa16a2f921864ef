import { expect, test } from "vitest";
import { openDatabase } from "#server/database/orm";
import { concurrency } from "#server/queue/job-queue";
import { send } from "../support/http";
import { startMailService } from "../support/mail-service";
import { type RunningServer, startServer } from "../support/server";
import { createDatabase } from "../support/template-copy";

const running = Array.from({ length: concurrency }, (_, n) => `running${n + 10}@example.com`);
const waiting = "waiting@example.com";

/** The jobs of mails while no server runs: only one process can open the embedded database. */
async function mailJobs(databaseUrl: string) {
  const { orm, close } = await openDatabase(databaseUrl);
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
  const [mailService, database] = [await startMailService({ kind: "no_answer" }), await createDatabase()];
  const settings = { DATABASE_URL: database.url, ...mailService.settings };
  const killed = await startServer(settings);
  await Promise.all(running.map((email) => register(killed, email)));
  await Promise.all(running.map((email) => mailService.held(email)));
  await register(killed, waiting);
  await killed.kill();

  expect(await mailJobs(database.url)).toEqual([...running.map((email) => [email, "active"]), [waiting, "created"]]);
  const server = await startServer(settings);
  const sent = await mailService.held(waiting);
  expect(sent.token).toMatch(/^[0-9a-f]{64}$/);
  sent.answer({ kind: "accept" });
  expect(await server.stop()).toBe(0);
  expect(server.output()).not.toContain("a-secret-value");
  await mailService.stop();
  await database.drop();
});
