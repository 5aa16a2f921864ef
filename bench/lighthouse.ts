import lighthouse, { type Result } from "lighthouse";
import { log } from "#server/log";
import { startChromium } from "../tests/support/browser/chromium";
import { createEmptyDatabase, freePort, type RunningServer, startServer } from "../tests/support/server";
import { addAccounts } from "./timing/seed";

// Lighthouse's default, a phone on slow 4G, on the pages that a visitor sees first. Fails unless each has 100 in every
// category. A score is the median of the runs.

log.level = "warn";

const runs = 3;
const categories = ["performance", "accessibility", "best-practices", "seo"];
const email = "ada@example.com";

interface Score {
  value: number;
  failed: string[];
}

async function resetPath(server: RunningServer): Promise<string> {
  await fetch(`${server.url}/forgot-password`, { method: "POST", body: new URLSearchParams({ email }) });
  const { link } = await server.mail(email, "Reset your password");
  return `/reset-password${link?.search}`;
}

/** @throws Error when Lighthouse could not record the page, which happens on a busy machine */
async function measure(url: string, port: number): Promise<Result> {
  const skipAudits = url.includes("token=") ? ["is-crawlable"] : []; // search engines must not list it
  const options = { port, onlyCategories: categories, skipAudits, logLevel: "error" } as const;
  const result = await lighthouse(url, options);
  if (!result || result.lhr.runtimeError) throw new Error(`${url}: ${result?.lhr.runtimeError?.message}`);
  return result.lhr;
}

function scoreOf({ categories, audits }: Result, category: string): Score {
  const { score, auditRefs } = categories[category]!;
  const failed = auditRefs.flatMap(({ id, weight }) => {
    const { score, displayValue } = audits[id]!;
    return weight > 0 && score !== null && score < 1 ? [displayValue ? `${id} (${displayValue})` : id] : [];
  });
  return { value: Math.round((score ?? 0) * 100), failed };
}

const median = (scores: Score[]) => scores.sort((a, b) => a.value - b.value)[Math.floor(scores.length / 2)]!;

/** Resolves with the table, and a line for each score below 100. */
async function report(server: RunningServer, port: number) {
  const rows = [`| Page | ${categories.join(" | ")} |`, "|---|---|---|---|---|"];
  const notes: string[] = [];
  for (const path of ["/login", "/register", "/forgot-password", await resetPath(server)]) {
    const name = path.replace(/\?.*/, "");
    const results: Result[] = [];
    for (let run = 0; run < runs; run++) results.push(await measure(server.url + path, port));
    const scores = categories.map((category) => median(results.map((result) => scoreOf(result, category))));
    rows.push(`| \`${name}\` | ${scores.map(({ value }) => value).join(" | ")} |`);
    for (const [index, { value, failed }] of scores.entries()) {
      if (value < 100) notes.push(`${name}: ${categories[index]} is ${value}: ${failed.join(", ")}`);
    }
  }
  return { rows, notes };
}

const closings: (() => Promise<unknown>)[] = [];
try {
  const database = await createEmptyDatabase("embedded");
  closings.unshift(() => database.drop());
  await addAccounts(database.url, [email]);
  const server = await startServer({
    DATABASE_URL: database.url,
    IDP_PROVIDER: "google",
    IDP_CLIENT_ID: "client",
    IDP_CLIENT_SECRET: "secret",
  });
  closings.unshift(() => server.stop());
  const port = await freePort();
  const browser = await startChromium({ debuggingPort: port });
  closings.unshift(() => browser.close());
  const { rows, notes } = await report(server, port);
  process.stdout.write(`${[...rows, "", ...notes].join("\n")}\n`);
  if (notes.length > 0) process.exitCode = 1;
} finally {
  for (const close of closings) await close();
}
