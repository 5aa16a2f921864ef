import fs from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { syncBuiltinESMExports } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { checkEmbedded } from "#server/commands/doctor/embedded";
import { openDatabase } from "#server/database/orm";
import { createFolder } from "../support/template-copy";

async function check(parent: string) {
  const home = await mkdtemp(join(parent, "latchkey-doctor-"));
  const { url } = await createFolder(join(home, "data"));
  const database = await openDatabase(url);
  onTestFinished(async () => {
    await database.close();
    await rm(home, { recursive: true });
  });
  return checkEmbedded(database, join(home, "data"));
}

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
  expect(await check(tmpdir())).toEqual({
    status: "ok",
    name: "database",
    found: expect.stringMatching(
      /^\d+ MB, and \d+ MB of its log; \d+ MB are free; last checkpoint \d{4}-\d\d-\d\d \d\d:\d\d UTC; commits are flushed$/,
    ),
  });
});

test("the doctor warns of an embedded database in memory", async () => {
  expect(await check("/dev/shm")).toMatchObject({
    status: "warn",
    found: expect.stringMatching(/; commits are not flushed to a disk \(tmpfs\)$/),
  });
});

test("the doctor warns of an embedded database in a container's own layer", async () => {
  pretend({ type: 0x794c7630 });
  expect(await check(tmpdir())).toMatchObject({ status: "warn", found: expect.stringContaining("(overlay)") });
});

test("the doctor warns of an embedded database with less than 200 MB left", async () => {
  pretend({ bavail: 100 });
  expect(await check(tmpdir())).toMatchObject({ status: "warn", fix: "make room: it needs 200 MB" });
});
