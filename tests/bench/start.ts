import { type ChildProcess, spawn } from "node:child_process";
import { createDatabase, freePort } from "../support/server";
import { median } from "./measure";

// W6: from the start of the process to the first 200 of GET /login.

const rounds = 5;

interface Settings {
  args: string[];
  env?: Record<string, string>;
}

async function stop(child: ChildProcess): Promise<void> {
  const ended = new Promise((resolve) => child.once("close", resolve));
  child.kill("SIGTERM");
  await ended;
}

/** Milliseconds; asks every few, because nothing else says when the first answer would come. */
async function timeToFirstAnswer({ args, env }: Settings): Promise<number> {
  const port = await freePort();
  const begun = performance.now();
  const child = spawn(process.execPath, args, {
    env: { PATH: process.env.PATH, NODE_ENV: "production", PORT: String(port), ...env },
    stdio: "ignore",
  });
  const answered = () =>
    fetch(`http://127.0.0.1:${port}/login`).then(
      ({ ok }) => ok,
      () => false,
    );
  while (!(await answered())) await new Promise((resolve) => setTimeout(resolve, 5));
  const elapsed = performance.now() - begun;
  await stop(child);
  return elapsed;
}

const latchkey = (databaseUrl: string): Settings => ({
  args: ["server/serve.js"],
  env: { DATABASE_URL: databaseUrl },
});

const empty: Settings = { args: ["node_modules/@remix-run/serve/dist/cli.js", "tests/bench/empty-build.js"] };

/** Milliseconds of each start, by what was started; each round starts everything once. */
export async function measureStarts(): Promise<{ what: string; milliseconds: number }[]> {
  const postgres = await createDatabase();
  const times: Record<string, number[]> = { empty: [], postgres: [], first: [], reopened: [] };
  for (let round = 0; round <= rounds; round++) {
    const embedded = await createDatabase("embedded");
    const starts = {
      empty,
      postgres: latchkey(postgres.url),
      first: latchkey(embedded.url),
      reopened: latchkey(embedded.url),
    };
    for (const [what, settings] of Object.entries(starts)) {
      const elapsed = await timeToFirstAnswer(settings);
      if (round > 0) times[what]?.push(elapsed);
    }
    await embedded.drop();
  }
  await postgres.drop();
  return Object.entries(times).map(([what, each]) => ({ what, milliseconds: median(each) }));
}
