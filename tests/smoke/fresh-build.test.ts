import { mkdirSync, utimesSync, writeFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { staleness } from "../support/fresh-build";

let folder: string;

function write(path: string, time: number, text = ""): void {
  const file = join(folder, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
  for (const changed of [file, dirname(file)]) utimesSync(changed, time, time);
}

function build(time: number, mode = "production"): void {
  write("build/cli.js", time);
  write("build/processes.js", time);
  write("build/index.js", time, `var mode = "${mode}";`);
}

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "latchkey-fresh-build-"));
  for (const path of ["app/root.tsx", "server/start.ts", "remix.config.js", "package-lock.json"]) write(path, 1);
});

afterEach(() => rm(folder, { recursive: true }));

test("nothing was built", () => {
  expect(staleness(folder)).toBe("There is no build");
});

test("a build after the last change is fresh", () => {
  build(2);
  expect(staleness(folder)).toBe(null);
});

test("one program of the build is missing", async () => {
  build(2);
  await rm(join(folder, "build/cli.js"));
  expect(staleness(folder)).toBe("There is no build");
});

test("a file has changed since the build", () => {
  build(2);
  write("app/routes/login.tsx", 3);
  expect(staleness(folder)).toMatch(/^The build is older than .*app/);
});

test("a file was removed since the build", async () => {
  write("server/old/old.ts", 1);
  write("server/start.ts", 1); // `server` has changed with its new folder
  build(2);
  await rm(join(folder, "server/old/old.ts"));
  expect(staleness(folder)).toMatch(/^The build is older than .*server.old$/);
});

test("`npm run dev` has built since", () => {
  build(2, "development");
  expect(staleness(folder)).toBe("The build is of development");
});
