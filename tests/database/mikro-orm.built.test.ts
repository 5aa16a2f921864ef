import { execFile } from "node:child_process";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { openDatabase } from "#server/database/orm";
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
  const { stdout, stderr } = await run("npm", ["run", "--silent", "mikro-orm", "--", ...command], { env });
  expect(stderr).not.toContain("ts-node");
  return stdout;
}

async function mended(path: string, text: string): Promise<string> {
  const biome = run("npx", ["biome", "check", "--write", `--stdin-file-path=${path}`]);
  biome.child.stdin?.end(text);
  return (await biome).stdout;
}

test("migrations can be checked and applied from the command line", async () => {
  expect(await mikroOrm("migration:up")).toContain("Successfully migrated up to the latest version");
  expect(await mikroOrm("migration:check")).toContain("No changes required, schema is up-to-date");
});

test("a new migration passes the check as it is made, and imports its base class when it runs, not at start", async () => {
  const folder = await mkdtemp(join(tmpdir(), "latchkey-migrations-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  const { orm, close } = await openDatabase(database.url);
  for (const removed of ["table installation", "index users_password_kind_index"])
    await orm.em.execute(`drop ${removed}`);
  await close();
  await mikroOrm("migration:create", "--path", folder);
  const [file = ""] = await readdir(folder);
  const migration = await readFile(join(folder, file), "utf8");
  expect(await mended(`server/database/migrations/${file}`, migration)).toBe(migration);
  expect(migration).toMatch(/^const \{ Migration \} = await import\("@mikro-orm\/migrations"\);\n/);
  expect(migration).toMatch(/export class Migration\d+ extends Migration \{\n {2}override up\(\): void \{\n/);
  expect(migration).toContain('this.addSql(`create table "installation"');
  expect(migration).toContain('create index "users_password_kind_index"');
});
