import { createEmptyDatabase, remixServeListens } from "../tests/support/server";
import { median } from "./measure";
import { startProgram } from "./processes";

// W6: from the start of the process to the first 200 of GET /login.

const rounds = 5;

type Start = [args: string[], env: Record<string, string>];

/** In ms. The first request is sent when the program reports that it listens. */
async function timeToFirstAnswer([args, env]: Start): Promise<number> {
  const start = performance.now();
  const program = await startProgram(args, env, remixServeListens);
  const { status } = await fetch(`${program.url}/login`);
  const elapsed = performance.now() - start;
  await program.stop();
  if (status !== 200) throw new Error(`GET /login answered ${status}`);
  return elapsed;
}

const latchkey = (databaseUrl: string): Start => [["server/serve.js"], { DATABASE_URL: databaseUrl }];

const empty: Start = [["node_modules/@remix-run/serve/dist/cli.js", "bench/empty-build.js"], {}];

export async function measureStarts(): Promise<Record<string, number>> {
  const postgres = await createEmptyDatabase();
  const times = new Map<string, number[]>();
  for (let round = 0; round <= rounds; round++) {
    const embedded = await createEmptyDatabase("embedded");
    const starts = {
      "remix-serve, an empty route": empty,
      PostgreSQL: latchkey(postgres.url),
      "embedded, first start": latchkey(embedded.url),
      "embedded, reopened": latchkey(embedded.url),
    };
    for (const [what, settings] of Object.entries(starts)) {
      const elapsed = await timeToFirstAnswer(settings);
      if (round > 0) times.set(what, [...(times.get(what) ?? []), elapsed]);
    }
    await embedded.drop();
  }
  await postgres.drop();
  return Object.fromEntries([...times].map(([what, each]) => [what, median(each)]));
}
