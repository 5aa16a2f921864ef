import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { scrape } from "../support/scrape";
import { freePort, spawnServer } from "../support/server";
import { until } from "../support/until";
import { Visitor } from "../support/visitor";
import { createFixtures, forgetPassword, oldPassword } from "./fixture";

const { cluster, createFixture } = createFixtures();

const childrenOf = (pid: number | undefined) =>
  readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim().split(" ").filter(Boolean).map(Number);

const exists = (pid: number) => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

/** PROCESSES=3, all of them started. */
async function startThree() {
  const fixture = await createFixture();
  const metricsPort = await freePort();
  const mails = await fixture.mailService();
  const settings = { PROCESSES: "3", METRICS_PORT: String(metricsPort), METRICS_HOST: "127.0.0.1" };
  const server = await fixture.server({ ...mails.settings, ...settings });
  const lines = () => [...server.output().matchAll(/\[remix-serve\] http/g)].length;
  const started = async (count: number) => {
    while (lines() < count) await server.nextOutput();
  };
  await started(3);
  return { fixture, server, mails, started, scrape: () => scrape(metricsPort) };
}

test("three processes are one service: limits and sessions shared, each mail once, metrics added up", async () => {
  const { fixture, server, mails, scrape } = await startThree();
  await using _ = fixture;
  expect(childrenOf(server.process.pid)).toHaveLength(3);
  await fixture.addAccount("ada@example.com");

  const wrong = Array.from({ length: 12 }, () =>
    new Visitor(server.url).post("/login", { email: "ada@example.com", password: "a wrong password" }),
  );
  expect((await Promise.all(wrong)).map(({ status }) => status).sort()).toEqual([...Array(10).fill(422), 429, 429]);

  const emails = Array.from({ length: 12 }, (_, n) => `user${n}@example.com`);
  for (const email of emails) await fixture.addAccount(email);
  await Promise.all(emails.map((email) => forgetPassword(server.url, email)));
  await mails.when(() => mails.mails.length >= emails.length);

  const visitor = new Visitor(server.url);
  expect(await visitor.post("/login", { email: "user1@example.com", password: oldPassword })).toMatchObject({
    status: 302,
  });
  const pages = await Promise.all(Array.from({ length: 12 }, () => visitor.get("/dashboard")));
  expect(pages.map(({ status }) => status)).toEqual(Array(12).fill(200));

  await until(async () => (await scrape()).get('latchkey_mails_total{outcome="sent"}') === 12, "12 mails are counted");
  const metrics = await scrape();
  expect(metrics.get('latchkey_events_total{event="login.failed",reason="wrong_credentials"}')).toBe(10);
  expect(metrics.get('latchkey_events_total{event="password_reset.requested"}')).toBe(12);
  expect(metrics.get("latchkey_database_up")).toBe(1);
  const connections = [...metrics].filter(([series]) => series.startsWith("latchkey_database_connections"));
  expect(connections.reduce((sum, [, value]) => sum + value, 0)).toBeGreaterThanOrEqual(3);
  expect(mails.mails.map(({ to }) => to).sort()).toEqual([...emails].sort());
});

test("a process that ends is replaced, and the others answer meanwhile", async () => {
  const { fixture, server, started, scrape } = await startThree();
  await using _ = fixture;
  const [first] = childrenOf(server.process.pid);
  process.kill(first ?? 0, "SIGKILL");
  await server.waitFor(
    new RegExp(`"pid":${first},"status":null,"signal":"SIGKILL","msg":"A process ended and is replaced."`),
  );
  let replaced = false;
  const replacement = started(4).then(() => {
    replaced = true;
  });
  while (!replaced) {
    expect((await new Visitor(server.url).get("/healthz")).status).toBe(200);
    expect((await scrape()).get("latchkey_database_up")).toBe(1);
  }
  await replacement;
  const now = childrenOf(server.process.pid);
  expect(now).toHaveLength(3);
  expect(now).not.toContain(first);
});

test.each(["SIGTERM", "SIGINT"] as const)(
  "%s ends every process with status 0, once its requests are answered",
  async (signal) => {
    const { fixture, server } = await startThree();
    await using _ = fixture;
    const processes = childrenOf(server.process.pid);
    await fixture.addAccount("ada@example.com");
    const transaction = await fixture.transaction("select from users for update");
    const login = new Visitor(server.url).post("/login", { email: "ada@example.com", password: oldPassword });
    await fixture.blocked();
    server.process.kill(signal);
    if (signal === "SIGINT") for (const pid of processes) process.kill(pid, signal); // as a terminal does
    await transaction.query("rollback");
    expect((await login).status).toBe(302);
    expect(await server.ended).toBe(0);
    expect(processes.filter(exists)).toEqual([]);
  },
);

test("SIGTERM while the processes start ends them with status 0", async () => {
  const server = await spawnServer({ PROCESSES: "3", DATABASE_URL: await cluster().createDatabase() });
  await server.waitFor(/\[remix-serve\] http/);
  const processes = childrenOf(server.process.pid);
  expect(await server.stop()).toBe(0);
  expect(processes.filter(exists)).toEqual([]);
});

test.each<[string, Record<string, string>, RegExp]>([
  [
    "a malformed setting",
    { PROCESSES: "two" },
    /^The configuration is not usable:\n {2}- PROCESSES must be auto, or a number from 1 to 99\n$/,
  ],
  [
    "no database",
    { PROCESSES: "2", DATABASE_URL: "postgresql://127.0.0.1:1/none" },
    /^The database at 127\.0\.0\.1:1\/none cannot be used: .+\n$/,
  ],
])("%s is one message and status 1", async (_what, settings, message) => {
  const server = await spawnServer({ DATABASE_URL: await cluster().createDatabase(), ...settings });
  expect(await server.ended).toBe(1);
  expect(server.output()).toMatch(message);
});

test("a port in use is one message and status 1", async () => {
  const { fixture, server } = await startThree();
  await using _ = fixture;
  const other = await spawnServer({ PROCESSES: "2", DATABASE_URL: fixture.databaseUrl, PORT: String(server.port) });
  expect(await other.ended).toBe(1);
  expect(other.output()).toBe(`Port ${server.port} cannot be used: EADDRINUSE.\n`);
});
