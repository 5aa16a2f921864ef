import autocannon, { type Request } from "autocannon";
import type pg from "pg";
import { print } from "../print";
import { cpuSeconds } from "../processes";
import { logIn, workloads } from "../workloads";
import type { Scale } from "./million";

const sampleInterval = 60_000; // ms

interface Table {
  name: string;
  live: number;
  dead: number;
  updates: number;
  hot: number;
  deletes: number;
  vacuums: number;
  /** MB. */
  size: number;
  indexes: number;
}

const tables = `
  select case when s.schemaname = 'pgboss' and s.relname like 'j_%' then 'pgboss.job' else s.relname end as name,
    c.reltuples::int as live, n_dead_tup::int as dead, n_tup_upd::int as updates, n_tup_hot_upd::int as hot,
    n_tup_del::int as deletes, autovacuum_count::int as vacuums,
    pg_table_size(relid) / 1e6::float as size, pg_indexes_size(relid) / 1e6::float as indexes
  from pg_stat_user_tables s join pg_class c on c.oid = relid
  where s.relname in ('users', 'sessions', 'devices', 'rate_limits')
    or (s.schemaname = 'pgboss' and length(s.relname) = 57)
  order by 1`;

const statisticsOf = async (database: pg.Client) => (await database.query<Table>(tables)).rows;

const fields = ({ name, live, dead, updates, hot, deletes, vacuums, size, indexes }: Table) =>
  [name, live, dead, updates, hot, deletes, vacuums, size.toFixed(2), indexes.toFixed(2)].join(" ");

/** Half of the logins come from known browsers, half from new ones, whose owners get a mail; each user logs in rarely. */
async function sendLogins({ latchkey, database }: Scale, users: number, minutes: number, rate: number) {
  const known = workloads.find(({ name }) => name === "W10")!;
  await known.prepare?.(database, 0);
  const setupRequest = (request: Request) => {
    const login = Math.random() < 0.5 ? known.next() : logIn(Math.floor(Math.random() * users));
    return Object.assign(request, { headers: {} }, login);
  };
  const result = await autocannon({
    url: latchkey.url,
    connections: 8,
    duration: minutes * 60,
    overallRate: rate,
    requests: [{ setupRequest }],
  });
  return {
    sent: result["3xx"],
    failed: result.errors + result["2xx"] + result["4xx"] + result["5xx"],
    p99: result.latency.p99,
  };
}

/** What an hour of logins leaves in the tables, with PostgreSQL's own settings of autovacuum. */
export async function measureLogins(scale: Scale, users: number, minutes: number, rate: number): Promise<void> {
  const start = performance.now();
  const cpu = cpuSeconds(scale.latchkey.process);
  print("minute table live dead updates hot deletes vacuums MB indexes-MB");
  const sample = async () => {
    const minute = ((performance.now() - start) / 60_000).toFixed(0);
    for (const table of await statisticsOf(scale.database)) print(`${minute} ${fields(table)}`);
  };
  await sample();
  const timer = setInterval(sample, sampleInterval);
  const { sent, failed, p99 } = await sendLogins(scale, users, minutes, rate);
  clearInterval(timer);
  await sample();
  const used = (cpuSeconds(scale.latchkey.process) - cpu) / (sent + failed);
  print(
    `${sent} logins in ${minutes} minutes, ${failed} failed; p99 ${p99} ms, ${(used * 1000).toFixed(1)} ms of CPU each`,
  );
  if (failed > 0) process.exitCode = 1;
}
