import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { childrenOf } from "../support/child-processes";
import { freePort } from "../support/server";

export interface Program {
  url: string;
  process: ChildProcess;
  stop(): Promise<void>;
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
  const ended = new Promise<void>((resolve) => child.once("close", () => resolve()));
  await new Promise<void>((resolve, reject) => {
    let output = "";
    const look = (chunk: Buffer) => {
      if (!ready.test(output)) output += chunk;
      if (ready.test(output)) resolve();
    };
    child.stdout.on("data", look);
    child.stderr.on("data", look);
    void ended.then(() => reject(new Error(`${args.join(" ")} ended: ${output}`)));
  });
  return {
    url: `http://127.0.0.1:${port}`,
    process: child,
    async stop() {
      child.kill("SIGTERM");
      await ended;
    },
  };
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

export function residentMegabytes({ process: { pid } }: Program): number {
  const status = existsSync(`/proc/${pid}/status`) ? readFileSync(`/proc/${pid}/status`, "utf8") : "";
  return Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1]) / 1024;
}
