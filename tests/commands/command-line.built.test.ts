import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { failed, latchkey } from "../support/command";
import { freePort } from "../support/server";

async function newFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "latchkey-commands-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  return folder;
}

test("settings are read from .env of the current folder", async () => {
  const folder = await newFolder();
  await writeFile(join(folder, ".env"), "DATABASE_URL=mysql://127.0.0.1/x\n");
  expect(await latchkey(["user", "export"], {}, folder)).toEqual(
    failed("The configuration is not usable:\n  - DATABASE_URL must be a postgresql:// URL, or pglite: and a folder\n"),
  );
});

test("a database that cannot be reached is one line", async () => {
  const folder = await newFolder();
  const file = join(folder, "one-line");
  await writeFile(file, "{}\n");
  const address = `127.0.0.1:${await freePort()}`;
  const settings = { DATABASE_URL: `postgresql://ada:secret@${address}/x` };
  expect(await latchkey(["user", "import", file], settings)).toEqual(
    failed(`The database at ${address}/x cannot be used: connect ECONNREFUSED ${address}.\n`),
  );
});
