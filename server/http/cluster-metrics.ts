import type { Worker } from "node:cluster";
import type { Exposition } from "./metrics-server";

// A process of PROCESSES has its metrics, and the primary process has the port: it asks each process at a scrape.

type Metrics = object[];

interface Question {
  scrape: number;
}

interface Answer extends Question {
  metrics: Metrics;
}

const answerLimit = 4_000; // ms; Prometheus gives a scrape 10 s

const isQuestion = (message: unknown): message is Question =>
  typeof message === "object" && message !== null && "scrape" in message;

/** Answers the primary process from now on. */
export function answerPrimary(metrics: () => Promise<Metrics>): void {
  process.on("message", async (message) => {
    if (isQuestion(message)) process.send?.({ scrape: message.scrape, metrics: await metrics() } satisfies Answer);
  });
}

/** Resolves with a process's metrics; with none when it ends, or does not answer in time. */
function ask(worker: Worker, scrape: number): Promise<Metrics> {
  return new Promise((resolve) => {
    const end = (metrics: Metrics) => {
      clearTimeout(timer);
      worker.off("message", onMessage).off("exit", onExit);
      resolve(metrics);
    };
    const onMessage = (message: unknown) => {
      if (isQuestion(message) && message.scrape === scrape) end((message as Answer).metrics);
    };
    const onExit = () => end([]);
    const timer = setTimeout(onExit, answerLimit);
    worker.on("message", onMessage).once("exit", onExit);
    worker.send({ scrape } satisfies Question);
  });
}

/** The metrics of the processes that have started, in one. */
export async function openClusterMetrics(started: ReadonlySet<Worker>): Promise<Exposition> {
  const { AggregatorRegistry, Registry } = await import("prom-client");
  let scrapes = 0;
  return {
    contentType: Registry.PROMETHEUS_CONTENT_TYPE,
    async text() {
      const scrape = ++scrapes;
      const answers = await Promise.all([...started].map((worker) => ask(worker, scrape)));
      return AggregatorRegistry.aggregate(answers).metrics();
    },
  };
}
