import type { Request, Result } from "autocannon";
import { print } from "../print";
import { workloads } from "../workloads";
import { activityDuring, load } from "./activity";
import type { Scale } from "./million";

const clients = 40;
const seconds = 15;

const addressOf = (client: number) => `10.99.0.${client}`;

/** Clients whose logins are all refused, so that a request is one statement, which locks the client's row. */
const fillLimits = `
  insert into rate_limits (key, points, expire)
  select 'login:client:10.99.0.' || n, 101, (extract(epoch from now()) * 1000)::bigint + 900000 from generate_series(0, $1::int) n
  on conflict (key) do update set points = 101, expire = excluded.expire`;

const attempt = (client: string): Request => ({
  method: "POST",
  path: "/login",
  headers: { "content-type": "application/x-www-form-urlencoded", "x-forwarded-for": client },
  body: new URLSearchParams({ email: "nobody@bench.example", password: "wrong" }).toString(),
});

/** What others notice while many connections send refused logins: of one client, or of as many as there are connections. */
export async function measureHotRow({ latchkey, database, databaseUrl }: Scale): Promise<void> {
  const visitor = workloads.find(({ name }) => name === "W9")!;
  for (const [what, count] of [
    ["one client", 1],
    [`${clients} clients`, clients],
    ["one client", 1],
  ] as const) {
    await database.query(fillLimits, [clients]);
    let sent = 0;
    let results: Result[] = [];
    const most = await activityDuring(databaseUrl, async () => {
      results = await Promise.all([
        load(latchkey.url, clients, seconds, () => attempt(addressOf(sent++ % count))),
        load(latchkey.url, 4, seconds, visitor.next),
      ]);
    });
    const [flood, others] = results as [Result, Result];
    print(
      `Refused logins of ${what}: ${flood.requests.average.toFixed(0)}/s (statuses ${JSON.stringify(flood.statusCodeStats)}), ` +
        `${most.waiting} statements waiting for a lock at most; /auth/verify meanwhile ${others.requests.average.toFixed(0)}/s, ` +
        `p50 ${others.latency.p50} ms, p99 ${others.latency.p99} ms`,
    );
  }
}
