import { readFileSync } from "node:fs";
import prometheus from "prom-client";
import { describe, expect, test } from "vitest";
import { openCounters } from "#server/process/metrics";
import { alerts } from "../support/alerts";

async function firstScrape(): Promise<Record<string, unknown>[]> {
  const registry = new prometheus.Registry();
  openCounters(prometheus, registry);
  const metrics = await registry.getMetricsAsJSON();
  return metrics.flatMap(({ name, values }) => values.map(({ labels, value }) => ({ name, ...labels, value })));
}

/** What a selector asks for, such as `event=~"a|b"`: one condition for each alternative. */
function conditionsOf(selector: string): [label: string, pattern: RegExp][] {
  const matchers = [...selector.matchAll(/(\w+)(=~?)"([^"]*)"/g)];
  return matchers.flatMap(([, label = "", operator, value = ""]) =>
    (operator === "=" ? [value] : value.replace(/^\((.+)\)\.\*$/, "$1").split("|")).map((one): [string, RegExp] => [
      label,
      new RegExp(`^${one}`),
    ]),
  );
}

const counted = alerts(readFileSync("docs/monitoring.md", "utf8"))
  .flatMap(({ expression }) => expression.match(/latchkey_(?:events|mails)_total\{[^}]*\}/g) ?? [])
  .flatMap((selector) => conditionsOf(selector).map(([label, pattern]) => ({ selector, label, pattern })));

// PromQL sees no increase in a series that begins at 1.
describe("a series that an alert asks for begins at 0", () => {
  test.each(counted)("$selector: $label is $pattern", async ({ label, pattern }) => {
    const series = (await firstScrape()).filter((labels) => pattern.test(String(labels[label])));
    expect(series.length).toBeGreaterThan(0);
    expect(series.filter(({ value }) => value !== 0)).toEqual([]);
  });
});
