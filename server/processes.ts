import cluster, { type Worker } from "node:cluster";
import { type Config, loadConfig } from "./config";
import { StartError } from "./errors";
import { openClusterMetrics } from "./http/cluster-metrics";
import { openMetricsServer } from "./http/metrics-server";
import { assertPortsAreFree } from "./http/ports";
import { errorFields, log } from "./log";
import { isStopSignal, onStopSignal, shutdownLimit } from "./stop-signals";

// The program of `server/serve.js` with PROCESSES: it starts that many services on one port, and ends after them.

const restartDelay = 1_000; // ms
const killAfter = shutdownLimit + 500; // ms: a process ends itself before, unless it hangs

const workers = () => Object.values(cluster.workers ?? {}).filter((worker) => worker && !worker.isDead()) as Worker[];

/** The processes whose service has started. */
const started = new Set<Worker>();

function watchWorkers(): void {
  cluster.on("message", (worker, message) => {
    if (message === "started" && !worker.isDead()) started.add(worker);
  });
  cluster.on("exit", (worker) => started.delete(worker));
  cluster.on("fork", (worker) => {
    worker.on("error", (error) => log.warn(errorFields(error), "A process cannot be reached."));
  });
}

/** Resolves with the exit status; 0 for a process that SIGTERM or SIGINT ended before it had started. */
const exitOf = (worker: Worker) =>
  new Promise<number>((resolve) => {
    worker.once("exit", (status, signal) => resolve(status ?? (isStopSignal(signal) && !started.has(worker) ? 0 : 1)));
  });

const startOf = (worker: Worker) =>
  new Promise<undefined>((resolve) => {
    worker.on("message", (message) => {
      if (message === "started") resolve(undefined);
    });
  });

async function stopAll(): Promise<number> {
  setTimeout(() => {
    for (const worker of workers()) worker.process.kill("SIGKILL");
    process.exit(1);
  }, killAfter).unref();
  const statuses = Promise.all(workers().map(exitOf));
  for (const worker of workers()) worker.process.kill("SIGTERM");
  return Math.max(0, ...(await statuses));
}

/** Starts the process that migrates the database. Resolves with its exit status if it ends before it has started. */
function startFirst(): Promise<number | undefined> {
  const first = cluster.fork();
  return Promise.race([startOf(first), exitOf(first)]);
}

function replaceEnded(isStopping: () => boolean): void {
  cluster.on("exit", ({ process: { pid } }, status, signal) => {
    if (isStopping()) return;
    log.error({ pid, status, signal }, "A process ended and is replaced.");
    setTimeout(() => {
      if (!isStopping()) cluster.fork();
    }, restartDelay);
  });
}

async function runProcesses(config: Config): Promise<void> {
  watchWorkers();
  await assertPortsAreFree(config);
  const closeMetrics = config.metrics && (await openMetricsServer(config.metrics, await openClusterMetrics(started)));
  let stopping = false;
  onStopSignal(async () => {
    stopping = true;
    const status = await stopAll();
    await closeMetrics?.();
    process.exit(status);
  });
  const status = await startFirst();
  if (stopping) return;
  if (status !== undefined) process.exit(status); // it has said why
  replaceEnded(() => stopping);
  for (let forked = 1; forked < config.processes; forked++) cluster.fork();
}

try {
  await runProcesses(loadConfig(process.env));
} catch (error) {
  if (!(error instanceof StartError)) throw error;
  console.error(error.message);
  process.exit(1);
}
