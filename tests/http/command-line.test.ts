import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createEmptyDatabase, type TestDatabase } from "../support/server";

let database: TestDatabase;

beforeAll(async () => {
  database = await createEmptyDatabase();
});

afterAll(() => database.drop());

const run = promisify(execFile);

async function mikroOrm(...command: string[]): Promise<string> {
  const env = { ...process.env, DATABASE_URL: database.url };
  const { stdout, stderr } = await run("npm", ["run", "--silent", "mikro-orm", "--", ...command], { env });
  expect(stderr).not.toContain("ts-node");
  return stdout;
}

test("migrations can be checked and applied from the command line", async () => {
  await expect(mikroOrm("migration:check")).rejects.toMatchObject({ code: 1 });
  expect(await mikroOrm("migration:up")).toContain("Successfully migrated up to the latest version");
  expect(await mikroOrm("migration:check")).toContain("No changes required, schema is up-to-date");
  expect(await mikroOrm("migration:pending")).not.toMatch(/Migration\d+/);
});
