import { setTimeout as pause } from "node:timers/promises";
import autocannon, { type Request } from "autocannon";
import pg from "pg";

/** What the connections of the service do, the most of all samples. */
export interface Activity {
  connections: number;
  active: number;
  /** Statements that wait for a row or another lock. */
  waiting: number;
}

const sampleInterval = 50; // ms

const sampled = `
  select count(*)::int as connections, count(*) filter (where state = 'active')::int as active,
    count(*) filter (where wait_event_type = 'Lock')::int as waiting
  from pg_stat_activity
  where datname = current_database() and backend_type = 'client backend' and application_name <> 'scale'`;

/** Samples during `work`, over a connection of its own. */
export async function activityDuring(databaseUrl: string, work: () => Promise<unknown>): Promise<Activity> {
  const client = new pg.Client({ connectionString: databaseUrl, application_name: "scale" });
  await client.connect();
  const most: Activity = { connections: 0, active: 0, waiting: 0 };
  let done = false;
  const working = work().finally(() => {
    done = true;
  });
  working.catch(() => {}); // it is awaited below
  while (!done) {
    const [row] = (await client.query<Activity>(sampled)).rows;
    for (const what of ["connections", "active", "waiting"] as const) most[what] = Math.max(most[what], row![what]);
    await pause(sampleInterval);
  }
  await client.end();
  await working;
  return most;
}

/** Sends requests without a pause over as many connections. */
export function load(url: string, connections: number, duration: number, next: () => Request) {
  const setupRequest = (request: Request) => Object.assign(request, { body: undefined }, next());
  return autocannon({ url, connections, duration, timeout: 60, requests: [{ setupRequest }] });
}
