import type pg from "pg";
import { until } from "../../support/until";
import { cpuSeconds, largestResident } from "../processes";
import type { Scale } from "./million";
import { print } from "./print";

const amounts = [1_000, 10_000, 100_000];
const seconds = 30;

/** Jobs as an outage of the mail service leaves them, whose waits have ended. */
const addMails = `
  insert into pgboss.job (name, data, retry_limit, retry_delay, retry_backoff, expire_in, created_on)
  select 'latchkey', json_build_object('task', 'mail_password_reset', 'email', 'known-' || n || '@bench.example', 'language', 'en'),
    14, 10, true, interval '60 s', now() - ($1 - n) * interval '1 ms'
  from generate_series(1, $1::int) n`;

const statements = `
  select coalesce(sum(calls) filter (where query like '%SKIP LOCKED%'), 0)::int as fetches,
    coalesce(sum(total_exec_time) filter (where query like '%SKIP LOCKED%'), 0) as fetching, sum(total_exec_time) as all
  from pg_stat_statements where dbid = (select oid from pg_database where datname = current_database())`;

async function waiting(database: pg.Client): Promise<number> {
  const { rows } = await database.query("select count(*)::int from pgboss.job where state < 'active'");
  return rows[0].count;
}

/** The plan of pg-boss's own statement for one job; the job stays. */
async function planOfFetch(database: pg.Client): Promise<string> {
  const { rows } = await database.query("select query from pg_stat_statements where query like '%SKIP LOCKED%'");
  const text = rows[0].query.replace("$1", "'latchkey'").replace("$1", "'latchkey'").replaceAll("$2", "4");
  await database.query("begin");
  const plan = await database.query(`explain (analyze, costs off, buffers off) ${text}`);
  await database.query("rollback");
  const lines = plan.rows.map((row) => row["QUERY PLAN"].trim().replace(/j[0-9a-f]{56}/g, "job"));
  return lines.filter((line: string) => /Scan using .* job |Seq Scan|Sort Method|Execution/.test(line)).join("; ");
}

/** How fast the ten processes send, for half a minute, what has waited, and what a mail that is new meanwhile waits for. */
async function drain({ latchkey, database }: Scale, amount: number): Promise<void> {
  await database.query("select pg_stat_statements_reset()");
  await database.query(addMails, [amount]);
  await database.query("analyze pgboss.job");
  await until(async () => (await waiting(database)) < amount, "the first job is fetched", 60_000);
  const before = { time: performance.now(), cpu: cpuSeconds(latchkey.process), waiting: await waiting(database) };
  await database.query("select pg_stat_statements_reset()");
  let left = before.waiting;
  let resident = 0;
  while (left > 0 && performance.now() - before.time < seconds * 1000) {
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    left = await waiting(database);
    resident = Math.max(resident, largestResident(latchkey));
  }
  const elapsed = (performance.now() - before.time) / 1000;
  const mails = before.waiting - left;
  const cpu = ((cpuSeconds(latchkey.process) - before.cpu) / mails) * 1000;
  const { fetches, fetching, all } = (await database.query(statements)).rows[0];
  const cells = [amount, (mails / elapsed).toFixed(0), (fetches / mails).toFixed(2), (fetching / fetches).toFixed(2)];
  print(`| ${[...cells, (all / mails).toFixed(2), cpu.toFixed(2), resident.toFixed(0)].join(" | ")} |`);
  if (left > 0) print(await planOfFetch(database));
  await database.query("delete from pgboss.job where state <> 'active'");
  await until(
    async () => (await database.query("select from pgboss.job limit 1")).rowCount === 0,
    "no job is left",
    60_000,
  );
  await database.query("vacuum pgboss.job");
}

export async function measureQueue(scale: Scale): Promise<void> {
  print(
    "| mails waiting | mails/s | fetches per mail | ms per fetch | ms in PostgreSQL per mail | ms of CPU per mail | MB |",
  );
  print(`|${" --- |".repeat(7)}`);
  for (const amount of amounts) await drain(scale, amount);
}
