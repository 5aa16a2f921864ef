import cluster, { type Worker } from "node:cluster";
import { type Config, loadConfig } from "./config";
import { StartError } from "./errors";
import { openClusterMetrics } from "./http/cluster-metrics";
import { openMetricsServer } from "./http/metrics-server";
import { assertPortsAreFree } from "./http/ports";
import { errorFields, log } from "./log";

// The program of `server/serve.js` with PROCESSES: it starts that many services on one port, and ends after them.

const restartDelay = 1_000; // ms
const shutdownLimit = 9_500; // ms: a process ends itself after 9 s, unless it hangs

const workers = () => Object.values(cluster.workers ?? {}).filter((worker) => worker && !worker.isDead()) as Worker[];

/** The processes whose service has started. */
const started = new Set<Worker>();

function watchWorkers(): void {
  cluster.on("message", (worker) => started.add(worker)); // its first message says so
  cluster.on("exit", (worker) => started.delete(worker));
  cluster.on("fork", (worker) => {
    worker.on("error", (error) => log.warn(errorFields(error), "A process cannot be reached."));
  });
}

/** Resolves with the exit status; 0 for a process that SIGTERM ended before it had started. */
const exitOf = (worker: Worker) =>
  new Promise<number>((resolve) => {
    worker.once("exit", (status, signal) => resolve(signal === "SIGTERM" ? 0 : (status ?? 1)));
  });

const startOf = (worker: Worker) => new Promise<void>((resolve) => worker.once("message", () => resolve()));

async function stopAll(): Promise<number> {
  setTimeout(() => {
    for (const worker of workers()) worker.process.kill("SIGKILL");
    process.exit(1);
  }, shutdownLimit).unref();
  const statuses = Promise.all(workers().map(exitOf));
  for (const worker of workers()) worker.process.kill("SIGTERM");
  return Math.max(0, ...(await statuses));
}

async function runProcesses(config: Config): Promise<void> {
  watchWorkers();
  await assertPortsAreFree(config);
  const closeMetrics = config.metrics && (await openMetricsServer(config.metrics, await openClusterMetrics(started)));
  let stopping = false;
  const stop = async () => {
    stopping = true;
    const status = await stopAll();
    await closeMetrics?.();
    process.exit(status);
  };
  for (const signal of ["SIGTERM", "SIGINT"]) process.once(signal, () => void stop());
  // The first one migrates the database, or says why it cannot start.
  const first = cluster.fork();
  const status = await Promise.race([startOf(first), exitOf(first)]);
  if (stopping) return;
  if (status !== undefined) process.exit(status);
  cluster.on("exit", ({ process: { pid } }, status, signal) => {
    if (stopping) return;
    log.error({ pid, status, signal }, "A process ended and is replaced.");
    setTimeout(() => stopping || cluster.fork(), restartDelay);
  });
  for (let forked = 1; forked < config.processes; forked++) cluster.fork();
}

try {
  await runProcesses(loadConfig(process.env));
} catch (error) {
  if (!(error instanceof StartError)) throw error;
  console.error(error.message);
  process.exit(1);
}
