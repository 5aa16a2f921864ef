import { readdirSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { parseArgs } from "node:util";
import autocannon, { type Request as Shot } from "autocannon";
import { plot } from "./plot";
import { residentMegabytes } from "./processes";
import { openStage, type Stage } from "./stage";
import { type Work, works } from "./works";

// Mixed flows for a long time: nothing may fail, and nothing may grow once the first minutes are over.

const { values: options } = parseArgs({
  options: {
    minutes: { type: "string", default: "15" },
    rate: { type: "string", default: "60" },
    svg: { type: "string" },
  },
});
const minutes = Number(options.minutes);
const settling = minutes / 5;
const every = 5_000; // ms between two looks

/** How many of a hundred requests are of which work. */
const mixture: Record<string, number> = { W1: 15, W2: 15, W3: 10, W4: 20, W5: 30, W8: 10 };

interface Look {
  minute: number;
  megabytes: number;
  handles: number;
  connections: number;
}

async function look(stage: Stage, begun: number): Promise<Look> {
  const { pid } = stage.latchkey[0]!.process;
  const { rows } = await stage.database.query<{ count: string }>(
    "select count(*) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()",
  );
  return {
    minute: (performance.now() - begun) / 60_000,
    megabytes: residentMegabytes(stage.latchkey),
    handles: readdirSync(`/proc/${pid}/fd`).length,
    connections: Number(rows[0]?.count),
  };
}

/** Requests of every work at random, at an even rate; resolves with how many there were and how many failed. */
async function fire(stage: Stage, target: string): Promise<{ fired: number; failed: number }> {
  const drawn = works.flatMap((work) => Array.from({ length: mixture[work.name] ?? 0 }, () => work));
  const rate = Number(options.rate);
  for (const work of works) {
    await work.prepare(stage.database, Math.ceil((((mixture[work.name] ?? 0) * 1.3) / 100) * rate * minutes * 60));
  }
  let fired = 0;
  let failed = 0;
  const setupRequest = (shot: Shot, context: { work?: Work }) => {
    const work = drawn[Math.floor(Math.random() * drawn.length)]!;
    context.work = work;
    return Object.assign(shot, { body: undefined }, work.next());
  };
  const onResponse = (status: number, _body: string, context: { work?: Work }) => {
    fired++;
    if (status !== context.work?.expects) failed++;
  };
  const result = await autocannon({
    url: target,
    connections: 16,
    duration: minutes * 60,
    overallRate: rate,
    requests: [{ setupRequest, onResponse } as object],
  });
  return { fired, failed: failed + result.errors };
}

const mean = (values: number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;

/** The mean of the last fifth to the mean of the fifth after settling. */
function growth(looks: Look[], what: "megabytes" | "handles" | "connections"): number {
  const within = (from: number, to: number) =>
    mean(looks.filter(({ minute }) => minute >= from && minute < to).map((one) => one[what]));
  return within(minutes - settling, minutes) / within(settling, 2 * settling);
}

const stage = await openStage();
const looks: Look[] = [];
const begun = performance.now();
const looking = setInterval(async () => looks.push(await look(stage, begun)), every);
const { fired, failed } = await fire(stage, stage.latchkey[0]!.url);
clearInterval(looking);
await stage.idle();

const say = (line: string) => process.stdout.write(`${line}\n`);
const grew = {
  megabytes: growth(looks, "megabytes"),
  handles: growth(looks, "handles"),
  connections: growth(looks, "connections"),
};
const last = looks.at(-1)!;
say(`${fired} requests in ${minutes} minutes, ${failed} failed`);
say(`resident ${last.megabytes.toFixed(0)} MB, ${last.handles} handles, ${last.connections} connections at the end`);
say(
  `last fifth to the one after settling: memory ${grew.megabytes.toFixed(3)}, handles ${grew.handles.toFixed(3)}, connections ${grew.connections.toFixed(3)}`,
);
if (options.svg) {
  await writeFile(
    options.svg,
    plot("Memory, handles and connections over time", "minutes", [
      { name: "resident MB", points: looks.map(({ minute, megabytes }) => [minute, megabytes]) },
      { name: "handles", points: looks.map(({ minute, handles }) => [minute, handles]) },
      { name: "connections", points: looks.map(({ minute, connections }) => [minute, connections]) },
    ]),
  );
}
await stage.close();
const tolerance = 1.1; // a heap that is collected now and then is never quite level
process.exit(failed === 0 && Object.values(grew).every((ratio) => ratio < tolerance) ? 0 : 1);
