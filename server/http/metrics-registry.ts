import cluster from "node:cluster";
import { DatabaseUnavailable } from "../errors";
import { type Counters, mailOutcomes, provideCounters } from "../metrics";
import { answerPrimary } from "./cluster-metrics";
import type { Exposition } from "./metrics-server";

/** The values that are read at a scrape. */
export interface Readings {
  hashesWaiting(): number;
  pool(): { used: number; free: number; waiting: number };
  /**
   * The jobs that wait, by state, and the seconds since the oldest of them was enqueued.
   *
   * @throws DatabaseUnavailable
   */
  jobs(): Promise<Record<string, { waiting: number; oldest: number }>>;
}

const statementLimit = 2_000; // ms; Prometheus gives a scrape 10 s

type Prometheus = typeof import("prom-client");
type Registry = InstanceType<Prometheus["Registry"]>;

function createCounters({ Counter, Histogram }: Prometheus, registry: Registry): Counters {
  const registers = [registry];
  const events = new Counter({
    name: "latchkey_events_total",
    help: "Authentication events.",
    labelNames: ["event", "reason"],
    registers,
  });
  const mails = new Counter({
    name: "latchkey_mails_total",
    help: "Mails handed to the mail service: sent, failed (and retried later), or refused for good.",
    labelNames: ["outcome"],
    registers,
  });
  const requests = new Histogram({
    name: "latchkey_http_request_duration_seconds",
    help: "Time from the head of a request to the end of its answer.",
    labelNames: ["route", "method", "status"],
    registers,
  });
  // PromQL sees no increase in a series that begins at 1, and alerts on these.
  for (const outcome of mailOutcomes) mails.inc({ outcome }, 0);
  for (const reason of ["recipient_refused", "message_refused", "retries_exhausted"]) {
    events.inc({ event: "mail.failed", reason }, 0);
  }
  return { events, mails, requests };
}

/** Resolves as `read` does, or with `null` when the database is not available or takes longer than the limit. */
async function withinLimit<T>(read: Promise<T>): Promise<T | null> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<null>((resolve) => {
    timer = setTimeout(resolve, statementLimit, null);
  });
  try {
    return await Promise.race([read, late]);
  } catch (error) {
    if (error instanceof DatabaseUnavailable) return null;
    throw error;
  } finally {
    clearTimeout(timer);
  }
}

type Aggregator = "sum" | "min" | "max";

/** Creates the gauges that are read at a scrape. */
function createGauges({ Gauge }: Prometheus, registry: Registry, readings: Readings): void {
  let reading: ReturnType<Readings["jobs"]> | undefined;

  /** One statement at a time: while the database hangs, further scrapes do not wait for connections. */
  function readJobs(): ReturnType<Readings["jobs"]> {
    reading ??= readings.jobs().finally(() => {
      reading = undefined;
    });
    return reading;
  }

  /** @param aggregator makes one value of those of several processes */
  const gauge = (name: string, help: string, aggregator: Aggregator, read: () => number | Promise<number>) =>
    new Gauge({
      name: `latchkey_${name}`,
      help,
      aggregator,
      registers: [registry],
      async collect() {
        this.set(await read());
      },
    });

  /** A value for each state. */
  const gaugeOfStates = (
    name: string,
    help: string,
    aggregator: Aggregator,
    read: () => Record<string, number> | Promise<Record<string, number>>,
  ) =>
    new Gauge({
      name: `latchkey_${name}`,
      help,
      aggregator,
      labelNames: ["state"],
      registers: [registry],
      async collect() {
        const values = await read();
        this.reset();
        for (const [state, value] of Object.entries(values)) this.set({ state }, value);
      },
    });

  const ofJobs = async (field: "waiting" | "oldest") => {
    const jobs = Object.entries((await withinLimit(readJobs())) ?? {});
    return Object.fromEntries(jobs.map(([state, values]) => [state, values[field]]));
  };

  const hashesHelp = "Requests that wait for the hash of a password to begin.";
  gauge("hashes_waiting", hashesHelp, "max", readings.hashesWaiting);
  gaugeOfStates("database_connections", "Connections of the pool.", "sum", () => {
    const { used, free } = readings.pool();
    return { used, free };
  });
  const acquiresHelp = "Callers that wait for a connection of the pool.";
  gauge("database_acquires_waiting", acquiresHelp, "max", () => readings.pool().waiting);
  const upHelp = "1 when the database answered this scrape within 2 seconds, else 0.";
  gauge("database_up", upHelp, "min", async () => ((await withinLimit(readJobs())) ? 1 : 0));
  const jobsHelp = "Jobs that wait: created ones, and those to retry.";
  gaugeOfStates("jobs_waiting", jobsHelp, "max", () => ofJobs("waiting"));
  const oldestHelp = "Time since the oldest job that waits was enqueued.";
  gaugeOfStates("job_oldest_seconds", oldestHelp, "max", () => ofJobs("oldest"));
}

/** Counts from now on. prom-client is read from the disk here: a start without metrics does not load it. */
export async function openMetrics(readings: Readings): Promise<Exposition> {
  const prometheus = await import("prom-client");
  const registry = new prometheus.Registry();
  prometheus.collectDefaultMetrics({ register: registry });
  createGauges(prometheus, registry, readings);
  provideCounters(createCounters(prometheus, registry));
  if (cluster.isWorker) answerPrimary(() => registry.getMetricsAsJSON());
  return { contentType: registry.contentType, text: () => registry.metrics() };
}
