import { execFileSync, spawn } from "node:child_process";
import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type RunningProcess, watchProcess } from "../support/server";

export const isRoot = process.getuid?.() === 0;

/** The id of a user that has no account here and owns nothing. */
export const stranger = 65_532;

/** Lets root run a process as another user; others run it as themselves. */
export const asStranger = isRoot ? { uid: stranger, gid: stranger } : {};

/** A new folder that every user can enter. */
export async function temporaryFolder(): Promise<{ folder: string; remove(): Promise<void> }> {
  const folder = await mkdtemp(join(tmpdir(), "latchkey-deploy-"));
  await chmod(folder, 0o755);
  return { folder, remove: () => rm(folder, { recursive: true, force: true }) };
}

/** A program that Debian may keep in `sbin`. */
export function start(
  command: string[],
  options: { cwd: string; env?: Record<string, string>; uid?: number; gid?: number },
): RunningProcess {
  const [program = "", ...rest] = command;
  const env: NodeJS.ProcessEnv = { NODE_ENV: "production", PATH: `${process.env.PATH}:/usr/sbin`, ...options.env };
  return watchProcess(spawn(program, rest, { ...options, env, stdio: ["ignore", "pipe", "pipe"] }));
}

export async function writeScript(path: string, lines: string[]): Promise<void> {
  await writeFile(path, `#!/bin/sh\nset -eu\n${lines.join("\n")}\n`);
  await chmod(path, 0o755);
}

export function runAsRoot(commands: string, env: Record<string, string>, cwd = process.cwd()): string {
  const variables = Object.entries(env).map(([name, value]) => `${name}=${value}`);
  const command = ["env", ...variables, "sh", "-euc", commands];
  const [program = "", ...rest] = isRoot ? command : ["sudo", "-n", ...command];
  return execFileSync(program, rest, { cwd, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
}
