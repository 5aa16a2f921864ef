import { afterAll, beforeAll, expect, test } from "vitest";
import { startApplication } from "../support/application";
import { failed, latchkey, succeeded } from "../support/command";
import { createDatabases } from "../support/databases";
import { connect } from "../support/postgres-cluster";
import { type RunningServer, startServer } from "../support/server";
import { until } from "../support/until";

const cluster = createDatabases();
let application: Awaited<ReturnType<typeof startApplication>>;
let service: RunningServer;
let settings: Record<string, string>;
let status = 204;

beforeAll(async () => {
  application = await startApplication(() => status);
  settings = { ...application.settings, DATABASE_URL: await cluster.createDatabase() };
  service = await startServer(settings);
});

afterAll(async () => {
  await service.kill();
  await application.stop();
});

async function query<Row extends object>(sql: string): Promise<Row[]> {
  const client = await connect(settings.DATABASE_URL ?? "");
  try {
    return (await client.query<Row>(sql)).rows;
  } finally {
    await client.end();
  }
}

const jobs = () =>
  query<{ id: string; state: string; userId: string; completed_on: Date }>(
    `select *, data #>> '{data,id}' as "userId" from pgboss.job where name = 'latchkey-webhooks'`,
  );

test("a webhook of a command is sent by the service, and one that was given up is listed and sent again", async () => {
  expect(await latchkey(["webhook", "failed"], settings)).toEqual(succeeded("No webhook was given up.\n"));
  status = 500;
  await latchkey(["user", "create", "ada@example.com", "--name", "Ada"], settings);
  await until(async () => (await jobs())[0]?.state === "retry", "the first attempt has failed");
  await query(
    "update pgboss.job set start_after = now() - interval '1 second', retry_count = 13 where state = 'retry'",
  );
  await until(async () => (await jobs())[0]?.state === "failed", "the webhook is given up");
  const [job] = await jobs();
  const { id, userId, completed_on: at } = job!;
  const error = "CallError status 500";
  expect(await latchkey(["webhook", "failed"], settings)).toEqual(
    succeeded(`${id}  ${at.toISOString()}  user.created  ${userId}  ${error}\n`),
  );
  const { stdout } = await latchkey(["webhook", "failed", "--json"], settings);
  expect(JSON.parse(stdout)).toEqual([{ id, type: "user.created", userId, at: at.toISOString(), error }]);
  expect((await latchkey(["mail", "failed"], settings)).stdout).toBe("No mail was given up.\n");

  const other = crypto.randomUUID();
  expect(await latchkey(["webhook", "retry", other], settings)).toEqual(
    failed(`No webhook that was given up has the id ${other}: \`latchkey webhook failed\` lists them.\n`),
  );
  status = 204;
  expect(await latchkey(["webhook", "retry", id], settings)).toEqual(succeeded("1 webhook will be sent again.\n"));
  await until(async () => (await jobs()).length === 0, "the webhook is delivered");
  expect(new Set(application.received.map((webhook) => webhook.id))).toEqual(new Set([id]));
  expect(application.received.at(-1)).toMatchObject({ type: "user.created", data: { email: "ada@example.com" } });
}, 240_000);

test.each([
  [204, "ok", "accepted latchkey.test", undefined],
  [410, "fail", "wants no webhooks (status 410)", "start the service again when it does"],
  [401, "fail", "refuses the signature (status 401)", "give the application the same WEBHOOK_SECRET"],
  [302, "fail", "redirects (redirect 302), which is not followed", "set WEBHOOK_URL to where it leads"],
  [500, "fail", "answered: status 500", "correct WEBHOOK_URL, or see the application's log"],
])("doctor --webhook, answered %i: %s", async (answer, verdict, found, mend) => {
  status = answer;
  application.received.length = 0;
  const { stdout } = await latchkey(["doctor", "--webhook", "--json"], settings);
  const check = JSON.parse(stdout).find(({ name }: { name: string }) => name === "webhook");
  const host = new URL(settings.WEBHOOK_URL ?? "").host;
  expect(check).toEqual({ status: verdict, name: "webhook", found: `${host} ${found}`, ...(mend && { mend }) });
  expect(application.received.map(({ type, data }) => ({ type, data }))).toEqual([{ type: "latchkey.test", data: {} }]);
});
