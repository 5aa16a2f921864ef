import { execFile } from "node:child_process";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openDatabase } from "#server/database/orm";
import { createEmptyDatabase, type TestDatabase } from "../support/server";

const run = promisify(execFile);

let database: TestDatabase;
let applied: string;
let checked: string;

/** Runs a MikroORM command; rejects when it exits with another status than 0. */
async function mikroOrm(...command: string[]): Promise<string> {
  const env = { ...process.env, DATABASE_URL: database.url };
  const { stdout, stderr } = await run("npm", ["run", "--silent", "mikro-orm", "--", ...command], { env });
  expect(stderr).not.toContain("ts-node");
  return stdout;
}

async function fixed(path: string, text: string): Promise<string> {
  const biome = run("npx", ["biome", "check", "--write", `--stdin-file-path=${path}`]);
  biome.child.stdin?.end(text);
  return (await biome).stdout;
}

beforeAll(async () => {
  database = await createEmptyDatabase();
  applied = await mikroOrm("migration:up");
  checked = await mikroOrm("migration:check");
});

afterAll(() => database.drop());

test("migrations can be applied from the command line", () => {
  expect(applied).toContain("Successfully migrated up to the latest version");
  expect(checked).toContain("No changes required, schema is up-to-date");
});

describe("a new migration", () => {
  let file: string;
  let migration: string;

  beforeAll(async () => {
    const folder = await mkdtemp(join(tmpdir(), "latchkey-migrations-"));
    const { orm, close } = await openDatabase(database.url);
    for (const removed of ["table installation", "index users_password_kind_index"])
      await orm.em.execute(`drop ${removed}`);
    await close();
    await mikroOrm("migration:create", "--path", folder);
    [file = ""] = await readdir(folder);
    migration = await readFile(join(folder, file), "utf8");
    await rm(folder, { recursive: true });
  });

  test("passes the check as it is made", async () => {
    expect(await fixed(`server/database/migrations/${file}`, migration)).toBe(migration);
  });

  test("imports its base class when it runs", () => {
    expect(migration).toMatch(/^const \{ Migration \} = await import\("@mikro-orm\/migrations"\);\n/);
    expect(migration).toMatch(/export class Migration\d+ extends Migration \{\n {2}override up\(\): void \{\n/);
  });

  test("has the changes that are missing", () => {
    expect(migration).toContain('this.addSql(`create table "installation"');
    expect(migration).toContain('create index "users_password_kind_index"');
  });
});
