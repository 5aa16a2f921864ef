import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { failed, latchkey } from "../support/command";

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
