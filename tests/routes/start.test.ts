import { expect, test, vi } from "vitest";
import { isReady } from "#server/database.server";
import { log } from "#server/log";
import { service } from "#server/service";
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
  expect(service().config).toMatchObject({ port, databaseUrl: database.url });
  expect(await isReady()).toBe(true);
  const [onSigterm, ...more] = process.listeners("SIGTERM").filter((listener) => !others.includes(listener));
  expect(more).toEqual([]);

  const ended = new Promise((resolve) => vi.spyOn(process, "exit").mockImplementation(resolve as () => never));
  onSigterm?.("SIGTERM");
  expect(await ended).toBe(0);
  await expect(service().orm.em.fork().execute("select 1")).rejects.toThrow();
  await database.drop();
});
