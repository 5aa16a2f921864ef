import autocannon, { type Request } from "autocannon";
import { cpuSeconds, type Program } from "./processes";
import type { Workload } from "./workloads";

export interface Figures {
  requestsPerSecond: number;
  p50: number;
  p99: number;
  /** Milliseconds of CPU for one request, its job and its mail included. */
  cpu: number;
}

const connections = 16;

interface Answers {
  /** The number of answers with each status. */
  statuses: Record<number, number>;
  errors: number;
  /** Milliseconds from the first request to the last answer; autocannon itself counts in whole seconds. */
  elapsed: number;
  latency: { p50: number; p99: number };
}

function sendRequests(
  { url }: Program,
  workload: Workload,
  requestCount: number,
  connections: number,
): Promise<Answers> {
  const statuses: Record<number, number> = {};
  const start = performance.now();
  let elapsed = Number.NaN;
  return new Promise((resolve, reject) => {
    const requests = [{ setupRequest: (request: Request) => Object.assign(request, workload.next()) }];
    const run = autocannon({ url, connections, amount: requestCount, requests }, (error, result) => {
      if (error) reject(error);
      else resolve({ statuses, errors: result.errors, elapsed, latency: result.latency });
    });
    run.on("response", (_client, status) => {
      statuses[status] = (statuses[status] ?? 0) + 1;
      elapsed = performance.now() - start;
    });
  });
}

/**
 * Sends the requests of one workload, divided among the programs, over 16 connections in all.
 *
 * @param idle resolves when the programs have done the jobs of the requests
 * @throws Error when an answer has an unexpected status
 */
export async function measure(programs: Program[], workload: Workload, idle: () => Promise<void>): Promise<Figures> {
  const cpuSoFar = () => programs.reduce((sum, { process }) => sum + cpuSeconds(process), 0);
  const before = cpuSoFar();
  const share = Math.floor(workload.requestCount / programs.length);
  const all = await Promise.all(
    programs.map((program) => sendRequests(program, workload, share, Math.floor(connections / programs.length))),
  );
  for (const { errors, statuses } of all) {
    if (errors > 0 || statuses[workload.expects] !== share) {
      throw new Error(`${workload.name}: ${errors} errors, statuses ${JSON.stringify(statuses)}`);
    }
  }
  await idle();
  const sent = share * programs.length;
  return {
    requestsPerSecond: (sent / Math.max(...all.map(({ elapsed }) => elapsed))) * 1000,
    p50: median(all.map(({ latency }) => latency.p50)),
    p99: Math.max(...all.map(({ latency }) => latency.p99)),
    cpu: ((cpuSoFar() - before) / sent) * 1000,
  };
}

/** @param at 0 is the least value, 1 the greatest */
export function quantile(values: number[], at: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(Math.floor(sorted.length * at), sorted.length - 1)] ?? Number.NaN;
}

export const median = (values: number[]): number => quantile(values, 0.5);

/** The least and the greatest value. */
export const spreadOf = (values: number[]): [number, number] => [Math.min(...values), Math.max(...values)];

/** The median of each field over several rounds. */
export interface Medians extends Figures {
  /** The least and the most CPU of a round, in ms. */
  spread: [number, number];
}

/** @param rounds the figures of one workload, at least one */
export function medians(rounds: Figures[]): Medians {
  const cpus = rounds.map(({ cpu }) => cpu);
  return {
    requestsPerSecond: median(rounds.map((round) => round.requestsPerSecond)),
    p50: median(rounds.map((round) => round.p50)),
    p99: median(rounds.map((round) => round.p99)),
    cpu: median(cpus),
    spread: spreadOf(cpus),
  };
}
