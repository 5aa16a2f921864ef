import { writeFile } from "node:fs/promises";
import { parseArgs } from "node:util";
import pg from "pg";
import { createDatabase } from "../support/server";
import { type Figures, measure, medians } from "./measure";
import { type Measured, residentMegabytes, startProgram } from "./processes";
import { seed, type Work, works } from "./works";

const { values: options } = parseArgs({
  options: {
    json: { type: "string" },
    only: { type: "string" },
    rounds: { type: "string", default: "3" },
    shots: { type: "string", default: "1500" },
    profile: { type: "boolean", default: false },
  },
});

if (!process.env.DATABASE_URL?.startsWith("postgres")) {
  console.error(
    "Set DATABASE_URL to a PostgreSQL server on this machine: the bench makes a database of its own there.",
  );
  process.exit(1);
}

const tsx = ["--import", "tsx"];

interface Row {
  work: string;
  latchkey: Figures;
  limit: Figures;
  ratio: number;
}

async function compare(work: Work, latchkey: Measured, limit: Measured, database: pg.Client): Promise<Row> {
  const shots = Number(options.shots);
  const results: { latchkey: Figures[]; limit: Figures[] } = { latchkey: [], limit: [] };
  for (let round = -1; round < Number(options.rounds); round++) {
    const amount = round < 0 ? Math.ceil(shots / 5) : shots;
    for (const [name, program] of [["latchkey", latchkey] as const, ["limit", limit] as const]) {
      await work.prepare?.(database, amount);
      const figures = await measure(program, work, amount);
      if (round >= 0) results[name].push(figures);
    }
  }
  const [own, least] = [medians(results.latchkey), medians(results.limit)];
  return { work: work.name, latchkey: own, limit: least, ratio: own.requestsPerSecond / least.requestsPerSecond };
}

function print(rows: Row[]): void {
  const cell = (figures: Figures) =>
    `${figures.requestsPerSecond.toFixed(0)} | ${figures.p50} | ${figures.p99} | ${figures.cpu.toFixed(2)}`;
  process.stdout.write(
    "| Work | requests/s | p50 ms | p99 ms | CPU ms | limit: requests/s | p50 ms | p99 ms | CPU ms | ratio |\n",
  );
  process.stdout.write(`|${" --- |".repeat(10)}\n`);
  for (const { work, latchkey, limit, ratio } of rows) {
    const what = works.find(({ name }) => name === work)?.what;
    process.stdout.write(`| ${work} ${what} | ${cell(latchkey)} | ${cell(limit)} | ${ratio.toFixed(2)} |\n`);
  }
}

const { url: databaseUrl, drop } = await createDatabase();
const provider = await startProgram([...tsx, "tests/bench/provider.ts"], {}, /listens/);
const settings = {
  DATABASE_URL: databaseUrl,
  TRUST_PROXY: "true",
  MAIL_DRIVER: "postmark",
  POSTMARK_SERVER_TOKEN: "bench",
  MAIL_FROM: "bench@bench.example",
  MAIL_API_URL: provider.url,
  APP_URL: "http://127.0.0.1",
  IDP_CLIENT_ID: "bench",
  IDP_CLIENT_SECRET: "bench",
  IDP_AUTHORIZE_URL: `${provider.url}/authorize`,
  IDP_TOKEN_URL: `${provider.url}/token`,
  IDP_PROFILE_URL: `${provider.url}/userinfo`,
};
const profiling = options.profile ? ["--cpu-prof", "--cpu-prof-dir=profiles"] : [];
const latchkey = await startProgram([...profiling, "server/serve.js"], settings, /\[remix-serve\] http/);
const limit = await startProgram(
  [...tsx, "tests/bench/limit.ts"],
  { DATABASE_URL: databaseUrl, PROVIDER_URL: provider.url },
  /listens/,
);
const database = new pg.Client({ connectionString: databaseUrl });
await database.connect();
await seed(database);

const rows: Row[] = [];
for (const work of works) {
  if (options.only && !options.only.split(",").includes(work.name)) continue;
  rows.push(await compare(work, latchkey, limit, database));
}
print(rows);
const resident = residentMegabytes(latchkey.process);
process.stdout.write(`\nW7: ${resident.toFixed(0)} MB resident after these works.\n`);
if (options.json) await writeFile(options.json, JSON.stringify({ rows, resident }, null, 2));

await database.end();
await Promise.all([latchkey.stop(), limit.stop(), provider.stop()]);
await drop();
