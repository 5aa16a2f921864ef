import cluster from "node:cluster";
import { setTimeout } from "node:timers/promises";
import type { Registry } from "prom-client";
import { DatabaseUnavailable } from "../errors";
import { openCounters, type Prometheus } from "../process/metrics";

export interface Readings {
  hashesWaiting(): number;
  pool(): { connections: { used: number; free: number }; waiting: number };
  jobs(): Promise<Jobs>;
  /** `null` with DEVICE_BOUND_SESSIONS=off. */
  sessions: (() => Promise<Record<"bound" | "unbound", number>>) | null;
}

/** Counts from now on. prom-client is read from the disk here: a start without metrics does not load it. */
export async function openMetrics(readings: Readings): Promise<Registry> {
  const prometheus = await import("prom-client");
  const registry = new prometheus.Registry();
  prometheus.collectDefaultMetrics({ register: registry });
  createGauges(prometheus, registry, readings);
  openCounters(prometheus, registry);
  if (cluster.isWorker) {
    prometheus.AggregatorRegistry.setRegistries([registry]);
    new prometheus.AggregatorRegistry(); // answers the primary process
  }
  return registry;
}

type Jobs = Record<string, { waiting: number; oldest: number }>;

const readingLimit = 2_000; // ms; Prometheus gives a scrape 10 s

function createGauges({ Gauge }: Prometheus, registry: Registry, readings: Readings): void {
  type Values = number | Record<string, number>;

  /** `read` resolves with the value, or with one for each state; `aggregator` joins those of several processes. */
  const gauge = (name: string, help: string, aggregator: "sum" | "min" | "max", read: () => Values | Promise<Values>) =>
    new Gauge({
      name: `latchkey_${name}`,
      help,
      aggregator,
      labelNames: ["state"],
      registers: [registry],
      async collect() {
        const values = await read();
        this.reset();
        if (typeof values === "number") this.set(values);
        else for (const [state, value] of Object.entries(values)) this.set({ state }, value);
      },
    });

  /** `null` when the database is not available, or late. */
  const inTime = <T>(reading: Promise<T>) =>
    Promise.race([reading, setTimeout(readingLimit, null, { ref: false })]).catch((error: unknown) => {
      if (error instanceof DatabaseUnavailable) return null;
      throw error;
    });
  let pending: Promise<Jobs | null> | undefined;
  /** Reads the jobs once for the gauges of a scrape. */
  const jobs = () => {
    pending ??= inTime(readings.jobs()).finally(() => {
      pending = undefined;
    });
    return pending;
  };
  const ofJobs = async (field: "waiting" | "oldest") =>
    Object.fromEntries(Object.entries((await jobs()) ?? {}).map(([state, values]) => [state, values[field]]));

  gauge("hashes_waiting", "Requests that wait for the hash of a password to begin.", "max", readings.hashesWaiting);
  gauge("database_connections", "Connections of the pool.", "sum", () => readings.pool().connections);
  const acquires = () => readings.pool().waiting;
  gauge("database_acquires_waiting", "Callers that wait for a connection of the pool.", "max", acquires);
  const up = async () => ((await jobs()) ? 1 : 0);
  gauge("database_up", "1 when the database answered this scrape within 2 seconds, else 0.", "min", up);
  gauge("jobs_waiting", "Jobs that wait, without webhooks, by state: created, or retry after a failure.", "max", () =>
    ofJobs("waiting"),
  );
  gauge("job_oldest_seconds", "Time since the oldest job that waits was enqueued.", "max", () => ofJobs("oldest"));
  const { sessions } = readings;
  const bound = "Live sessions that count only together with their bound cookie, and all others.";
  if (sessions) gauge("sessions", bound, "max", async () => (await inTime(sessions())) ?? {});
}
