import { DatabaseUnavailable } from "../errors";
import { type Counters, mailOutcomes, provideCounters } from "../metrics";

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

export interface Exposition {
  contentType: string;
  /** Every metric in Prometheus' text format. */
  text(): Promise<string>;
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

/** @returns a function that sets every gauge */
function createGauges({ Gauge }: Prometheus, registry: Registry, readings: Readings): () => Promise<void> {
  const gauge = (name: string, help: string, ...labelNames: string[]) =>
    new Gauge({ name: `latchkey_${name}`, help, labelNames, registers: [registry] });
  const hashesWaiting = gauge("hashes_waiting", "Requests that wait for the hash of a password to begin.");
  const connections = gauge("database_connections", "Connections of the pool.", "state");
  const acquiresWaiting = gauge("database_acquires_waiting", "Callers that wait for a connection of the pool.");
  const databaseUp = gauge("database_up", "1 when the database answered this scrape within 2 seconds, else 0.");
  const jobsWaiting = gauge("jobs_waiting", "Jobs that wait: created ones, and those to retry.", "state");
  const oldestJob = gauge("job_oldest_seconds", "Time since the oldest job that waits was enqueued.", "state");
  let reading: ReturnType<Readings["jobs"]> | undefined;

  /** One statement at a time: while the database hangs, further scrapes do not wait for connections. */
  function readJobs(): ReturnType<Readings["jobs"]> {
    reading ??= readings.jobs().finally(() => {
      reading = undefined;
    });
    return reading;
  }

  return async () => {
    hashesWaiting.set(readings.hashesWaiting());
    const { used, free, waiting } = readings.pool();
    connections.set({ state: "used" }, used);
    connections.set({ state: "free" }, free);
    acquiresWaiting.set(waiting);
    const jobs = await withinLimit(readJobs());
    databaseUp.set(jobs ? 1 : 0);
    jobsWaiting.reset();
    oldestJob.reset();
    for (const [state, { waiting, oldest }] of Object.entries(jobs ?? {})) {
      jobsWaiting.set({ state }, waiting);
      oldestJob.set({ state }, oldest);
    }
  };
}

/** Counts from now on. prom-client is read from the disk here: a start without metrics does not load it. */
export async function openMetrics(readings: Readings): Promise<Exposition> {
  const prometheus = await import("prom-client");
  const registry = new prometheus.Registry();
  prometheus.collectDefaultMetrics({ register: registry });
  const readGauges = createGauges(prometheus, registry, readings);
  provideCounters(createCounters(prometheus, registry));
  return {
    contentType: registry.contentType,
    async text() {
      await readGauges();
      return registry.metrics();
    },
  };
}
