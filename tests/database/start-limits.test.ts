import { expect, onTestFinished, test } from "vitest";
import { withStartLock } from "#server/database/migrate";
import { openDatabase } from "#server/database/orm";
import { createFolder } from "../support/template-copy";

test("a migration of the embedded database may take longer than a page's statement", async () => {
  const { url, drop } = await createFolder();
  onTestFinished(drop);
  const database = await openDatabase(url, null, 100); // ms; the client waits 500 longer
  onTestFinished(database.close);
  const slow = "select pg_sleep(0.8)"; // the statement is slow; nothing is waited for
  await expect(database.orm.em.fork().execute(slow)).rejects.toThrow();
  await withStartLock(database, async (orm) => void (await orm.em.fork().execute(slow)));
  expect(await database.orm.em.fork().execute("select 1 as one")).toEqual([{ one: 1 }]);
});
