import { setTimeout as pause } from "node:timers/promises";
import type pg from "pg";
import { until } from "../../tests/support/until";
import { print } from "../print";
import { cpuSeconds, largestResident } from "../processes";
import type { Scale } from "./million";

const amounts = [1_000, 10_000, 100_000];
const seconds = 30;

/** Mails that wait, each for another user, as an outage of the mail service leaves them. */
const addMails = `
  insert into pgboss.job (name, data, retry_limit, retry_delay, retry_backoff, expire_in, created_on, state, start_after)
  select 'latchkey', json_build_object('task', 'mail_password_reset', 'email', 'known-' || n || '@bench.example', 'language', 'en'),
    14, 10, true, interval '60 s', now() - ($1 - n) * interval '1 ms', $2, now() + $3 * interval '1 h'
  from generate_series(1, $1::int) n`;

const statements = `
  select coalesce(sum(calls) filter (where query ilike '%skip locked%'), 0)::int as fetches,
    coalesce(sum(total_exec_time) filter (where query ilike '%skip locked%'), 0) as fetching, sum(total_exec_time) filter (where query not like '%count(*)%') as all
  from pg_stat_statements where dbid = (select oid from pg_database where datname = current_database())`;

async function waiting(database: pg.Client): Promise<number> {
  const { rows } = await database.query("select count(*)::int from pgboss.job where state < 'active'");
  return rows[0].count;
}

async function removeMails(database: pg.Client): Promise<void> {
  await database.query("delete from pgboss.job where state <> 'active'");
  const isEmpty = async () => (await database.query("select from pgboss.job limit 1")).rowCount === 0;
  await until(isEmpty, "no job is left", 60_000);
  await database.query("vacuum pgboss.job");
}

/** How fast the ten processes send, for half a minute, mails that are due. */
async function drain({ latchkey, database }: Scale, amount: number): Promise<void> {
  await database.query(addMails, [amount, "created", 0]);
  await database.query("analyze pgboss.job");
  await until(async () => (await waiting(database)) < amount, "the first job is fetched", 60_000);
  await database.query("select pg_stat_statements_reset()");
  const before = { time: performance.now(), cpu: cpuSeconds(latchkey.process), waiting: await waiting(database) };
  let left = before.waiting;
  let resident = 0;
  while (left > 0 && performance.now() - before.time < seconds * 1000) {
    await pause(200);
    left = await waiting(database);
    resident = Math.max(resident, largestResident(latchkey));
  }
  const elapsed = (performance.now() - before.time) / 1000;
  const mails = before.waiting - left;
  const cpu = ((cpuSeconds(latchkey.process) - before.cpu) / mails) * 1000;
  const { fetches, fetching, all } = (await database.query(statements)).rows[0];
  const perMail = [all / mails, cpu].map((ms) => ms.toFixed(2));
  const cells = [amount, (mails / elapsed).toFixed(0), (fetches / mails).toFixed(2), (fetching / fetches).toFixed(2)];
  print(`| ${[...cells, ...perMail, resident.toFixed(0)].join(" | ")} |`);
  await removeMails(database);
}

/** What a new mail waits for behind mails that will be retried in an hour. */
async function mailBehindRetries({ latchkey, database }: Scale, amount: number): Promise<void> {
  await database.query(addMails, [amount, "retry", 1]);
  await database.query("analyze pgboss.job");
  const start = performance.now();
  const body = new URLSearchParams({ email: "known-0@bench.example" });
  await fetch(`${latchkey.url}/forgot-password`, { method: "POST", body });
  const isMailed = async () =>
    (await database.query("select from pgboss.job where data ->> 'email' = 'known-0@bench.example'")).rowCount === 0;
  await until(isMailed, "the new mail is sent");
  print(`${amount} mails to be retried: a new one was sent in ${(performance.now() - start).toFixed(0)} ms`);
  await removeMails(database);
}

export async function measureQueue(scale: Scale): Promise<void> {
  print("| mails due | mails/s | fetches per mail | ms per fetch | PostgreSQL, ms per mail | CPU, ms per mail | MB |");
  print(`|${" --- |".repeat(7)}`);
  for (const amount of amounts) await drain(scale, amount);
  for (const amount of [0, ...amounts]) await mailBehindRetries(scale, amount);
}
