import autocannon, { type Request as Shot } from "autocannon";
import { cpuSeconds, type Program } from "./processes";
import type { Work } from "./works";

export interface Figures {
  requestsPerSecond: number;
  p50: number;
  p99: number;
  /** Milliseconds of CPU for one request. */
  cpu: number;
}

const connections = 16;

interface Answers {
  /** How many answers had which status. */
  statuses: Record<number, number>;
  errors: number;
  /** Milliseconds from the first request to the last answer; autocannon itself counts in whole seconds. */
  elapsed: number;
  latency: { p50: number; p99: number };
}

function fire({ url }: Program, work: Work, shots: number, connections: number): Promise<Answers> {
  const statuses: Record<number, number> = {};
  const begun = performance.now();
  let elapsed = Number.NaN;
  return new Promise((resolve, reject) => {
    const requests = [{ setupRequest: (shot: Shot) => Object.assign(shot, work.next()) }];
    const cannon = autocannon({ url, connections, amount: shots, requests }, (error, result) => {
      if (error) reject(error);
      else resolve({ statuses, errors: result.errors, elapsed, latency: result.latency });
    });
    cannon.on("response", (_client, status) => {
      statuses[status] = (statuses[status] ?? 0) + 1;
      elapsed = performance.now() - begun;
    });
  });
}

/**
 * Fires the shots of one work, shared among the programs that do it together, over 16 connections in all.
 *
 * @throws Error when an answer is not the good one
 */
export async function measure(programs: Program[], work: Work): Promise<Figures> {
  const cpuSoFar = () => programs.reduce((sum, { process }) => sum + cpuSeconds(process), 0);
  const before = cpuSoFar();
  const share = Math.floor(work.shots / programs.length);
  const all = await Promise.all(
    programs.map((program) => fire(program, work, share, Math.floor(connections / programs.length))),
  );
  for (const { errors, statuses } of all) {
    if (errors > 0 || statuses[work.expects] !== share) {
      throw new Error(`${work.name}: ${errors} errors, statuses ${JSON.stringify(statuses)}`);
    }
  }
  const fired = share * programs.length;
  return {
    requestsPerSecond: (fired / Math.max(...all.map(({ elapsed }) => elapsed))) * 1000,
    p50: median(all.map(({ latency }) => latency.p50)),
    p99: Math.max(...all.map(({ latency }) => latency.p99)),
    cpu: ((cpuSoFar() - before) / fired) * 1000,
  };
}

export function median(values: number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}

/** Field by field, the median of several rounds. */
export function medians(rounds: Figures[]): Figures {
  return {
    requestsPerSecond: median(rounds.map((round) => round.requestsPerSecond)),
    p50: median(rounds.map((round) => round.p50)),
    p99: median(rounds.map((round) => round.p99)),
    cpu: median(rounds.map((round) => round.cpu)),
  };
}
