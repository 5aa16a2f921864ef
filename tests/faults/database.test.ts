import { expect, test } from "vitest";
import { signInExternally } from "../support/external-sign-in";
import type { Answer } from "../support/http";
import type { RunningServer } from "../support/server";
import { until } from "../support/until";
import { Visitor } from "../support/visitor";
import { forgetPassword, logIn, oldPassword, type Stage, stageFaults } from "./stage";

const { cluster, stage } = stageFaults();

const patience = 6_000; // ms that a request may take at most

/** What four visitors who never rest get, until they are told to stop. */
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
    const answer = await forgetPassword(server.url, email);
    if (answer.status === 200 && email !== "nobody@example.com") sent.push(email);
    return answer;
  };
  const all = [
    visit(ask),
    visit(ask),
    visit(() => logIn(server.url, `${crypto.randomUUID()}@example.com`, oldPassword)),
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
  expect(await visitor.post("/login", { email: "ada@example.com", password: oldPassword })).toMatchObject({
    status: 302,
  });
  return visitor;
}

const unavailable = { status: 503, contentType: "text/html; charset=utf-8" };

/** Everything that needs the database says so, as what was asked for, and what does not need it goes on. */
async function expectOutage(server: RunningServer, ada: Visitor): Promise<void> {
  const credentials = { email: "ada@example.com", password: oldPassword };
  const [page, sent, refused, login, reset, data, ready, alive, form] = await Promise.all([
    ada.get("/dashboard"),
    forgetPassword(server.url),
    new Visitor(server.url).post("/register", { email: "ada@example.com" }),
    new Visitor(server.url).post("/login", credentials),
    new Visitor(server.url).post("/reset-password", { ...credentials, token: "0".repeat(64) }),
    new Visitor(server.url).post("/forgot-password.data", { email: "ada@example.com" }),
    new Visitor(server.url).get("/readyz"),
    new Visitor(server.url).get("/healthz"),
    new Visitor(server.url).get("/forgot-password"),
  ]);
  for (const answer of [page, sent, refused, login, reset]) {
    expect(answer).toMatchObject(unavailable);
    expect(answer.body).toContain("<h1");
  }
  expect(data).toMatchObject({ status: 503, contentType: "text/x-script; charset=utf-8" });
  expect(ready).toMatchObject({ status: 503, body: "not ready\n" });
  expect(alive).toMatchObject({ status: 200, body: "ok\n" });
  expect(form).toMatchObject({ status: 200 });
  for (const { milliseconds } of [page, sent, refused, login, reset, data, ready]) {
    expect(milliseconds).toBeLessThan(patience);
  }
  const callback = await signInExternally(new Visitor(server.url));
  expect(callback).toMatchObject({ status: 302, location: "/login?notice=idp_failed" });
  expect(callback.milliseconds).toBeLessThan(patience);
}

async function expectRecovery(server: RunningServer, ada: Visitor): Promise<void> {
  const ready = async () => (await new Visitor(server.url).get("/readyz")).status === 200;
  await until(ready, "ready again");
  expect(await ada.get("/dashboard")).toMatchObject({ status: 200 });
  expect(await signInExternally(new Visitor(server.url))).toMatchObject({ status: 302, location: "/dashboard" });
  expect(server.process.exitCode).toBeNull();
}

async function open(scene: Stage) {
  const mails = await scene.mailService();
  const provider = await scene.provider();
  const server = await scene.server({ ...mails.settings, ...provider.settings.google });
  await scene.addAccount("ada@example.com");
  return { mails, server, ada: await signedIn(server) };
}

for (const mode of ["fast", "immediate", "kill"] as const) {
  test(`PostgreSQL stopped (${mode}) and started under load: 503, then on without a restart and with no mail lost`, async () => {
    await using scene = await stage();
    const { mails, server, ada } = await open(scene);
    const emails = Array.from({ length: 500 }, (_, n) => `user${n}@example.com`);
    for (const email of emails) await scene.addAccount(email);

    const load = startLoad(server, emails);
    await until(() => load.sent.length > 10, "the load is under way");
    await cluster().stop(mode);
    await expectOutage(server, ada);
    await cluster().start();
    await expectRecovery(server, ada);
    const before = load.sent.length;
    await until(() => load.sent.length > before + 10, "the load goes on");
    await load.stop();

    expect(load.errors).toEqual([]);
    expect([...new Set(load.answers.map(({ status }) => status))].sort()).toEqual([200, 422, 503]);
    expect(Math.max(...load.answers.map(({ milliseconds }) => milliseconds))).toBeLessThan(patience);
    await mails.when(() => load.sent.every((email) => mails.mails.some(({ to }) => to === email)));
    expect(await scene.connections()).toBeLessThanOrEqual(10);
    const idle = "select count(*)::int from pg_stat_activity where state like 'idle in%'";
    await until(async () => (await scene.query(idle))[0]?.count === 0, "no transaction stays open");
    expect(await server.stop()).toBe(0);
  }, 240_000);
}

test("a PostgreSQL that stops answering holds no request for longer than six seconds", async () => {
  await using scene = await stage();
  const { server, ada } = await open(scene);
  cluster().freeze();
  try {
    await expectOutage(server, ada);
    await expectOutage(server, ada);
  } finally {
    cluster().thaw();
  }
  await expectRecovery(server, ada);
  await until(async () => (await scene.connections()) <= 10, "the frozen connections are given up");
});

test("a backend that crashes takes every connection with it, and the service goes on", async () => {
  await using scene = await stage();
  const { server, ada } = await open(scene);
  const [backend] = await scene.query<{ pid: number }>(
    "select pid from pg_stat_activity where datname = current_database() and application_name <> 'test'",
  );
  process.kill(backend?.pid ?? 0, "SIGKILL");
  await expectRecovery(server, ada);
});

test("a statement that waits too long for a lock gives up with a 503 page and changes nothing", async () => {
  await using scene = await stage();
  const { server } = await open(scene);
  const before = await scene.query("select * from sessions");
  const lock = await scene.transaction("lock table sessions in access exclusive mode");
  const login = await logIn(server.url, "ada@example.com", oldPassword);
  expect(login).toMatchObject(unavailable);
  expect(login.milliseconds).toBeLessThan(patience);
  await lock.query("rollback");
  expect(await scene.query("select * from sessions")).toEqual(before);
});
