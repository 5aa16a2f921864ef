import cluster, { type Worker } from "node:cluster";
import { type Config, loadConfig } from "./config";
import { StartError } from "./errors";
import { openClusterMetrics } from "./http/metrics-registry";
import { openMetricsServer } from "./http/metrics-server";
import { log } from "./log";

// The program of `server/serve.js` with PROCESSES: it starts that many services on one port, and ends when they have.

const restartDelay = 1_000; // ms

const workers = () => Object.values(cluster.workers ?? {}).filter((worker) => worker !== undefined);

/** Resolves when a process has started; rejects with its status when it ends before. */
function startOne(): Promise<void> {
  const worker = cluster.fork();
  return new Promise((resolve, reject) => {
    worker.once("message", () => resolve());
    worker.once("exit", reject);
  });
}

const exitOf = (worker: Worker) =>
  new Promise<number>((resolve) => worker.once("exit", (status: number | null) => resolve(status ?? 1)));

async function runProcesses({ processes, metrics }: Config): Promise<void> {
  const closeMetrics = metrics && (await openMetricsServer(metrics, await openClusterMetrics()));
  let stopping = false;
  const stop = async () => {
    stopping = true;
    const exits = workers().map(exitOf);
    for (const worker of workers()) worker.process.kill("SIGTERM");
    const statuses = await Promise.all(exits);
    await closeMetrics?.();
    process.exit(Math.max(0, ...statuses));
  };
  for (const signal of ["SIGTERM", "SIGINT"]) process.once(signal, () => void stop());
  // The first one migrates the database, or says why it cannot start.
  await startOne().catch((status: number | null) => process.exit(status ?? 1));
  cluster.on("exit", ({ process: { pid } }, status, signal) => {
    if (stopping) return;
    log.error({ pid, status, signal }, "A process ended and is replaced.");
    setTimeout(() => stopping || cluster.fork(), restartDelay);
  });
  for (let started = 1; started < processes; started++) cluster.fork();
}

try {
  await runProcesses(loadConfig(process.env));
} catch (error) {
  if (!(error instanceof StartError)) throw error;
  console.error(error.message);
  process.exit(1);
}
