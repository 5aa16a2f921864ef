import type pg from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startApplication } from "../support/application";
import { failed, latchkey, succeeded } from "../support/command";
import { connect } from "../support/postgres-cluster";
import { runLatchkey } from "../support/running-latchkey";
import { until } from "../support/until";

let status = 204;
const application = await startApplication(() => status);
afterAll(application.stop);
const service = runLatchkey(application.settings);

const run = (...words: string[]) => latchkey(words, { ...application.settings, DATABASE_URL: service.databaseUrl() });

let database: pg.Client;
beforeAll(async () => {
  database = await connect(service.databaseUrl());
});
afterAll(() => database.end());

const jobs = async (): Promise<{ id: string; state: string; userId: string; completed_on: Date }[]> => {
  const sql = `select *, data #>> '{data,id}' as "userId" from pgboss.job where name = 'latchkey-webhooks'`;
  return (await database.query(sql)).rows;
};

test("the service sends the webhook of a command", async () => {
  await run("user", "create", "bob@example.com", "--name", "Bob");
  await until(async () => (await jobs()).length === 0, "the webhook is delivered");
  expect(application.received).toMatchObject([{ type: "user.created", data: { email: "bob@example.com" } }]);
});

test("`webhook failed` says that no webhook was given up", async () => {
  expect(await run("webhook", "failed")).toEqual(succeeded("No webhook was given up.\n"));
});

test("`webhook retry` refuses an id that no webhook has", async () => {
  const other = crypto.randomUUID();
  expect(await run("webhook", "retry", other)).toEqual(
    failed(`No webhook that was given up has the id ${other}: \`latchkey webhook failed\` lists them.\n`),
  );
});

describe("a webhook that was given up", () => {
  let id: string;

  beforeAll(async () => {
    application.received.length = 0;
    status = 500;
    await run("user", "create", "ada@example.com", "--name", "Ada");
    await until(async () => (await jobs())[0]?.state === "retry", "the first attempt has failed");
    await database.query(
      "update pgboss.job set start_after = now() - interval '1 second', retry_count = 13 where state = 'retry'",
    );
    await until(async () => (await jobs())[0]?.state === "failed", "the webhook is given up");
    id = (await jobs())[0]!.id;
  }, 240_000);

  test("is listed by `webhook failed`", async () => {
    const [job] = await jobs();
    const { userId, completed_on: at } = job!;
    const error = "CallError status 500";
    expect(await run("webhook", "failed")).toEqual(
      succeeded(`${id}  ${at.toISOString()}  user.created  ${userId}  ${error}\n`),
    );
    const { stdout } = await run("webhook", "failed", "--json");
    expect(JSON.parse(stdout)).toEqual([{ id, type: "user.created", userId, at: at.toISOString(), error }]);
  });

  test("is not listed by `mail failed`", async () => {
    expect((await run("mail", "failed")).stdout).toBe("No mail was given up.\n");
  });

  test("is sent again by `webhook retry` with its id", async () => {
    status = 204;
    expect(await run("webhook", "retry", id)).toEqual(succeeded("1 webhook will be sent again.\n"));
    await until(async () => (await jobs()).length === 0, "the webhook is delivered");
    expect(new Set(application.received.map((webhook) => webhook.id))).toEqual(new Set([id]));
    expect(application.received.at(-1)).toMatchObject({ type: "user.created", data: { email: "ada@example.com" } });
  });
});
