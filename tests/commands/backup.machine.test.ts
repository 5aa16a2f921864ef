import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeAll, expect, test } from "vitest";
import { nodeFlags } from "../support/child-processes";
import { commandHere } from "../support/command";
import { startServer } from "../support/server";
import { until } from "../support/until";

let home: string;

const settingsOf = (name: string) => ({ DATABASE_URL: `pglite:${join(home, name)}` });

beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), "latchkey-backup-"));
  const server = await startServer(settingsOf("source"));
  return async () => {
    await server.stop();
    await rm(home, { recursive: true });
  };
});

async function backUp(file: string): Promise<void> {
  expect(await commandHere(["database", "backup", file], settingsOf("source"))).toMatchObject({ status: 0 });
}

function spawnCommand(folder: string, words: string[], program = [process.execPath]): ChildProcess {
  const [file = "", ...args] = [...program, ...nodeFlags, "server/cli.js", "database", ...words];
  return spawn(file, args, { env: { ...process.env, NODE_ENV: "production", ...settingsOf(folder) } });
}

async function killWhen(child: ChildProcess, isTrue: () => boolean | Promise<boolean>): Promise<void> {
  const closed = once(child, "close");
  await until(isTrue, "the command has begun its work");
  child.kill("SIGKILL");
  await closed;
}

test("a backup that the disk does not take leaves no file", async () => {
  const limited = ["sh", "-c", 'ulimit -f 2000 && exec "$0" "$@"', process.execPath];
  const child = spawnCommand("source", ["backup", join(home, "limited")], limited);
  expect(await once(child, "close")).toEqual([1, null]);
  expect((await readdir(home)).filter((name) => name.startsWith("limited"))).toEqual([]);
});

test("a backup that is killed leaves no file of the name, and the next one is made", async () => {
  const file = join(home, "killed");
  const child = spawnCommand("source", ["backup", file]);
  await killWhen(child, async () => (await readdir(home)).some((name) => name.startsWith(`killed.${child.pid}`)));
  expect(existsSync(file)).toBe(false);
  await until(() => !existsSync(join(home, "source", ".unfinished")), "the service has removed its copy");
  await backUp(file);
});

test("a backup that is stopped leaves no file", async () => {
  const child = spawnCommand("source", ["backup", join(home, "stopped")]);
  const files = async () => (await readdir(home)).filter((name) => name.startsWith("stopped"));
  await until(async () => (await files()).length > 0, "the command has begun its work");
  child.kill("SIGINT");
  expect(await once(child, "close")).toEqual([1, null]);
  expect(await files()).toEqual([]);
  await until(() => !existsSync(join(home, "source", ".unfinished")), "the service has removed its copy");
});

test("a restore that is killed leaves an empty folder, which the next one fills", async () => {
  const file = join(home, "whole");
  await backUp(file);
  const child = spawnCommand("restored", ["restore", "-"]);
  child.stdin?.on("error", () => {}); // of the end of the process
  child.stdin?.write((await readFile(file)).subarray(0, 1_000_000));
  await killWhen(child, () => existsSync(join(home, "restored", ".unfinished", "base")));
  expect(existsSync(join(home, "restored", "pglite"))).toBe(false);
  expect(await commandHere(["database", "restore", file], settingsOf("restored"))).toMatchObject({ status: 0 });
});
