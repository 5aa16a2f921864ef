import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { childrenOf, signal } from "../support/child-processes";
import { isRefused } from "../support/connections";
import { createFixtures } from "../support/fixture";
import type { MailServiceBehaviour } from "../support/mail-service";
import { scrape } from "../support/scrape";
import { freePort, type RunningServer, remixServeListens, spawnServer } from "../support/server";
import { until } from "../support/until";
import { Visitor } from "../support/visitor";

const { createFixture } = createFixtures();

const exists = (pid: number) => signal(pid, 0);

function signalAll({ process: { pid } }: RunningServer, name: NodeJS.Signals): void {
  for (const one of [pid, ...childrenOf(pid)]) signal(one, name);
}

async function spawn(settings: Record<string, string>): Promise<RunningServer> {
  const server = await spawnServer(settings);
  onTestFinished(() => server.kill());
  return server;
}

async function startThree(behaviour?: MailServiceBehaviour) {
  const fixture = await createFixture();
  const metricsPort = await freePort();
  const mails = await fixture.mailService(behaviour);
  const settings = { PROCESSES: "3", METRICS_PORT: String(metricsPort), METRICS_HOST: "127.0.0.1" };
  const server = await fixture.server({ ...mails.settings, ...settings });
  const lines = () => [...server.output().matchAll(new RegExp(remixServeListens, "g"))].length;
  while (lines() < 3) await server.nextOutput();
  return { fixture, server, mails, lines, scrape: () => scrape(metricsPort) };
}

describe("three processes", () => {
  let started: Awaited<ReturnType<typeof startThree>>;
  const emails = Array.from({ length: 12 }, (_, n) => `user${n}@example.com`);
  let wrong: number[];
  let metrics: Map<string, number>;
  let sentTo: string[];

  beforeAll(async () => {
    started = await startThree();
    const { fixture, server, mails, scrape } = started;
    expect(childrenOf(server.process.pid)).toHaveLength(3);
    await fixture.addAccount("ada@example.com");
    const logins = Array.from({ length: 12 }, () =>
      new Visitor(server.url).logIn("ada@example.com", "a wrong password"),
    );
    wrong = (await Promise.all(logins)).map(({ status }) => status);

    for (const email of emails) await fixture.addAccount(email);
    await Promise.all(emails.map((email) => new Visitor(server.url).askForReset(email)));
    await mails.when(() => mails.mails.length >= emails.length);
    await until(
      async () => (await scrape()).get('latchkey_mails_total{outcome="sent"}') === 12,
      "12 mails are counted",
    );
    metrics = await scrape();
    sentTo = mails.mails.map(({ to }) => to);
  });

  afterAll(() => started.fixture[Symbol.asyncDispose]());

  test("share their limits", () => {
    expect(wrong.sort()).toEqual([...Array(10).fill(422), 429, 429]);
  });

  test("send each mail once", () => {
    expect(sentTo.sort()).toEqual([...emails].sort());
  });

  test("add their counters up", () => {
    expect(metrics.get('latchkey_events_total{event="login.failed",reason="wrong_credentials"}')).toBe(10);
    expect(metrics.get('latchkey_events_total{event="password_reset.requested"}')).toBe(12);
  });

  test("add their connections up", () => {
    const connections = [...metrics].filter(([series]) => series.startsWith("latchkey_database_connections"));
    expect(connections.reduce((sum, [, value]) => sum + value, 0)).toBeGreaterThanOrEqual(3);
  });

  test("have one database", () => {
    expect(metrics.get("latchkey_database_up")).toBe(1);
  });

  test("share their sessions", async () => {
    const visitor = new Visitor(started.server.url);
    expect(await visitor.logIn("user1@example.com")).toMatchObject({ status: 302 });
    const pages = await Promise.all(Array.from({ length: 12 }, () => visitor.get("/dashboard")));
    expect(pages.map(({ status }) => status)).toEqual(Array(12).fill(200));
  });
});

describe("a process that ends", () => {
  let started: Awaited<ReturnType<typeof startThree>>;
  let first: number;
  let maxFds: Record<"before" | "meanwhile" | "after", number | undefined>; // a gauge, the same in each process
  const meanwhile: number[] = [];

  beforeAll(async () => {
    started = await startThree();
    const { server, lines, scrape } = started;
    const scrapeFds = async () => (await scrape()).get("process_max_fds");
    const before = await scrapeFds();
    [first = Number.NaN] = childrenOf(server.process.pid); // no process has this id; 0 would be every process
    process.kill(first, "SIGKILL");
    await server.waitFor(
      new RegExp(`"pid":${first},"status":null,"signal":"SIGKILL","msg":"A process ended and is replaced."`),
    );
    const ofTwo = await scrapeFds();
    while (lines() < 4) meanwhile.push((await new Visitor(server.url).get("/healthz")).status);
    maxFds = { before, meanwhile: ofTwo, after: await scrapeFds() };
  });

  afterAll(() => started.fixture[Symbol.asyncDispose]());

  test("is replaced", () => {
    const now = childrenOf(started.server.process.pid);
    expect(now).toHaveLength(3);
    expect(now).not.toContain(first);
  });

  test("leaves others that answer", () => {
    expect(meanwhile).not.toEqual([]);
    expect(new Set(meanwhile)).toEqual(new Set([200]));
  });

  test("is not in the metrics", () => {
    const ofThree = maxFds.before ?? Number.NaN;
    expect(maxFds).toEqual({ before: ofThree, meanwhile: (ofThree / 3) * 2, after: ofThree });
  });
});

test("simultaneous scrapes are all answered", async () => {
  const { fixture, server, scrape } = await startThree();
  await using _ = fixture;
  const values = await Promise.all(Array.from({ length: 20 }, scrape));
  expect(values.map((metrics) => metrics.get("latchkey_database_up"))).toEqual(Array(20).fill(1));
  await scrape();
  expect(server.output()).not.toContain("MaxListenersExceededWarning");
});

test("a scrape whose statement fails ends no process", async () => {
  const { fixture, server, scrape } = await startThree();
  await using _ = fixture;
  const processes = childrenOf(server.process.pid);
  await fixture.query("alter table pgboss.job rename to renamed");
  await expect(scrape()).rejects.toThrow("500");
  await server.waitFor(/"msg":"Unexpected error\."/);
  expect(childrenOf(server.process.pid)).toEqual(processes);
});

test.each<[NodeJS.Signals, string, (server: RunningServer, name: NodeJS.Signals) => void]>([
  ["SIGTERM", "to the primary process", (server, name) => server.process.kill(name)],
  ["SIGTERM", "to every process", signalAll],
  ["SIGINT", "to every process", signalAll],
])("%s %s ends every process once its work is done", async (name, _to, signalThem) => {
  const { fixture, server, mails } = await startThree({ kind: "no_answer" });
  await using _ = fixture;
  const processes = childrenOf(server.process.pid);
  await fixture.addAccount("ada@example.com");
  await new Visitor(server.url).askForReset("ada@example.com");
  await mails.when(() => mails.attempts() === 1);
  const transaction = await fixture.transaction("select from users for update");
  const login = new Visitor(server.url).logIn();
  await fixture.blocked();
  signalThem(server, name);
  await until(() => isRefused(server.port), "new connections are refused");
  signalThem(server, name);
  await transaction.query("rollback");
  mails.setBehaviour({ kind: "accept" });
  expect((await login).status).toBe(302);
  expect(await server.ended).toBe(0);
  expect(processes.filter(exists)).toEqual([]);
  expect(mails.mails).toMatchObject([{ to: "ada@example.com", subject: "Reset your password" }]);
  expect(server.output()).not.toMatch(/error/i);
});

test.each(["SIGTERM", "SIGINT"] as const)(
  "%s to every process while they start ends them with status 0",
  async (name) => {
    const { databaseSettings } = await createFixture();
    const server = await spawn({ PROCESSES: "3", ...databaseSettings });
    await server.waitFor(remixServeListens);
    await until(() => childrenOf(server.process.pid).length === 3, "the others are forked");
    const processes = childrenOf(server.process.pid);
    signalAll(server, name);
    expect(await server.ended).toBe(0);
    expect(processes.filter(exists)).toEqual([]);
  },
);

test("a start without a database ends with one message", async () => {
  const server = await spawn({ PROCESSES: "2", DATABASE_URL: "postgresql://127.0.0.1:1/none" });
  expect(await server.ended).toBe(1);
  expect(server.output()).toMatch(/^The database at 127\.0\.0\.1:1\/none cannot be used: .+\n$/);
});

test("a start on a port in use ends with one message", async () => {
  const { fixture, server } = await startThree();
  await using _ = fixture;
  const other = await spawn({ PROCESSES: "2", ...fixture.databaseSettings, PORT: String(server.port) });
  expect(await other.ended).toBe(1);
  expect(other.output()).toBe(`Port ${server.port} cannot be used: EADDRINUSE.\n`);
});
