import { once } from "node:events";
import type pg from "pg";
import { createEmptyDatabase } from "../../tests/support/server";
import { until } from "../../tests/support/until";
import { openEmbedded, startLatchkey } from "../environment";
import { print } from "../print";
import { longestWait } from "./backup";
import { addUsers } from "./million";

const users = 100_000;
const logMegabytes = 16; // from which on a checkpoint is due

async function sinceCheckpoint(database: pg.Client): Promise<number> {
  const { rows } = await database.query(
    "select (pg_current_wal_lsn() - redo_lsn)::float8 / 1048576 as megabytes from pg_control_checkpoint()",
  );
  return rows[0].megabytes;
}

async function writeLog(database: pg.Client): Promise<void> {
  await database.query("checkpoint");
  while ((await sinceCheckpoint(database)) < logMegabytes) {
    await database.query(
      "update users set name = 'known' where id in (select id from users order by random() limit 1000)",
    );
  }
}

/** In ms. */
async function durationOfStart(url: string): Promise<number> {
  const began = performance.now();
  const { provider, latchkey } = await startLatchkey(url, {});
  const duration = performance.now() - began;
  await Promise.all([latchkey.stop(), provider.stop()]);
  return duration;
}

/** How long the upkeep of the embedded database holds up the service, and what a replay of its log takes. */
export async function measureUpkeep(): Promise<void> {
  const ofDatabase = await createEmptyDatabase("embedded");
  const { latchkey, database, close } = await openEmbedded({}, ofDatabase);
  await addUsers(database, users);
  await database.query("update users set name = 'known' where id in (select id from users limit 20000)");
  await database.query("update sessions set last_seen_at = now() where id in (select id from sessions limit 20000)");
  const isDone = async () => (await sinceCheckpoint(database)) < 1;
  const longest = await longestWait(latchkey.url, until(isDone, "a checkpoint", 120_000));
  print(`With ${users} accounts, /healthz waited ${longest.toFixed(0)} ms at most while tables were vacuumed.`);
  await writeLog(database);
  database.on("error", () => {}); // its service ends
  latchkey.process.kill("SIGKILL");
  await once(latchkey.process, "exit");
  const [killed, stopped] = [await durationOfStart(ofDatabase.url), await durationOfStart(ofDatabase.url)];
  const seconds = ((killed - stopped) / 1000).toFixed(1);
  print(`After kill -9, with ${logMegabytes} MB of log to replay, a start took ${seconds} s more than after a stop.`);
  await close();
}
