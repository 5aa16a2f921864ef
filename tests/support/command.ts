import { type ChildProcessByStdio, spawn } from "node:child_process";
import type { Readable } from "node:stream";

export interface Finished {
  status: number | null;
  stdout: string;
  stderr: string;
}

/** Runs a command of the built command line with `settings` and PATH as its environment, without a terminal. */
export function runCommand(words: string[], settings: Record<string, string>): Promise<Finished> {
  const env: NodeJS.ProcessEnv = { PATH: process.env.PATH, NODE_ENV: "production", ...settings };
  const child: ChildProcessByStdio<null, Readable, Readable> = spawn(process.execPath, ["server/cli.js", ...words], {
    env,
    stdio: ["ignore", "pipe", "pipe"],
  });
  let stdout = "";
  let stderr = "";
  child.stdout.on("data", (chunk: Buffer) => {
    stdout += chunk.toString();
  });
  child.stderr.on("data", (chunk: Buffer) => {
    stderr += chunk.toString();
  });
  return new Promise((resolve) => child.once("close", (status) => resolve({ status, stdout, stderr })));
}
