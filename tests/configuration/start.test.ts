import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { config } from "#server/config";
import { orm } from "#server/database/unit-of-work";
import { isReady } from "#server/features/operator/health";
import { start } from "#server/start";
import { stopSignals } from "#server/stop-signals";
import { createEmptyDatabase, freePort } from "../support/server";

const routeOf = () => "none";

test("start() starts the service once in a process with the .env of its folder, and SIGTERM ends it with status 0", async () => {
  const folder = await mkdtemp(join(tmpdir(), "latchkey-start-"));
  await writeFile(join(folder, ".env"), "APP_URL=https://named-in.example\nPORT=1\n");
  const home = process.cwd();
  process.chdir(folder);
  const database = await createEmptyDatabase();
  const port = await freePort();
  vi.stubEnv("DATABASE_URL", database.url);
  vi.stubEnv("PORT", String(port));
  vi.stubEnv("APP_URL", undefined);
  const others = process.listeners("SIGTERM");

  await Promise.all([start(routeOf), start(routeOf)]).finally(() => process.chdir(home));
  expect(config()).toMatchObject({ port, databaseUrl: database.url, appUrl: "https://named-in.example" });
  expect(await isReady()).toBe(true);
  const [onSigterm, ...more] = process.listeners("SIGTERM").filter((listener) => !others.includes(listener));
  expect(more).toEqual([]);

  onTestFinished(() => {
    vi.useRealTimers();
    for (const signal of stopSignals) process.removeAllListeners(signal);
  });
  vi.useFakeTimers({ toFake: ["setTimeout"], shouldAdvanceTime: true }); // The limit of the stop would end this worker.
  const ended = new Promise((resolve) => vi.spyOn(process, "exit").mockImplementation(resolve as () => never));
  onSigterm?.("SIGTERM");
  expect(await ended).toBe(0);
  await expect(orm().em.fork().execute("select 1")).rejects.toThrow();
  await database.drop();
  await rm(folder, { recursive: true });
});
