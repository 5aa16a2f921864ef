import { openEnvironment } from "./environment";
import { measure, medians } from "./measure";
import { print } from "./print";
import { type Workload, workloads } from "./workloads";

/**
 * What access tokens cost `/auth/verify`: DATABASE_URL=… tsx bench/access-tokens.ts [FOLDER], the folder of another build
 * for comparison. Its sides take turns, and the first round does not count.
 */
const [folder] = process.argv.slice(2);
const rounds = 7;

const w9 = workloads.find(({ name }) => name === "W9") as Workload;

/** Each has a session, too. */
const withPath = (path: string, headers = {}): Workload => ({
  ...w9,
  next() {
    const request = w9.next();
    return { ...request, path, headers: { ...request.headers, ...headers } };
  },
});

const token = `latchkey_${"a".repeat(43)}`;
const on = await openEnvironment({ more: { ACCESS_TOKENS: "on" } });
await on.database.query(
  `insert into access_tokens (id, user_id, name, token_hash, origin, created_at, expires_at)
   select gen_random_uuid(), id, 'bench', encode(sha256($1), 'hex'), 'http://127.0.0.1', now(), now() + interval '1 day'
   from users limit 1`,
  [token],
);
const off = await openEnvironment();
const other = folder === undefined ? undefined : await openEnvironment({ folder });

const sides = [
  ...(other ? [{ name: "the other folder, session", environment: other, workload: w9 }] : []),
  { name: "off, session", environment: off, workload: w9 },
  { name: "on, session without tokens=on", environment: on, workload: w9 },
  { name: "on, session at tokens=on", environment: on, workload: withPath("/auth/verify?tokens=on") },
  {
    name: "on, token",
    environment: on,
    workload: withPath("/auth/verify?tokens=on", { authorization: `Bearer ${token}` }),
  },
].map((side) => ({ ...side, figures: [] as Awaited<ReturnType<typeof measure>>[] }));

for (let round = 0; round <= rounds; round++) {
  for (const { environment, workload, figures } of sides) {
    const measured = await measure(environment.latchkey, workload, environment.idle, 16);
    if (round > 0) figures.push(measured);
  }
}

print("| GET /auth/verify | requests/s | CPU ms | CPU, ratio to the first |");
print("| --- | --- | --- | --- |");
const first = medians(sides[0]?.figures ?? []).cpu;
for (const { name, figures } of sides) {
  const { requestsPerSecond, cpu } = medians(figures);
  print(`| ${name} | ${requestsPerSecond.toFixed(0)} | ${cpu.toFixed(4)} | ${(cpu / first).toFixed(3)} |`);
}
await Promise.all([on, off, other].map((environment) => environment?.close()));
