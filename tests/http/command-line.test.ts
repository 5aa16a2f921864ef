import { execFile } from "node:child_process";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createEmptyDatabase, type TestDatabase } from "../support/server";

let database: TestDatabase;

beforeAll(async () => {
  database = await createEmptyDatabase();
});

afterAll(() => database.drop());

const run = promisify(execFile);

/** Runs a MikroORM command; rejects when it exits with another status than 0. */
async function mikroOrm(...command: string[]): Promise<string> {
  const env = { ...process.env, DATABASE_URL: database.url };
  const { stdout } = await run("npm", ["run", "--silent", "mikro-orm", "--", ...command], { env });
  return stdout;
}

test("migrations can be checked and applied from the command line", async () => {
  await expect(mikroOrm("migration:check")).rejects.toMatchObject({ code: 1 });
  expect(await mikroOrm("migration:up")).toContain("Successfully migrated up to the latest version");
  expect(await mikroOrm("migration:check")).toContain("No changes required, schema is up-to-date");
  expect(await mikroOrm("migration:pending")).not.toMatch(/Migration\d+/);
});

test("the template of a new migration imports its base class when the migration runs, not at start", async () => {
  const folder = await mkdtemp(join(tmpdir(), "latchkey-migrations-"));
  await mikroOrm("migration:create", "--blank", "--path", folder);
  const [file = ""] = await readdir(folder);
  const migration = await readFile(join(folder, file), "utf8");
  expect(migration).toMatch(/^const \{ Migration \} = await import\("@mikro-orm\/migrations"\);\n/);
  expect(migration).toMatch(/export class Migration\d+ extends Migration \{/);
  await rm(folder, { recursive: true });
});
