import { execFile } from "node:child_process";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { openDatabase } from "#server/database/orm";
import { createDatabase } from "../support/template-copy";

const run = promisify(execFile);

/** Runs a MikroORM command; rejects when it exits with another status than 0. */
async function mikroOrm(url: string, ...command: string[]): Promise<string> {
  const env = { ...process.env, DATABASE_URL: url };
  const { stdout, stderr } = await run("npm", ["run", "--silent", "mikro-orm", "--", ...command], { env });
  expect(stderr).not.toContain("ts-node");
  return stdout;
}

async function fixed(path: string, text: string): Promise<string> {
  const biome = run("npx", ["biome", "check", "--write", `--stdin-file-path=${path}`]);
  biome.child.stdin?.end(text);
  return (await biome).stdout;
}

test("migrations can be applied from the command line", async () => {
  const { url, drop } = await createDatabase();
  onTestFinished(drop);
  const { orm, close } = await openDatabase(url);
  await orm.em.execute("drop schema public cascade; drop schema pgboss cascade; create schema public");
  await close();
  expect(await mikroOrm(url, "migration:up")).toContain("Successfully migrated up to the latest version");
  expect(await mikroOrm(url, "migration:check")).toContain("No changes required, schema is up-to-date");
});

describe("a new migration", () => {
  let file: string;
  let migration: string;

  beforeAll(async () => {
    const folder = await mkdtemp(join(tmpdir(), "latchkey-migrations-"));
    const { url, drop } = await createDatabase();
    const { orm, close } = await openDatabase(url);
    for (const removed of ["table installation", "index users_password_kind_index"])
      await orm.em.execute(`drop ${removed}`);
    await close();
    await mikroOrm(url, "migration:create", "--path", folder);
    [file = ""] = await readdir(folder);
    migration = await readFile(join(folder, file), "utf8");
    await drop();
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
