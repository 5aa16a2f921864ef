import { readdirSync } from "node:fs";
import { parseArgs } from "node:util";
import autocannon, { type Request } from "autocannon";
import { type Environment, openEnvironment } from "./environment";
import { residentMegabytes } from "./processes";
import { type Workload, workloads } from "./workloads";

// Mixed workloads for a long time. No request may fail, and after the first minutes memory, handles and connections may
// not grow.

const { values: options } = parseArgs({
  options: {
    minutes: { type: "string", default: "15" },
    rate: { type: "string", default: "60" },
  },
});
const minutes = Number(options.minutes);
const warmUp = minutes / 5;
const sampleInterval = 5_000; // ms

const mixture: Record<string, number> = { W1: 15, W2: 15, W3: 10, W4: 20, W5: 30, W8: 10 };

const whats = ["megabytes", "handles", "connections"] as const;

type Sample = Record<"minute" | (typeof whats)[number], number>;

async function takeSample({ latchkey, database }: Environment, start: number): Promise<Sample> {
  const { rows } = await database.query<{ count: string }>(
    "select count(*) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()",
  );
  return {
    minute: (performance.now() - start) / 60_000,
    megabytes: residentMegabytes(latchkey),
    handles: readdirSync(`/proc/${latchkey.process.pid}/fd`).length,
    connections: Number(rows[0]?.count),
  };
}

async function sendRequests(environment: Environment, target: string): Promise<{ sent: number; failed: number }> {
  const drawn = workloads.flatMap((workload) => Array.from({ length: mixture[workload.name] ?? 0 }, () => workload));
  const rate = Number(options.rate);
  for (const { name, prepare } of workloads) {
    const share = ((mixture[name] ?? 0) * 1.3) / 100;
    await prepare(environment.database, Math.ceil(share * rate * minutes * 60));
  }
  let sent = 0;
  let failed = 0;
  const setupRequest = (request: Request, context: { workload?: Workload }) => {
    const workload = drawn[Math.floor(Math.random() * drawn.length)]!;
    context.workload = workload;
    return Object.assign(request, { body: undefined }, workload.next());
  };
  const onResponse = (status: number, _body: string, context: { workload?: Workload }) => {
    sent++;
    if (status !== context.workload?.expects) failed++;
  };
  const result = await autocannon({
    url: target,
    connections: 16,
    duration: minutes * 60,
    overallRate: rate,
    requests: [{ setupRequest, onResponse } as object],
  });
  return { sent, failed: failed + result.errors };
}

const mean = (values: number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;

/** The mean of the last fifth of the time divided by the mean of the second fifth. */
function growth(samples: Sample[], what: (typeof whats)[number]): number {
  const within = (from: number, to: number) =>
    mean(samples.filter(({ minute }) => minute >= from && minute < to).map((one) => one[what]));
  return within(minutes - warmUp, minutes) / within(warmUp, 2 * warmUp);
}

const environment = await openEnvironment();
const samples: Sample[] = [];
const start = performance.now();
const timer = setInterval(async () => samples.push(await takeSample(environment, start)), sampleInterval);
const { sent, failed } = await sendRequests(environment, environment.latchkey.url);
clearInterval(timer);
await environment.idle();

const growths = whats.map((what) => growth(samples, what));
const last = samples.at(-1)!;
process.stdout.write(
  `${sent} requests in ${minutes} minutes, ${failed} failed
resident ${last.megabytes.toFixed(0)} MB, ${last.handles} handles, ${last.connections} connections at the end
last fifth to the one after the warm-up: ${whats.map((what, at) => `${what} ${growths[at]?.toFixed(3)}`).join(", ")}
`,
);
await environment.close();
const tolerance = 1.1; // Garbage collection makes the heap size vary.
process.exit(failed === 0 && growths.every((ratio) => ratio < tolerance) ? 0 : 1);
