import { describe, expect, test, vi } from "vitest";
import { User } from "#server/database/entities";
import { orm, unitOfWork } from "#server/database/unit-of-work";
import { DatabaseUnavailable } from "#server/errors";
import * as dashboard from "~/routes/dashboard";
import { askForReset } from "../support/account-calls";
import { startLatchkey } from "../support/latchkey";
import { call, get } from "../support/route-calls";

const latchkey = startLatchkey();

async function signedInPage() {
  const cookie = await latchkey.signedIn();
  return () => call(dashboard.loader, get("/dashboard", { cookie }));
}

/** Destroys the socket of a pooled connection, and waits until the client has emitted `end`. */
async function destroyConnection(): Promise<void> {
  const pool = orm().em.getKnex().client;
  const client = await pool.acquireConnection();
  const ended = new Promise((resolve) => client.once("end", resolve));
  client.connection.stream.destroy();
  await ended;
  await pool.releaseConnection(client);
}

describe("after a lost connection", () => {
  test("the pool opens a new one", async () => {
    const forgot = () => askForReset("ada@example.com");
    expect(await forgot()).toMatchObject({ status: 200 });
    await destroyConnection();
    expect(await forgot()).toMatchObject({ status: 200 });
  });

  test("the statements of a page are prepared again", async () => {
    const page = await signedInPage();
    expect(await page()).toMatchObject({ status: 200 });
    await destroyConnection();
    expect(await page()).toMatchObject({ status: 200 });
  });
});

describe("a lost connection", () => {
  async function loseConnection(): Promise<void> {
    const page = await signedInPage();
    await page();
    await destroyConnection();
    await page();
  }

  test("is a line of the log", { tags: "16.3.4" }, async () => {
    await loseConnection();
    expect(latchkey.logLines().map((line) => JSON.parse(line))).toEqual([
      expect.objectContaining({ level: 40, msg: "Connection Error: Connection ended unexpectedly" }),
    ]);
  });

  test("is printed nowhere else", async () => {
    const printed = vi.spyOn(console, "log");
    await loseConnection();
    expect(printed.mock.calls).toEqual([]);
  });
});

test("a connection that is lost at BEGIN counts as an unavailable database", async () => {
  const pool = orm().em.getKnex().client;
  const client = await pool.acquireConnection();
  const query = client.query.bind(client);
  const lost = Object.assign(new Error("read ECONNRESET"), { code: "ECONNRESET" });
  const spy = vi.spyOn(client, "query");
  spy.mockImplementation((...[statement, done]: unknown[]) =>
    (statement as { text: string }).text === "BEGIN;" ? (done as (error: Error) => void)(lost) : query(statement, done),
  );
  await pool.releaseConnection(client);
  await expect(unitOfWork((em) => em.find(User, {}))).rejects.toThrow(DatabaseUnavailable);
  spy.mockRestore();
});

test("pages stay 200 when a migration changes a column's type while the process runs", async () => {
  const page = await signedInPage();
  expect(await page()).toMatchObject({ status: 200 });
  await latchkey.execute("alter table users alter column name type varchar(200)");
  expect(await page()).toMatchObject({ status: 200 });
  await latchkey.execute("alter table users alter column name type text");
  expect(await page()).toMatchObject({ status: 200 });
});
