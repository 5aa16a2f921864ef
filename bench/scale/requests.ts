import { setTimeout as pause } from "node:timers/promises";
import { until } from "../../tests/support/until";
import { queueIsEmpty } from "../environment";
import { measure } from "../measure";
import { print } from "../print";
import { type Workload, workloads } from "../workloads";
import { activityDuring, load } from "./activity";
import type { Scale } from "./million";

const requestCount = 150;
const names = ["W1", "W2", "W3", "W4", "W5", "W8", "W10", "W9"];

interface Cost {
  statements: number;
  /** Milliseconds that PostgreSQL executed them. */
  time: number;
}

/** Begin, commit and what the bench itself asks do not count. */
const costs = `
  select sum(calls)::int as statements, sum(total_exec_time) as time from pg_stat_statements
  where dbid = (select oid from pg_database where datname = current_database()) and toplevel
    and query !~* '^(begin|commit|rollback|set|select from pgboss|select pg_stat)'`;

async function costOf({ latchkey, database }: Scale, workload: Workload): Promise<Cost> {
  const idle = () => queueIsEmpty(database, 120_000);
  await workload.prepare?.(database, requestCount);
  await idle();
  await database.query("select pg_stat_statements_reset()");
  await measure(latchkey, { ...workload, requestCount }, idle, 4);
  const { statements, time } = (await database.query(costs)).rows[0];
  return { statements: statements / requestCount, time: time / requestCount };
}

/** The statements of a request and its job, on databases with fewer and with more users. */
export async function measureStatements(scales: Record<number, Scale>): Promise<void> {
  const [few, many] = Object.values(scales) as [Scale, Scale];
  print(`| Workload | statements | ms, ${Object.keys(scales).join(" users | ms, ")} users | ratio |`);
  print("| --- | --- | --- | --- | --- |");
  for (const name of names) {
    const workload = workloads.find((one) => one.name === name)!;
    const less = await costOf(few, workload);
    const more = await costOf(many, workload);
    const cells = [more.statements, less.time, more.time, more.time / less.time].map((value) => value.toFixed(2));
    print(`| ${name} ${workload.what} | ${cells.join(" | ")} |`);
  }
}

const seconds = 10;
const clients = 100;

/** How many connections ten processes open when they have no requests, and with 100 clients at a time. */
export async function measureConnections({ latchkey, database, databaseUrl }: Scale): Promise<void> {
  const show = async (what: string, work: () => Promise<unknown>) => {
    const { connections, active, waiting } = await activityDuring(databaseUrl, work);
    print(`${what}: at most ${connections} connections, ${active} of them busy, ${waiting} waiting for a lock`);
  };
  for (const name of ["W5", "W8"]) {
    const { what, next } = workloads.find((one) => one.name === name)!;
    await show(what, async () => {
      const { statusCodeStats } = await load(latchkey.url, clients, seconds, next);
      print(`${what}: ${JSON.stringify(statusCodeStats)}`);
    });
  }
  await queueIsEmpty(database, 120_000);
  const { now } = (await database.query("select now()")).rows[0];
  const unused = `
    select from pg_stat_activity
    where datname = current_database() and application_name <> 'scale' and state_change < $1`;
  const areClosed = async () => (await database.query(unused, [now])).rowCount === 0;
  await until(areClosed, "the pools have closed the connections that nothing uses", 60_000);
  await show("Without requests", () => pause(seconds * 1000));
}
