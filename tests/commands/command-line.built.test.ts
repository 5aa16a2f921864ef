import { existsSync } from "node:fs";
import { chmod, mkdir, mkdtemp, readdir, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PGlite } from "@electric-sql/pglite";
import { afterAll, beforeAll, expect, test } from "vitest";
import { failed, latchkey, succeeded } from "../support/command";
import { createEmptyDatabase, freePort, startServer } from "../support/server";

let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "latchkey-commands-"));
});

afterAll(() => rm(folder, { recursive: true }));

test("the path of a file that cannot be read is told in full", async () => {
  expect(await latchkey(["user", "import", "missing"], { DATABASE_URL: "pglite:not-used" }, folder)).toEqual(
    failed(`${join(folder, "missing")} cannot be read: ENOENT.\n`),
  );
});

test("settings are read from .env of the current folder, and a wrong one is told in the start's words", async () => {
  await writeFile(join(folder, ".env"), "DATABASE_URL=mysql://127.0.0.1/x\n");
  expect(await latchkey(["user", "export"], {}, folder)).toEqual(
    failed("The configuration is not usable:\n  - DATABASE_URL must be a postgresql:// URL, or pglite: and a folder\n"),
  );
});

test("doctor names a setting that is almost right", async () => {
  const settings = { DATABASE_URL: `pglite:${join(folder, "none")}`, REGISTRATON: "closed" };
  const { stdout } = await latchkey(["doctor"], settings);
  expect(stdout).toContain("REGISTRATON is no setting; REGISTRATION is");
});

test("an embedded database that does not exist is not created", async () => {
  const missing = join(folder, "missing");
  expect(await latchkey(["user", "export"], { DATABASE_URL: `pglite:${missing}` })).toEqual(
    failed(`There is no database in the folder ${missing}: \`latchkey database migrate\` makes one.\n`),
  );
  expect(existsSync(missing)).toBe(false);
});

test("a folder without a database is refused, and what is in it keeps its rights", async () => {
  const other = join(folder, "other");
  const file = join(other, "file");
  await mkdir(other);
  await chmod(other, 0o755);
  const settings = { DATABASE_URL: `pglite:${other}` };
  const stderr = `There is no database in the folder ${other}: \`latchkey database migrate\` makes one.\n`;
  const none = failed(stderr);
  expect(await latchkey(["user", "export"], settings)).toEqual(none);
  expect(await readdir(other)).toEqual([]);
  await writeFile(file, "");
  await chmod(file, 0o755);
  expect(await latchkey(["user", "export"], settings)).toEqual(none);
  expect(await latchkey(["database", "migrate"], settings)).toEqual({
    ...none,
    stderr: `The folder ${other} holds other files than a database's: name one that is new or empty.\n`,
  });
  expect(await readdir(other)).toEqual(["file"]);
  for (const path of [other, file]) expect((await stat(path)).mode & 0o777).toBe(0o755);
});

test("a database without the migrations is refused until `database migrate` has run", { tags: "6.3.2" }, async () => {
  const database = await createEmptyDatabase();
  if (database.url.startsWith("pglite:")) {
    const empty = await PGlite.create(join(database.url.slice("pglite:".length), "pglite"));
    await empty.close();
  }
  const settings = { DATABASE_URL: database.url };
  expect(await latchkey(["user", "export"], settings)).toEqual(
    failed("The database is not up to date: `latchkey database migrate` runs the migrations.\n"),
  );
  expect(await latchkey(["database", "migrate"], settings)).toEqual(succeeded("The database is up to date.\n"));
  expect(await latchkey(["user", "export"], settings)).toEqual(succeeded(""));
  await database.drop();
});

test("an embedded database that a running service holds is one line, and status 1", async () => {
  const database = await createEmptyDatabase("embedded");
  const server = await startServer({ DATABASE_URL: database.url });
  expect(await latchkey(["user", "export"], { DATABASE_URL: database.url })).toEqual(
    failed(`The data folder ${database.url.slice("pglite:".length)} is in use by another process.\n`),
  );
  await server.stop();
  await database.drop();
});

test("a database that cannot be reached is one line without the password, and the file is closed: no warning of Node's", async () => {
  const address = `127.0.0.1:${await freePort()}`;
  const file = join(folder, "one-line");
  await writeFile(file, "{}\n");
  const settings = { DATABASE_URL: `postgresql://ada:secret@${address}/x` };
  expect(await latchkey(["user", "import", file], settings)).toEqual(
    failed(`The database at ${address}/x cannot be used: connect ECONNREFUSED ${address}.\n`),
  );
});
