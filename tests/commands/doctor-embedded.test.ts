import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { beforeAll, expect, onTestFinished, test } from "vitest";
import { checkEmbedded } from "#server/commands/doctor/embedded";
import { folderOf } from "#server/database/embedded";
import { type Database, openDatabase } from "#server/database/orm";
import { createFolder } from "../support/template-copy";

let database: Database;
let folder: string;

beforeAll(async () => {
  const { url, drop } = await createFolder();
  database = await openDatabase(url);
  folder = folderOf(url) as string;
  return async () => {
    await database.close();
    await drop();
  };
});

/** What statfs(2) says of every file system, in part. */
function pretend(part: { type?: number; bavail?: number }): void {
  const { statfs } = fs.promises;
  const replace = (by: typeof statfs) => {
    fs.promises.statfs = by;
    syncBuiltinESMExports();
  };
  replace((async (path: string) => ({ ...(await statfs(path)), type: 0xef53, ...part })) as typeof statfs);
  onTestFinished(() => replace(statfs));
}

test("the doctor tells the sizes of an embedded database and its log, its last checkpoint, and that commits are flushed", async () => {
  pretend({});
  expect(await checkEmbedded(database, folder)).toEqual({
    status: "ok",
    name: "database",
    found: expect.stringMatching(
      /^\d+ MB, and \d+ MB of its log; \d+ MB are free; last checkpoint \d{4}-\d\d-\d\d \d\d:\d\d UTC; commits are flushed$/,
    ),
  });
});

test("the doctor warns of an embedded database in memory", async () => {
  expect(await checkEmbedded(database, "/dev/shm")).toMatchObject({
    status: "warn",
    found: expect.stringMatching(/; commits are not flushed to a disk \(tmpfs\)$/),
  });
});

test("the doctor warns of an embedded database in a container's own layer", async () => {
  pretend({ type: 0x794c7630 });
  expect(await checkEmbedded(database, folder)).toMatchObject({
    status: "warn",
    found: expect.stringContaining("(overlay)"),
  });
});

test("the doctor warns of an embedded database with less than 200 MB left", async () => {
  pretend({ bavail: 100 });
  expect(await checkEmbedded(database, folder)).toMatchObject({ status: "warn", fix: "make room: it needs 200 MB" });
});
