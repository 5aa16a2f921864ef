import { existsSync } from "node:fs";
import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { latchkey } from "../support/command";
import { createEmptyDatabase } from "../support/server";
import { runAsRoot, stranger, temporaryFolder } from "./host";

test("what root restores belongs to the owner of the data folder", { timeout: 60_000 }, async () => {
  const [{ folder, remove }, source] = await Promise.all([temporaryFolder(), createEmptyDatabase("embedded")]);
  onTestFinished(async () => {
    await Promise.all([remove(), source.drop()]);
  });
  const settings = { DATABASE_URL: source.url };
  expect(await latchkey(["database", "migrate"], settings)).toMatchObject({ status: 0 });
  expect(await latchkey(["database", "backup", join(folder, "copy")], settings)).toMatchObject({ status: 0 });
  const data = join(folder, "data");
  runAsRoot(`install -d -m 0700 -o ${stranger} -g ${stranger} "$DATA"`, { DATA: data });
  runAsRoot(`"${process.execPath}" server/cli.js database restore "${folder}/copy"`, {
    DATABASE_URL: `pglite:${data}`,
    NODE_ENV: "production",
  });
  const names = await readdir(data, { recursive: true });
  const owners = await Promise.all(names.map((name) => stat(join(data, name))));
  expect(existsSync(join(data, "pglite", "PG_VERSION"))).toBe(true);
  expect(new Set(owners.map(({ uid, gid }) => `${uid}:${gid}`))).toEqual(new Set([`${stranger}:${stranger}`]));
});
