import cluster, { type Worker } from "node:cluster";
import { loadConfig, type MetricsConfig } from "./config";
import { openMetricsServer } from "./door/metrics-server";
import { assertPortIsFree } from "./door/ports";
import { errorFields, log } from "./log";
import { failToStart, onStopSignal, shutdownLimit, stopSignals } from "./process/exit";

// `server/serve.js` runs this program with PROCESSES: it starts that many services on one port, and ends after them.

const restartDelay = 1_000; // ms
const killAfter = shutdownLimit + 500; // ms: a process ends itself before, unless it hangs

async function runProcesses(): Promise<void> {
  const config = loadConfig(process.env);
  cluster.on("fork", (worker) => {
    worker.on("error", (error) => log.warn(errorFields(error), "A process cannot be reached."));
  });
  await assertPortIsFree(config);
  if (config.metrics) await openMetrics(config.metrics);
  let stopping = false;
  onStopSignal(async () => {
    stopping = true;
    process.exit(await stopAll());
  });
  const first = cluster.fork(); // migrates the database
  const status = await Promise.race([startOf(first), exitOf(first)]);
  if (stopping) return;
  if (status !== undefined) process.exit(status); // it has said why
  cluster.on("exit", ({ process: { pid } }, status, signal) => {
    if (stopping) return;
    log.error({ pid, status, signal }, "A process ended and is replaced.");
    setTimeout(() => stopping || cluster.fork(), restartDelay);
  });
  for (let forked = 1; forked < config.processes; forked++) cluster.fork();
}

const startOf = (worker: Worker) =>
  new Promise<undefined>((resolve) => {
    worker.on("message", (message) => message === "started" && resolve(undefined));
  });

async function stopAll(): Promise<number> {
  setTimeout(() => {
    for (const worker of workers()) worker.process.kill("SIGKILL");
    process.exit(1);
  }, killAfter).unref();
  const statuses = workers().map(exitOf);
  for (const worker of workers()) worker.process.kill("SIGTERM");
  return Math.max(0, ...(await Promise.all(statuses)));
}

const workers = () => Object.values(cluster.workers ?? {}) as Worker[];

/** Resolves with the exit status; 0 for a process that a stop signal ended before it had started. */
const exitOf = (worker: Worker) =>
  new Promise<number>((resolve) => {
    worker.once("exit", (status, signal) => resolve(status ?? (stopSignals.includes(signal as never) ? 0 : 1)));
  });

/** The metrics of all processes in one: prom-client asks each. */
async function openMetrics(metrics: MetricsConfig): Promise<void> {
  const registry = new (await import("prom-client")).AggregatorRegistry();
  const { contentType } = registry;
  await openMetricsServer(metrics, { contentType, metrics: () => registry.clusterMetrics() });
}

await runProcesses().catch(failToStart);
