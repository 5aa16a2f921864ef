import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createFixtures, type Fixture } from "../support/fixture";
import type { Answer } from "../support/http";
import { goodPassword } from "../support/passwords";
import { scrape } from "../support/scrape";
import { freePort, type RunningServer } from "../support/server";
import { until } from "../support/until";
import { Visitor } from "../support/visitor";

const { cluster, createFixture } = createFixtures();

const longestAnswer = 6_000; // ms

/** Sends requests from four concurrent visitors until `stop` is called; returns their answers. */
function startLoad(server: RunningServer, emails: string[]) {
  const answers: Answer[] = [];
  const sent: string[] = [];
  const errors: unknown[] = [];
  let stopped = false;
  const visit = async (turn: () => Promise<Answer>) => {
    while (!stopped) await turn().then((answer) => answers.push(answer), errors.push.bind(errors));
  };
  const ask = async () => {
    const email = emails.pop() ?? "nobody@example.com";
    const answer = await new Visitor(server.url).askForReset(email);
    if (answer.status === 200 && email !== "nobody@example.com") sent.push(email);
    return answer;
  };
  const all = [
    visit(ask),
    visit(ask),
    visit(() => new Visitor(server.url).logIn(`${crypto.randomUUID()}@example.com`)),
    visit(() => new Visitor(server.url).get("/readyz")),
  ];
  return {
    answers,
    sent,
    errors,
    async stop() {
      stopped = true;
      await Promise.all(all);
    },
  };
}

async function signedIn(server: RunningServer): Promise<Visitor> {
  const visitor = new Visitor(server.url);
  expect(await visitor.logIn()).toMatchObject({ status: 302 });
  return visitor;
}

const unavailable = { status: 503, contentType: "text/html; charset=utf-8" };

/** The first answer of `/readyz` that is not the one of a second ago. */
async function notReady(server: RunningServer): Promise<Answer> {
  let answer!: Answer;
  await until(async () => {
    answer = await new Visitor(server.url).get("/readyz");
    return answer.status !== 200;
  }, "it is not ready");
  return answer;
}

async function expectOutage(server: RunningServer, ada: Visitor): Promise<void> {
  const credentials = { email: "ada@example.com", password: goodPassword };
  const [page, verified, sent, refused, login, reset, data, ready, alive, form] = await Promise.all([
    ada.get("/dashboard"),
    ada.get("/auth/verify"),
    new Visitor(server.url).askForReset(),
    new Visitor(server.url).post("/register", { email: "ada@example.com" }),
    new Visitor(server.url).post("/login", credentials),
    new Visitor(server.url).post("/reset-password", { ...credentials, token: "0".repeat(64) }),
    new Visitor(server.url).post("/forgot-password.data", { email: "ada@example.com" }),
    notReady(server),
    new Visitor(server.url).get("/healthz"),
    new Visitor(server.url).get("/forgot-password"),
  ]);
  for (const answer of [page, sent, refused, login, reset]) {
    expect(answer).toMatchObject(unavailable);
    expect(answer.body).toContain("<h1");
  }
  expect(verified).toMatchObject({ status: 503, body: "" });
  for (const answer of [page, verified, sent, refused, login, reset]) {
    expect(answer.headers.get("Retry-After")).toBe("5");
  }
  expect(data).toMatchObject({ status: 503, contentType: "text/x-script; charset=utf-8" });
  expect(ready).toMatchObject({ status: 503, body: "not ready\n" });
  expect(alive).toMatchObject({ status: 200, body: "ok\n" });
  expect(form).toMatchObject({ status: 200 });
  for (const { milliseconds } of [page, verified, sent, refused, login, reset, data, ready]) {
    expect(milliseconds).toBeLessThan(longestAnswer);
  }
  const callback = await new Visitor(server.url).signInExternally();
  expect(callback).toMatchObject({ status: 302, location: "/login?notice=idp_failed" });
  expect(callback.milliseconds).toBeLessThan(longestAnswer);
}

async function expectRecovery(server: RunningServer, ada: Visitor): Promise<void> {
  const ready = async () => (await new Visitor(server.url).get("/readyz")).status === 200;
  await until(ready, "ready again");
  expect(await ada.get("/dashboard")).toMatchObject({ status: 200 });
  expect(await ada.get("/auth/verify")).toMatchObject({ status: 200 });
  expect(await new Visitor(server.url).signInExternally()).toMatchObject({ status: 302, location: "/dashboard" });
  expect(server.process.exitCode).toBeNull();
}

async function open(fixture: Fixture) {
  const mails = await fixture.mailService();
  const provider = await fixture.provider();
  const server = await fixture.server({ ...mails.settings, ...provider.settings.google });
  await fixture.addAccount("ada@example.com");
  return { mails, server, ada: await signedIn(server) };
}

test("under load a service outlives the stop, the immediate shutdown and the crash of PostgreSQL", async () => {
  await using fixture = await createFixture();
  const { mails, server, ada } = await open(fixture);
  const emails = Array.from({ length: 500 }, (_, n) => `user${n}@example.com`);
  for (const email of emails) await fixture.addAccount(email);

  const load = startLoad(server, emails);
  const loadGoesOn = async () => {
    const before = load.sent.length;
    await until(() => load.sent.length > before + 10, "the load goes on");
  };
  const openTransactions = "select count(*)::int from pg_stat_activity where state like 'idle in%'";
  const expectStatuses = (answers: Answer[], mode: string) =>
    expect([...new Set(answers.map(({ status }) => status))].sort(), mode).toEqual([200, 422, 503]);
  await loadGoesOn();
  for (const mode of ["fast", "immediate", "kill"] as const) {
    const answeredBefore = load.answers.length;
    await cluster().stop(mode);
    await expectOutage(server, ada);
    await cluster().start();
    await expectRecovery(server, ada);
    await loadGoesOn();
    expectStatuses(load.answers.slice(answeredBefore), mode);
    expect(await fixture.connections(), mode).toBeLessThanOrEqual(10);
    await until(async () => (await fixture.query(openTransactions))[0]?.count === 0, `none stays open after ${mode}`);
  }
  await load.stop();
  expect(load.errors).toEqual([]);
  expectStatuses(load.answers, "all");
  expect(Math.max(...load.answers.map(({ milliseconds }) => milliseconds))).toBeLessThan(longestAnswer);
  await mails.when(() => load.sent.every((email) => mails.mails.some(({ to }) => to === email)));
  await until(async () => (await fixture.query(openTransactions))[0]?.count === 0, "no transaction stays open");
  expect(await server.stop()).toBe(0);
}, 240_000);

test("a scrape ends within three seconds while PostgreSQL does not answer", async () => {
  await using fixture = await createFixture();
  const port = await freePort();
  await fixture.server({ METRICS_PORT: String(port) });
  expect((await scrape(port)).get("latchkey_database_up")).toBe(1);
  cluster().freeze();
  try {
    for (let times = 0; times < 3; times++) {
      const start = performance.now();
      const series = await scrape(port);
      expect(performance.now() - start).toBeLessThan(3_000);
      expect(series.get("latchkey_database_up")).toBe(0);
      expect([...series.keys()].filter((name) => name.startsWith("latchkey_job"))).toEqual([]);
      expect(series.get('latchkey_mails_total{outcome="sent"}')).toBe(0);
    }
  } finally {
    cluster().thaw();
  }
  await until(async () => (await scrape(port)).get("latchkey_database_up") === 1, "the database is up again");
});

test("every request ends within six seconds while PostgreSQL does not answer", async () => {
  await using fixture = await createFixture();
  const { server, ada } = await open(fixture);
  cluster().freeze();
  try {
    await expectOutage(server, ada);
    await expectOutage(server, ada);
  } finally {
    cluster().thaw();
  }
  await expectRecovery(server, ada);
  await until(async () => (await fixture.connections()) <= 10, "the frozen connections are closed");
});

test("a service outlives a database that allows no connections", async () => {
  await using fixture = await createFixture();
  const { server, ada } = await open(fixture);
  const name = new URL(fixture.databaseUrl).pathname.slice(1);
  const allowConnections = (allowed: boolean) =>
    cluster().execute(`alter database ${name} allow_connections ${allowed}`);
  await allowConnections(false);
  await cluster().execute(`select pg_terminate_backend(pid) from pg_stat_activity where datname = '${name}'`);
  await expectOutage(server, ada);
  await allowConnections(true);
  await expectRecovery(server, ada);
});

test("after a backend crash the service answers again without a restart", async () => {
  await using fixture = await createFixture();
  const { server, ada } = await open(fixture);
  const [backend] = await fixture.query<{ pid: number }>(
    "select pid from pg_stat_activity where datname = current_database() and application_name <> 'test'",
  );
  process.kill(backend?.pid ?? 0, "SIGKILL");
  await expectRecovery(server, ada);
});

describe("a request whose statement waits too long for a lock", () => {
  let fixture: Fixture;
  let before: unknown[];
  let login: Answer;

  beforeAll(async () => {
    fixture = await createFixture();
    const { server } = await open(fixture);
    before = await fixture.query("select * from sessions");
    const lock = await fixture.transaction("lock table sessions in access exclusive mode");
    login = await new Visitor(server.url).logIn();
    await lock.query("rollback");
  });

  afterAll(() => fixture[Symbol.asyncDispose]());

  test("is answered 503 with a page", () => {
    expect(login).toMatchObject(unavailable);
    expect(login.milliseconds).toBeLessThan(longestAnswer);
  });

  test("changes nothing", async () => {
    expect(await fixture.query("select * from sessions")).toEqual(before);
  });
});
