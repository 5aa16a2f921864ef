import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from "vitest";
import { config } from "#server/config";
import { hasEveryMigration } from "#server/database/migrate";
import { orm, query } from "#server/database/unit-of-work";
import { stopSignals } from "#server/process/exit";
import { start } from "#server/start";
import { freePort } from "../support/server";
import { createDatabase } from "../support/template-copy";

const routeOf = () => "none";

let started: { port: number; databaseUrl: string };
let isMigrated: boolean;
let onSigterm: NodeJS.SignalsListener[];
let remove: () => Promise<void>;

beforeAll(async () => {
  const folder = await mkdtemp(join(tmpdir(), "latchkey-start-"));
  await writeFile(join(folder, ".env"), "APP_URL=https://named-in.example\nPORT=1\n");
  const home = process.cwd();
  process.chdir(folder);
  const database = await createDatabase();
  const port = await freePort();
  vi.stubEnv("DATABASE_URL", database.url);
  vi.stubEnv("PORT", String(port));
  vi.stubEnv("APP_URL", undefined);
  const others = process.listeners("SIGTERM");
  await Promise.all([start(routeOf), start(routeOf)]).finally(() => process.chdir(home));
  started = { port, databaseUrl: database.url };
  isMigrated = await query(hasEveryMigration); // before a test stops the service
  onSigterm = process.listeners("SIGTERM").filter((listener) => !others.includes(listener));
  remove = async () => {
    for (const signal of stopSignals) process.removeAllListeners(signal);
    await database.drop();
    await rm(folder, { recursive: true });
  };
});

afterAll(() => remove());

test("start() reads the .env of its folder beside the environment", () => {
  expect(config()).toMatchObject({ ...started, appUrl: "https://named-in.example" });
});

test("start() connects to a database that has every migration", () => {
  expect(isMigrated).toBe(true);
});

test("start() starts the service once in a process", () => {
  expect(onSigterm).toHaveLength(1);
});

test("SIGTERM ends the service with status 0", async () => {
  onTestFinished(() => void vi.useRealTimers());
  vi.useFakeTimers({ toFake: ["setTimeout"], shouldAdvanceTime: true }); // The limit of the stop would end this worker.
  const ended = new Promise((resolve) => vi.spyOn(process, "exit").mockImplementation(resolve as () => never));
  onSigterm[0]?.("SIGTERM");
  expect(await ended).toBe(0);
  await expect(orm().em.fork().execute("select 1")).rejects.toThrow();
});
