import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import prometheus, { type Registry } from "prom-client";
import { expect, onTestFinished, test, vi } from "vitest";
import { stringify } from "yaml";
import { openMetrics, type Readings } from "#server/door/metrics-registry";
import { DatabaseUnavailable } from "#server/errors";
import { countEvent, measureDuration } from "#server/process/metrics";
import { alerts } from "../support/alerts";

// Prometheus evaluates each alert's expression over what Latchkey's metrics are before and after its cause.

const calm = {
  hashesWaiting: () => 0,
  pool: () => ({ connections: { used: 1, free: 9 }, waiting: 0 }),
  jobs: async () => ({ created: { waiting: 0, oldest: 0 }, retry: { waiting: 0, oldest: 0 } }),
  sessions: null,
} satisfies Readings;

let readings: Readings;

const times = (count: number, work: () => void) => {
  for (let each = 0; each < count; each++) work();
};

/** A request of a page, which takes as long and ends so. */
function answered(statusCode: number, seconds: number): void {
  const clock = vi
    .spyOn(performance, "now")
    .mockReturnValueOnce(0)
    .mockReturnValueOnce(seconds * 1000);
  const response = { statusCode, writableFinished: true, once: (_event: string, close: () => void) => close() };
  measureDuration({ method: "GET", url: "/login" } as never, response as never, () => "routes/login");
  clock.mockRestore();
}

const jobsThatWait = (state: "created" | "retry", oldest: number) => () => {
  readings = { ...calm, jobs: async () => ({ ...(await calm.jobs()), [state]: { waiting: 1, oldest } }) };
};

/** What makes each alert fire. */
const causes: Record<string, () => void> = {
  "The database is gone": () => {
    readings = { ...calm, jobs: () => Promise.reject(new DatabaseUnavailable("It is gone.")) };
  },
  "Server errors": () => answered(500, 0.1),
  "Pages are slow": () => times(10, () => answered(200, 9)),
  "Mails fail": jobsThatWait("retry", 901),
  "Mails are given up": () => countEvent({ event: "mail.failed", reason: "retries_exhausted" }),
  "Mails come back": () => times(6, () => countEvent({ event: "mail.bounced", userId: "any" })),
  "Webhooks are given up or stopped": () => countEvent({ event: "webhook.failed", reason: "waited_too_long" }),
  "Jobs are not worked": jobsThatWait("created", 301),
  "Password hashing is full": () => {
    readings = { ...calm, hashesWaiting: () => 33 };
  },
  "The pool is full": () => {
    readings = { ...calm, pool: () => ({ connections: { used: 10, free: 0 }, waiting: 11 }) };
  },
  "Passwords are being guessed": () => times(2_000, () => countEvent({ event: "login.throttled" })),
  "External sign-in fails": () => {
    countEvent({ event: "idp.started" });
    countEvent({ event: "idp.failed", reason: "exchange: status 401" });
  },
  "Responses name another issuer": () => times(6, () => countEvent({ event: "idp.failed", reason: "issuer" })),
  "Many resets end sessions": () =>
    times(21, () => countEvent({ event: "session.ended", reason: "password_reset", userId: "any", count: 1 })),
};

/** Prometheus' own, and one of Node. */
const ofOthers = ["An instance is down", "The event loop is blocked"];

const scrape = async (registry: Registry) =>
  (await registry.metrics()).split("\n").filter((line) => /^[a-z]/.test(line));

/** A series that Prometheus scrapes each minute: as it was, then as it is for ten minutes. */
function seriesOf(before: string[], after: string[]) {
  const sampleOf = (line: string) => line.slice(line.lastIndexOf(" ") + 1);
  const nameOf = (line: string) => line.slice(0, line.lastIndexOf(" "));
  const earlier = new Map(before.map((line) => [nameOf(line), sampleOf(line)]));
  return after
    .filter((line) => line.startsWith("latchkey_"))
    .map((line) => ({
      series: nameOf(line).replace(/(?<=^\w+)$/, "{}"),
      values: `${earlier.get(nameOf(line)) ?? "_"}+0x1 ${sampleOf(line)}+0x3`,
    }));
}

async function fires(expression: string, series: object[]): Promise<boolean> {
  const folder = await mkdtemp(join(tmpdir(), "latchkey-alerts-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  const rules = { groups: [{ name: "latchkey", rules: [{ alert: "Fires", expr: expression }] }] };
  const test = {
    rule_files: ["rules.yaml"],
    evaluation_interval: "1m",
    tests: [
      {
        interval: "1m",
        input_series: series,
        promql_expr_test: [
          { expr: `count(${expression}) or vector(0)`, eval_time: "4m", exp_samples: [{ labels: "{}", value: 1 }] },
        ],
      },
    ],
  };
  await writeFile(join(folder, "rules.yaml"), stringify(rules));
  await writeFile(join(folder, "test.yaml"), stringify(test));
  try {
    execFileSync("promtool", ["test", "rules", "test.yaml"], { cwd: folder, stdio: "pipe" });
    return true;
  } catch {
    return false;
  }
}

const documented = alerts(readFileSync("docs/monitoring.md", "utf8")).filter(({ name }) => !ofOthers.includes(name));

test("every alert of the document has a cause here", () => {
  expect(documented.map(({ name }) => name)).toEqual(Object.keys(causes));
});

test.each(documented)("the alert fires at its cause: $name", async ({ name, expression }) => {
  readings = calm;
  const registry = await openMetrics({
    hashesWaiting: () => readings.hashesWaiting(),
    pool: () => readings.pool(),
    jobs: () => readings.jobs(),
    sessions: null,
  });
  onTestFinished(() => prometheus.register.clear());
  times(10, () => answered(200, 0.01));
  answered(500, 0.01); // A status begins at 1: the alert comes with the second answer.
  const before = await scrape(registry);
  causes[name]?.();
  expect(await fires(expression, seriesOf(before, await scrape(registry)))).toBe(true);
  expect(await fires(expression, seriesOf(before, before))).toBe(false);
});
