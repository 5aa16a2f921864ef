import lighthouse, { type Result } from "lighthouse";
import { log } from "#server/log";
import { startBrowser } from "../tests/support/browser/chromium";
import { mailsIn } from "../tests/support/printed-mails";
import { createEmptyDatabase, freePort, type RunningServer, startServer } from "../tests/support/server";
import { addAccounts } from "./timing/seed";

// Lighthouse's default, a phone on slow 4G, on the pages that a visitor sees first. Fails unless each has 100 in every
// category. A score is the median of the runs.

log.level = "warn";

const runs = 3;
const categories = ["performance", "accessibility", "best-practices", "seo"];
const email = "ada@example.com";

interface Page {
  path: string;
  leaveOut?: { audit: string; reason: string };
}

interface Score {
  value: number;
  failed: string[];
}

async function resetPage(server: RunningServer): Promise<Page> {
  await fetch(`${server.url}/forgot-password`, { method: "POST", body: new URLSearchParams({ email }) });
  await server.waitFor(/--- end mail ---/);
  const link = mailsIn(server.output())[0]?.link;
  if (!link) throw new Error("No reset mail was printed.");
  return {
    path: `/reset-password${link.search}`,
    leaveOut: { audit: "is-crawlable", reason: "search engines must not list an address with a token" },
  };
}

/** @throws Error when Lighthouse could not record the page, which happens on a busy machine */
async function measure(page: Page, origin: string, port: number): Promise<Result> {
  const skipAudits = page.leaveOut ? [page.leaveOut.audit] : [];
  const options = { port, onlyCategories: categories, skipAudits, logLevel: "error" } as const;
  const result = await lighthouse(origin + page.path, options);
  if (!result || result.lhr.runtimeError) throw new Error(`${page.path}: ${result?.lhr.runtimeError?.message}`);
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

/** Resolves with the table, and a line for each audit that was left out and each score below 100. */
async function report(server: RunningServer, port: number) {
  const guestPages: Page[] = ["/login", "/register", "/forgot-password"].map((path) => ({ path }));
  const rows = [`| Page | ${categories.join(" | ")} |`, "|---|---|---|---|---|"];
  const notes: string[] = [];
  let good = true;
  for (const page of [...guestPages, await resetPage(server)]) {
    const name = page.path.replace(/\?.*/, "");
    if (page.leaveOut) notes.push(`${name}: without the audit ${page.leaveOut.audit}: ${page.leaveOut.reason}`);
    const results: Result[] = [];
    for (let run = 0; run < runs; run++) results.push(await measure(page, server.url, port));
    const scores = categories.map((category) => median(results.map((result) => scoreOf(result, category))));
    rows.push(`| \`${name}\` | ${scores.map(({ value }) => value).join(" | ")} |`);
    for (const [index, { value, failed }] of scores.entries()) {
      if (value === 100) continue;
      good = false;
      notes.push(`${name}: ${categories[index]} is ${value}: ${failed.join(", ")}`);
    }
  }
  return { rows, notes, good };
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
  const browser = await startBrowser({ debuggingPort: port });
  closings.unshift(() => browser.close());
  const { rows, notes, good } = await report(server, port);
  process.stdout.write(`${[...rows, "", ...notes].join("\n")}\n`);
  if (!good) process.exitCode = 1;
} finally {
  for (const close of closings) await close();
}
