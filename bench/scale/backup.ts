import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createEmptyDatabase } from "../../tests/support/server";
import { openEmbedded } from "../environment";
import { print } from "../print";
import { addUsers } from "./million";

const users = 100_000;

/** In ms, of requests one after the other until `until` is settled. */
export async function longestWait(url: string, until: Promise<unknown>): Promise<number> {
  let isOver = false;
  until.finally(() => {
    isOver = true;
  });
  let longest = 0;
  while (!isOver) {
    const began = performance.now();
    await (await fetch(`${url}/healthz`)).text();
    longest = Math.max(longest, performance.now() - began);
  }
  return longest;
}

/** How long a backup of the embedded database holds up the service. */
export async function measureBackup(): Promise<void> {
  const ofDatabase = await createEmptyDatabase("embedded");
  const { latchkey, database, close } = await openEmbedded({}, ofDatabase);
  const home = await mkdtemp(join(tmpdir(), "bench-backup-"));
  try {
    await addUsers(database, users);
    const file = join(home, "backup");
    const env = { ...process.env, NODE_ENV: "production" as const, DATABASE_URL: ofDatabase.url };
    const began = performance.now();
    const made = once(spawn(process.execPath, ["server/cli.js", "database", "backup", file], { env }), "exit");
    const longest = await longestWait(latchkey.url, made);
    const [status] = await made;
    if (status !== 0) throw new Error(`The backup ended with ${status}.`);
    const megabytes = (await stat(file)).size / 2 ** 20;
    print(
      `A backup of ${users} accounts (${megabytes.toFixed(0)} MB) took ${((performance.now() - began) / 1000).toFixed(1)} s; /healthz waited ${longest.toFixed(0)} ms at most.`,
    );
  } finally {
    await close();
    await rm(home, { recursive: true });
  }
}
