import autocannon, { type Request } from "autocannon";
import { cpuSeconds, type Program } from "./processes";
import type { Workload } from "./workloads";

export interface Figures {
  requestsPerSecond: number;
  /** Milliseconds of CPU for one request, its job and its mail included. */
  cpu: number;
}

/** @param idle resolves when the jobs of the requests are done; @throws Error when an answer has an unexpected status */
export async function measure(
  program: Program,
  workload: Workload,
  idle: () => Promise<void>,
  connections = 16,
): Promise<Figures> {
  const { url, process } = program;
  const before = cpuSeconds(process);
  const statuses: Record<number, number> = {};
  const start = performance.now();
  let elapsed = Number.NaN; // ms to the last answer; autocannon itself counts in whole seconds
  const result = await new Promise<autocannon.Result>((resolve, reject) => {
    const requests = [{ setupRequest: (request: Request) => Object.assign(request, workload.next()) }];
    const run = autocannon(
      { url, connections, amount: workload.requestCount, requests, timeout: 60 },
      (error, result) => {
        if (error) reject(error);
        else resolve(result);
      },
    );
    run.on("response", (_client, status) => {
      statuses[status] = (statuses[status] ?? 0) + 1;
      elapsed = performance.now() - start;
    });
  });
  if (result.errors > 0 || statuses[workload.expects] !== workload.requestCount) {
    throw new Error(`${workload.name}: ${result.errors} errors, statuses ${JSON.stringify(statuses)}`);
  }
  await idle();
  return {
    requestsPerSecond: (workload.requestCount / elapsed) * 1000,
    cpu: ((cpuSeconds(process) - before) / workload.requestCount) * 1000,
  };
}

export function median(values: number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}

export interface Medians extends Figures {
  /** The least and the most CPU of a round, in ms. */
  spread: [number, number];
}

/** @param rounds the figures of one workload, at least one */
export function medians(rounds: Figures[]): Medians {
  const cpus = rounds.map(({ cpu }) => cpu);
  return {
    requestsPerSecond: median(rounds.map((round) => round.requestsPerSecond)),
    cpu: median(cpus),
    spread: [Math.min(...cpus), Math.max(...cpus)],
  };
}
