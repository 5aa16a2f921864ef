import { parseArgs } from "node:util";
import { identityTokens } from "../tests/support/identity-key";
import { type Environment, type EnvironmentOptions, openEnvironment } from "./environment";
import { type Figures, type Medians, measure, medians } from "./measure";
import { print } from "./print";
import { type Program, residentMegabytes } from "./processes";
import { measureStarts } from "./start";
import { type Workload, workloads } from "./workloads";

const { values: options } = parseArgs({
  options: {
    only: { type: "string" },
    rounds: { type: "string", default: "3" },
    against: { type: "string", multiple: true },
    connections: { type: "string", default: "16" },
    processes: { type: "string" },
    pgbouncer: { type: "boolean" },
    nginx: { type: "boolean" },
    embedded: { type: "boolean" },
  },
});

interface Contender {
  name: string;
  environment: Environment;
  program: "latchkey" | "limit" | "bare";
}

interface Row {
  workload: Workload;
  figures: Record<string, Medians>;
}

const isChosen = (name: string) => options.only?.split(",").includes(name) ?? true;

const chosen = (names?: string[]) => workloads.filter(({ name }) => (names?.includes(name) ?? true) && isChosen(name));

async function compare(contenders: Contender[], some: Workload[]): Promise<Row[]> {
  const sides = some.flatMap((workload) =>
    contenders
      .filter(({ program }) => program !== "bare" || workload.bare)
      .map((contender) => ({ ...contender, workload, rounds: [] as Figures[] })),
  );
  for (let round = 0; round <= Number(options.rounds); round++) {
    for (const { environment, program, workload, rounds } of sides) {
      await workload.prepare?.(environment.database, workload.requestCount);
      const figures = await measure(
        environment[program] as Program,
        workload,
        environment.idle,
        Number(options.connections),
      );
      if (round > 0) rounds.push(figures);
    }
  }
  return some.map((workload) => {
    const own = sides.filter((side) => side.workload === workload);
    return { workload, figures: Object.fromEntries(own.map(({ name, rounds }) => [name, medians(rounds)])) };
  });
}

const fixed = (value: number) => (Number.isNaN(value) ? "" : value.toFixed(2));

const range = ([least, most]: [number, number]) => `${fixed(least)}–${fixed(most)}`;

function printTable(rows: Row[]): void {
  print("| Workload | | requests/s | CPU ms | of all rounds | requests/s, ratio | CPU, ratio |");
  print(`|${" --- |".repeat(7)}`);
  for (const { workload, figures } of rows) {
    const [own] = Object.values(figures);
    for (const [name, { requestsPerSecond, cpu, spread }] of Object.entries(figures)) {
      const ratios = own && [own.requestsPerSecond / requestsPerSecond, own.cpu / cpu].map(fixed).join(" | ");
      const cells = [requestsPerSecond.toFixed(0), fixed(cpu), range(spread)].join(" | ");
      print(`| ${workload.name} ${workload.what} | ${name} | ${cells} | ${ratios} |`);
    }
  }
}

async function againstLimit(): Promise<void> {
  const environment = await openEnvironment();
  const contenders: Contender[] = [
    { name: "Latchkey", environment, program: "latchkey" },
    { name: "limit", environment, program: "limit" },
    { name: "bare Remix", environment, program: "bare" },
  ];
  const rows = await compare(contenders, chosen(["W1", "W2", "W3", "W4", "W5", "W9"]));
  const resident = residentMegabytes(environment.latchkey);
  rows.push(...(await compare(contenders, chosen(["W8", "W10"]))));
  printTable(rows);
  print("");
  print(`W7: ${resident.toFixed(0)} MB resident after W1 to W5.`);
  await environment.close();
}

async function compareEnvironments(environments: Record<string, EnvironmentOptions>, some: Workload[]): Promise<void> {
  const contenders: Contender[] = [];
  try {
    for (const [name, options] of Object.entries(environments)) {
      contenders.push({ name, environment: await openEnvironment(options), program: "latchkey" });
    }
    printTable(await compare(contenders, some));
    print("");
    for (const { name, environment } of contenders) {
      print(`${name}: ${residentMegabytes(environment.latchkey).toFixed(0)} MB resident`);
    }
  } finally {
    await Promise.all(contenders.map(({ environment }) => environment.close()));
  }
}

const againstFolders = (folders: string[], nginx = false) =>
  compareEnvironments(
    { "this folder": { nginx }, ...Object.fromEntries(folders.map((folder) => [folder, { folder, nginx }])) },
    chosen(),
  );

const withFlushOf = (milliseconds: number): EnvironmentOptions => ({
  embedded: true,
  more: {
    NODE_OPTIONS: `--import "${new URL("slow-flush.js", import.meta.url)}"`,
    FLUSH_MS: String(milliseconds),
  },
});

/** On the embedded database, on disks whose flushes take 0.5 ms and 5 ms. */
const onEmbedded = (folders: string[]) =>
  compareEnvironments(
    {
      ...Object.fromEntries(folders.map((folder) => [folder, { folder, embedded: true }])),
      "a flush takes 0.5 ms": withFlushOf(0.5),
      "a flush takes 5 ms": withFlushOf(5),
    },
    chosen(["W1", "W3", "W4", "W8"]).map((each) => ({ ...each, requestCount: each.requestCount / 10 })),
  );

/** A round asks some eight times for each of 2,500 sessions: nearly the least use of the tokens in memory. */
const withIdentityTokens = () =>
  compareEnvironments({ "with identity tokens": { more: identityTokens() }, without: {} }, chosen(["W9"]));

const inProcesses = (processes: number) =>
  compareEnvironments({ [`PROCESSES=${processes}`]: { processes }, "PROCESSES=1": {} }, chosen(["W5", "W8"]));

const throughPgBouncer = () => compareEnvironments({ "through PgBouncer": { pooled: true }, without: {} }, chosen());

async function start(): Promise<void> {
  const starts = await measureStarts();
  const [least = Number.NaN] = Object.values(starts);
  print("");
  print("| W6: start to the first 200 of /login | ms | to the empty route |");
  print("| --- | --- | --- |");
  for (const [what, milliseconds] of Object.entries(starts)) {
    print(`| ${what} | ${milliseconds.toFixed(0)} | ${(milliseconds / least).toFixed(2)} |`);
  }
}

if (options.embedded) await onEmbedded(options.against ?? []);
else if (options.against) await againstFolders(options.against, options.nginx);
else if (options.processes) await inProcesses(Number(options.processes));
else if (options.pgbouncer) await throughPgBouncer();
else {
  if (chosen().length > 0) await againstLimit();
  if (isChosen("W9")) await withIdentityTokens();
  if (isChosen("W6")) await start();
}
