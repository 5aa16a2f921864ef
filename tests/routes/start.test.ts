import { expect, test, vi } from "vitest";
import { config } from "#server/config";
import { orm } from "#server/database/unit-of-work";
import { isReady } from "#server/features/health.server";
import { log } from "#server/log";
import { start } from "#server/start.server";
import { createDatabase, freePort } from "../support/server";

test("start brings the service up once in a process, and SIGTERM takes it down with status 0", async () => {
  log.level = "silent";
  const database = await createDatabase();
  const port = await freePort();
  vi.stubEnv("DATABASE_URL", database.url);
  vi.stubEnv("PORT", String(port));
  const others = process.listeners("SIGTERM");

  await Promise.all([start(), start()]);
  expect(config()).toMatchObject({ port, databaseUrl: database.url });
  expect(await isReady()).toBe(true);
  const [onSigterm, ...more] = process.listeners("SIGTERM").filter((listener) => !others.includes(listener));
  expect(more).toEqual([]);

  const ended = new Promise((resolve) => vi.spyOn(process, "exit").mockImplementation(resolve as () => never));
  onSigterm?.("SIGTERM");
  expect(await ended).toBe(0);
  await expect(orm().em.fork().execute("select 1")).rejects.toThrow();
  await database.drop();
});
