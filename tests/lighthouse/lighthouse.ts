import lighthouse, { type Result } from "lighthouse";
import { log } from "#server/log";
import { startBrowser } from "../browser/chromium";
import { mailsIn } from "../support/printed-mails";
import { createEmptyDatabase, freePort, type RunningServer, startServer } from "../support/server";
import { addAccounts } from "../timing/seed";

// Runs Lighthouse's default, a phone with slow 4G, on the pages that a visitor sees first. Fails unless every category
// of every page has 100.

log.level = "warn";

const runs = Number(process.env.RUNS ?? 3);
const categories = ["performance", "accessibility", "best-practices", "seo"];
const email = "ada@example.com";

/** The page has a token in its address, so no search engine may list it (`useSearchListing` in app/title.ts). */
const notListed = { audit: "is-crawlable", reason: "its address has a token, so it asks not to be listed" };

async function resetLink(server: RunningServer): Promise<string> {
  await fetch(`${server.url}/forgot-password`, { method: "POST", body: new URLSearchParams({ email }) });
  await server.waitFor(/--- end mail ---/);
  const [mail] = mailsIn(server.output());
  return `${mail?.link?.pathname}${mail?.link?.search}`;
}

/** The scores from 0 to 100 by category, and the audits that cost points. */
interface Scores {
  [category: string]: { score: number; failed: string[] };
}

function scoresOf({ categories, audits }: Result): Scores {
  return Object.fromEntries(
    Object.entries(categories).map(([category, { score, auditRefs }]) => {
      const failed = auditRefs
        .filter(({ id, weight }) => weight > 0 && (audits[id]?.score ?? 1) < 1)
        .map(({ id }) => `${id} ${audits[id]?.displayValue ?? ""}`.trim());
      return [category, { score: Math.round((score ?? 0) * 100), failed }];
    }),
  );
}

async function measure(url: string, port: number, skipAudits: string[]): Promise<Scores> {
  const result = await lighthouse(url, { port, logLevel: "error", onlyCategories: categories, skipAudits });
  if (!result || result.lhr.runtimeError) throw new Error(result?.lhr.runtimeError?.message ?? `No result for ${url}`);
  if (process.env.DEBUG_LH)
    (await import("node:fs")).writeFileSync(
      process.env.DEBUG_LH + new URL(url).pathname.replaceAll("/", "-") + ".json",
      JSON.stringify(result.lhr),
    );
  return scoresOf(result.lhr);
}

/** Each category of the run with the median score in it. */
function medians(each: Scores[]): Scores {
  const middle = (category: string) =>
    each.map((scores) => scores[category]!).toSorted((a, b) => a.score - b.score)[Math.floor(each.length / 2)]!;
  return Object.fromEntries(categories.map((category) => [category, middle(category)]));
}

const database = await createEmptyDatabase("embedded");
await addAccounts(database.url, [email]);
const port = await freePort();
const [server, browser] = await Promise.all([
  startServer({ DATABASE_URL: database.url }),
  startBrowser(`--remote-debugging-port=${port}`),
]);

const pages = { "/login": [], "/register": [], "/forgot-password": [], [await resetLink(server)]: [notListed] };
const rows: string[] = [];
const notes: string[] = [];
let failed = false;
for (const [path, exceptions] of Object.entries(pages)) {
  const each: Scores[] = [];
  const skipped = exceptions.map(({ audit }) => audit);
  for (let run = 0; run < runs; run++) each.push(await measure(server.url + path, port, skipped));
  const scores = medians(each);
  const [name] = path.split("?");
  rows.push(`| \`${name}\` | ${categories.map((category) => scores[category]!.score).join(" | ")} |`);
  for (const { audit, reason } of exceptions) notes.push(`${name}: without the audit ${audit}: ${reason}`);
  for (const [category, { score, failed: audits }] of Object.entries(scores)) {
    if (score === 100) continue;
    failed = true;
    notes.push(`${name}: ${category} is ${score}: ${audits.join(", ")}`);
  }
}
await browser.close();
await server.stop();
await database.drop();
process.stdout.write(
  `${[`| Page | ${categories.join(" | ")} |`, "|---|---|---|---|---|", ...rows, "", ...notes].join("\n")}\n`,
);
process.exit(failed ? 1 : 0);
