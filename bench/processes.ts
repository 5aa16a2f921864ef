import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { childrenOf } from "../tests/support/child-processes";
import { freePort, watchProcess } from "../tests/support/server";

export interface Program {
  url: string;
  process: ChildProcess;
  stop(): Promise<unknown>;
}

export async function startProgram(
  args: string[],
  env: Record<string, string>,
  ready: RegExp,
  folder = process.cwd(),
): Promise<Program> {
  const port = await freePort();
  const child = spawn(process.execPath, args, {
    cwd: folder,
    env: { PATH: process.env.PATH, NODE_ENV: "production", ...env, PORT: String(port) },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const { waitFor, stop } = watchProcess(child);
  await waitFor(ready);
  return { url: `http://127.0.0.1:${port}`, process: child, stop };
}

const ticksPerSecond = 100; // USER_HZ, fixed on Linux

function cpuSecondsOf(pid: number | undefined): number {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]?.split(" ") ?? [];
  return (Number(fields[11]) + Number(fields[12])) / ticksPerSecond;
}

/** Seconds of CPU that the process and its own processes have used; `NaN` where there is no /proc. */
export function cpuSeconds({ pid }: ChildProcess): number {
  try {
    return [pid, ...childrenOf(pid)].reduce<number>((sum, each) => sum + cpuSecondsOf(each), 0);
  } catch {
    return Number.NaN;
  }
}

export const residentMegabytes = ({ process: { pid } }: Program): number => residentOf(pid);

/** Of the largest of its own processes. */
export const largestResident = ({ process: { pid } }: Program): number => Math.max(...childrenOf(pid).map(residentOf));

function residentOf(pid: number | undefined): number {
  const status = existsSync(`/proc/${pid}/status`) ? readFileSync(`/proc/${pid}/status`, "utf8") : "";
  return Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1]) / 1024;
}
