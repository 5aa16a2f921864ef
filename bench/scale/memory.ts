import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { childrenOf } from "../../tests/support/child-processes";
import { createEmptyDatabase, type TestDatabase } from "../../tests/support/server";
import { openEmbedded, startLatchkey } from "../environment";
import { measure } from "../measure";
import { print } from "../print";
import { workloads } from "../workloads";

const requestCount = 300;

/** In MB. `VmHWM` is the most since the start of the process, or since `forget`. */
function memoryOf(pid: number | undefined, what: "VmHWM" | "VmRSS"): number {
  const status = existsSync(`/proc/${pid}/status`) ? readFileSync(`/proc/${pid}/status`, "utf8") : "";
  return Number(new RegExp(`${what}:\\s+(\\d+) kB`).exec(status)?.[1] ?? 0) / 1024;
}

const forget = (pid: number | undefined) => writeFileSync(`/proc/${pid}/clear_refs`, "5");

/** The most that a service and the process that it started for initdb have together. */
function watchInitdb(): () => number {
  let most = 0;
  const timer = setInterval(() => {
    for (const service of childrenOf(process.pid)) {
      for (const initdb of childrenOf(service)) {
        most = Math.max(most, memoryOf(service, "VmRSS") + memoryOf(initdb, "VmRSS"));
      }
    }
  }, 20);
  return () => {
    clearInterval(timer);
    return most;
  };
}

async function measureProcess(what: string, ofDatabase: TestDatabase): Promise<void> {
  const initdb = watchInitdb();
  const { latchkey, database, idle, close } = await openEmbedded({}, ofDatabase);
  const { pid } = latchkey.process;
  const start = [initdb(), memoryOf(pid, "VmHWM")];
  forget(pid);
  for (const workload of workloads) {
    await workload.prepare?.(database, requestCount);
    await measure(latchkey, { ...workload, requestCount }, idle);
  }
  const cells = [...start, memoryOf(pid, "VmHWM"), memoryOf(pid, "VmRSS")].map((megabytes) => megabytes.toFixed(0));
  print(`| ${what} | ${cells.join(" | ")} |`);
  await close();
}

/** What a process takes on the embedded database, of its own memory, for its start and then for all workloads. */
export async function measureMemory(): Promise<void> {
  print("| Embedded database, MB | with initdb, at most | start, at most | under load, at most | after it |");
  print(`|${" --- |".repeat(5)}`);
  await measureProcess("first start", await createEmptyDatabase("embedded"));
  const later = await createEmptyDatabase("embedded");
  const { provider, latchkey } = await startLatchkey(later.url, {});
  await Promise.all([latchkey.stop(), provider.stop()]);
  await measureProcess("later start", later);
}
