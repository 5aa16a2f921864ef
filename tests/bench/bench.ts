import { writeFile } from "node:fs/promises";
import { parseArgs } from "node:util";
import { type Figures, measure, medians } from "./measure";
import { residentMegabytes } from "./processes";
import { openStage, type Stage } from "./stage";
import { measureStarts } from "./start";
import { type Work, works } from "./works";

const { values: options } = parseArgs({
  options: {
    json: { type: "string" },
    only: { type: "string" },
    rounds: { type: "string", default: "3" },
    grow: { type: "boolean", default: false },
    instances: { type: "string" },
    profile: { type: "boolean", default: false },
  },
});

/** What is compared: a name, and the stage whose program answers. */
interface Contender {
  name: string;
  stage: Stage;
  program: "latchkey" | "limit";
}

interface Row {
  work: string;
  figures: Record<string, Figures>;
  /** Requests per second of the first contender to those of the second. */
  ratio: number;
}

const isChosen = (name: string) => options.only?.split(",").includes(name) ?? true;

const chosen = (names?: string[]) => works.filter(({ name }) => (names?.includes(name) ?? true) && isChosen(name));

/** Round after round, each work on each contender in turn; the first round only warms up. */
async function compare(contenders: [Contender, Contender], some: Work[]): Promise<Row[]> {
  const rounds = new Map<string, Figures[]>();
  for (let round = 0; round <= Number(options.rounds); round++) {
    for (const work of some) {
      for (const { name, stage, program } of contenders) {
        await work.prepare(stage.database, work.shots);
        const figures = await measure(stage[program], work);
        await stage.idle();
        if (round === 0) continue;
        const key = `${work.name} ${name}`;
        rounds.set(key, [...(rounds.get(key) ?? []), figures]);
      }
    }
  }
  return some.map(({ name: work }) => {
    const [own, other] = contenders.map(({ name }) => medians(rounds.get(`${work} ${name}`) ?? [])) as [
      Figures,
      Figures,
    ];
    const figures = { [contenders[0].name]: own, [contenders[1].name]: other };
    return { work, figures, ratio: own.requestsPerSecond / other.requestsPerSecond };
  });
}

const say = (line: string) => process.stdout.write(`${line}\n`);

function print(rows: Row[]): void {
  const cells = ({ requestsPerSecond, p50, p99, cpu }: Figures) =>
    [requestsPerSecond.toFixed(0), p50, p99, Number.isNaN(cpu) ? "" : cpu.toFixed(2)].join(" | ");
  const names = Object.keys(rows[0]?.figures ?? {});
  say(`| Work | ${names.map((name) => `${name}: requests/s | p50 ms | p99 ms | CPU ms`).join(" | ")} | ratio |`);
  say(`|${" --- |".repeat(names.length * 4 + 2)}`);
  for (const { work, figures, ratio } of rows) {
    const what = works.find(({ name }) => name === work)?.what;
    say(`| ${work} ${what} | ${Object.values(figures).map(cells).join(" | ")} | ${ratio.toFixed(2)} |`);
  }
}

const kept = {};

async function keep(result: object): Promise<void> {
  if (options.json) await writeFile(options.json, JSON.stringify(Object.assign(kept, result), null, 2));
}

async function againstLimit(): Promise<void> {
  const stage = await openStage();
  const contenders: [Contender, Contender] = [
    { name: "Latchkey", stage, program: "latchkey" },
    { name: "limit", stage, program: "limit" },
  ];
  const rows = await compare(contenders, chosen(["W1", "W2", "W3", "W4", "W5"]));
  const resident = residentMegabytes(stage.latchkey);
  rows.push(...(await compare(contenders, chosen(["W8"]))));
  print(rows);
  say("");
  say(`W7: ${resident.toFixed(0)} MB resident after W1 to W5.`);
  await stage.close();
  await keep({ rows, resident });
}

async function grown(): Promise<void> {
  const [large, small] = [await openStage({ grown: true }), await openStage()];
  const rows = await compare(
    [
      { name: "grown", stage: large, program: "latchkey" },
      { name: "empty", stage: small, program: "latchkey" },
    ],
    chosen(),
  );
  print(rows);
  await Promise.all([large.close(), small.close()]);
  await keep({ rows });
}

async function onSeveral(instances: number): Promise<void> {
  const [several, one] = [await openStage({ instances }), await openStage()];
  const rows = await compare(
    [
      { name: `${instances} processes`, stage: several, program: "latchkey" },
      { name: "one", stage: one, program: "latchkey" },
    ],
    chosen(["W1", "W5"]),
  );
  print(rows);
  const { mails, addresses } = await several.mails();
  say("");
  say(`${mails} mails to ${addresses} addresses, each asked for once.`);
  await Promise.all([several.close(), one.close()]);
  await keep({ rows, mails, addresses });
  if (mails !== addresses) throw new Error("A mail was sent twice.");
}

/** Each work in a process of its own, whose profile is `profiles/WORK.cpuprofile`. */
async function profile(): Promise<void> {
  for (const work of chosen()) {
    const stage = await openStage({ profile: work.name });
    for (let round = 0; round < 2; round++) {
      await work.prepare(stage.database, work.shots);
      await measure(stage.latchkey, work);
    }
    await stage.close();
    say(`profiles/${work.name}.cpuprofile`);
  }
}

async function start(): Promise<void> {
  const starts = await measureStarts();
  const [least = Number.NaN] = Object.values(starts);
  say("");
  say("| W6: start to the first 200 of /login | ms | to the empty route |");
  say("| --- | --- | --- |");
  for (const [what, milliseconds] of Object.entries(starts)) {
    say(`| ${what} | ${milliseconds.toFixed(0)} | ${(milliseconds / least).toFixed(2)} |`);
  }
  await keep({ starts });
}

if (options.profile) await profile();
else if (options.grow) await grown();
else if (options.instances) await onSeveral(Number(options.instances));
else {
  if (chosen().length > 0) await againstLimit();
  if (isChosen("W6")) await start();
}
