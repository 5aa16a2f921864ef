import cluster, { type Worker } from "node:cluster";
import { logUnexpected } from "../log";
import type { Exposition } from "./metrics-server";
import { sharingPending } from "./sharing-pending";

// With PROCESSES each process counts for itself. The primary process has the port, and asks each process at a scrape.

/** prom-client's `MetricObjectWithValues`, whose `type` is a word in fact. */
type Metrics = object[];

interface Question {
  scrape: number;
}

interface Answer extends Question {
  /** `null` when they could not be read. */
  metrics: Metrics | null;
}

const answerLimit = 4_000; // ms; Prometheus gives a scrape 10 s

const isQuestion = (message: unknown): message is Question =>
  typeof message === "object" && message !== null && "scrape" in message && !("metrics" in message);

const isAnswer = (message: unknown): message is Answer =>
  typeof message === "object" && message !== null && "scrape" in message && "metrics" in message;

/** Answers the primary process from now on. */
export function answerPrimary(read: () => Promise<Metrics>): void {
  process.on("message", async (message) => {
    if (!isQuestion(message)) return;
    const metrics = await read().catch((error: unknown) => {
      logUnexpected(error);
      return null;
    });
    process.send?.({ scrape: message.scrape, metrics } satisfies Answer);
  });
}

/** Resolves when a process has answered or ended, or the limit is over. */
function ask(worker: Worker, scrape: number): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer);
      worker.off("message", onMessage).off("exit", end);
      resolve();
    };
    const onMessage = (message: unknown) => {
      if (isAnswer(message) && message.scrape === scrape) end();
    };
    const timer = setTimeout(end, answerLimit);
    worker.on("message", onMessage).once("exit", end);
    worker.send({ scrape } satisfies Question);
  });
}

const isGauge = (metric: object) => "type" in metric && metric.type === "gauge";

/**
 * The metrics of the processes that have started, in one. Prometheus takes a counter that falls for one that began at 0
 * again, and would count the sum of the others twice. So a process that answers too late counts as in its last answer,
 * and what a process that has ended counted stays in the sums.
 */
export async function openClusterMetrics(started: ReadonlySet<Worker>): Promise<Exposition> {
  const { AggregatorRegistry, Registry } = await import("prom-client");
  const last = new Map<Worker, Metrics>();
  let ended: Metrics = [];
  let scrapes = 0;

  cluster.on("message", (worker, message: unknown) => {
    if (isAnswer(message) && message.metrics && !worker.isDead()) last.set(worker, message.metrics);
  });
  cluster.on("exit", (worker) => {
    const counted = last.get(worker)?.filter((metric) => !isGauge(metric)) ?? [];
    ended = AggregatorRegistry.aggregate([ended, counted]).getMetricsAsArray();
    last.delete(worker);
  });

  return {
    contentType: Registry.PROMETHEUS_CONTENT_TYPE,
    metrics: sharingPending(async () => {
      const scrape = ++scrapes;
      await Promise.all([...started].map((worker) => ask(worker, scrape)));
      return AggregatorRegistry.aggregate([ended, ...last.values()]).metrics();
    }),
  };
}
