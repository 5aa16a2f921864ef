import { once } from "node:events";
import net from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { isRefused } from "../support/connections";
import { createFixtures, type Fixture } from "../support/fixture";
import type { Answer } from "../support/http";
import { newPassword, twice } from "../support/passwords";
import { json } from "../support/scripted-provider";
import type { RunningServer } from "../support/server";
import { until } from "../support/until";
import { Visitor } from "../support/visitor";

const { createFixture } = createFixtures();

describe("SIGTERM more than once", () => {
  let fixture: Fixture;
  let mails: Awaited<ReturnType<Fixture["mailService"]>>;
  let server: RunningServer;
  let answer: Answer;
  let ended: { status: Awaited<RunningServer["ended"]>; milliseconds: number; connections: number };

  beforeAll(async () => {
    fixture = await createFixture();
    mails = await fixture.mailService({ kind: "no_answer" });
    server = await fixture.server(mails.settings);
    await fixture.addAccount("ada@example.com");
    await fixture.addAccount("bob@example.com");
    const token = await fixture.addResetToken("bob@example.com");

    await new Visitor(server.url).askForReset();
    await mails.when(() => mails.attempts() === 1);
    const lock = await fixture.transaction("select from users where email = 'bob@example.com' for update");
    const form = { email: "bob@example.com", token, ...twice(newPassword) };
    const reset = new Visitor(server.url).post("/reset-password", form, { Connection: "keep-alive" });
    await fixture.blocked();

    const start = performance.now();
    const end = server.stop();
    await until(() => isRefused(server.port), "new connections are refused");
    expect(server.process.exitCode).toBeNull();
    for (const signal of ["SIGTERM", "SIGINT"] as const) server.process.kill(signal);
    await lock.query("commit");
    mails.setBehaviour({ kind: "accept" });
    answer = await reset;
    const status = await end;
    ended = { status, milliseconds: performance.now() - start, connections: await fixture.connections() };
  });

  afterAll(() => fixture[Symbol.asyncDispose]());

  test("lets the request in flight finish", () => {
    expect(answer).toMatchObject({ status: 302, location: "/login?notice=password_reset" });
    expect(answer.headers.get("Connection")).toBe("close");
  });

  test("lets the job in flight finish", () => {
    expect(mails.mails).toMatchObject([{ to: "ada@example.com", subject: "Reset your password" }]);
  });

  test("ends the process with status 0 within ten seconds", () => {
    expect(ended).toEqual({ status: 0, milliseconds: expect.any(Number), connections: 0 });
    expect(ended.milliseconds).toBeLessThan(10_000);
  });

  test("logs no error", () => {
    expect(server.output()).not.toMatch(/error/i);
  });

  test("leaves the next job to the next start", async () => {
    const jobs = "select data, state::text from pgboss.job where data->>'email' is not null";
    expect(await fixture.query(jobs)).toEqual([
      {
        data: {
          task: "mail_password_changed",
          email: "bob@example.com",
          language: "en",
          questioned: { passkeys: [], provider: false },
        },
        state: "created",
      },
    ]);
    const next = await fixture.server(mails.settings);
    await mails.when(() => mails.mails.length === 2);
    expect(mails.mails[1]).toMatchObject({ to: "bob@example.com", subject: "Your password was changed" });
    expect(await new Visitor(next.url).logIn("bob@example.com", newPassword)).toMatchObject({ status: 302 });
  });
});

async function timedStop(server: RunningServer) {
  const start = performance.now();
  const status = await server.stop();
  return { status, milliseconds: performance.now() - start };
}

describe("SIGTERM while the mail service does not answer", () => {
  let fixture: Fixture;
  let ended: Awaited<ReturnType<typeof timedStop>>;

  beforeAll(async () => {
    fixture = await createFixture();
    const mails = await fixture.mailService({ kind: "no_answer" });
    const server = await fixture.server(mails.settings);
    await fixture.addAccount("ada@example.com");
    await new Visitor(server.url).askForReset();
    await mails.when(() => mails.attempts() === 1);
    ended = await timedStop(server);
  });

  afterAll(() => fixture[Symbol.asyncDispose]());

  test("ends the process with status 0 within ten seconds", () => {
    expect(ended.status).toBe(0);
    expect(ended.milliseconds).toBeLessThan(10_000);
  });

  test("queues the job for a retry", async () => {
    expect(await fixture.query("select state::text from pgboss.job where data->>'email' is not null")).toEqual([
      { state: "retry" },
    ]);
  });
});

/** A client whose form does not arrive whole. */
async function beginForm({ port, url }: RunningServer): Promise<void> {
  const socket = net.connect(port, "localhost").on("error", () => {});
  const { host, origin } = new URL(url);
  const form = "Content-Type: application/x-www-form-urlencoded\r\nContent-Length: 10\r\nExpect: 100-continue";
  socket.write(`POST /login HTTP/1.1\r\nHost: ${host}\r\nOrigin: ${origin}\r\n${form}\r\n\r\n`);
  await once(socket, "data"); // 100 Continue: the request has begun
}

async function stayIdle({ port }: RunningServer): Promise<void> {
  await once(
    net.connect(port, "localhost").on("error", () => {}),
    "connect",
  );
}

test.each([
  ["is idle", stayIdle],
  ["does not finish its request", beginForm],
])("SIGTERM while a client %s ends the process with status 0 within ten seconds", async (_what, connect) => {
  await using fixture = await createFixture();
  const server = await fixture.server();
  await connect(server);
  const { status, milliseconds } = await timedStop(server);
  expect(status).toBe(0);
  expect(milliseconds).toBeLessThan(10_000);
  expect(await fixture.connections()).toBe(0);
});

test("SIGTERM disconnects an idle client beside one that does not finish its request", async () => {
  await using fixture = await createFixture();
  const server = await fixture.server();
  const idle = net.connect(server.port, "localhost");
  await once(idle, "connect");
  const closed = once(idle, "close");
  await beginForm(server);
  await server.stop();
  await closed;
});

describe("SIGTERM while a provider takes too long", () => {
  let fixture: Fixture;
  let server: RunningServer;
  let ended: Awaited<ReturnType<typeof timedStop>>;

  beforeAll(async () => {
    fixture = await createFixture();
    const provider = await fixture.provider();
    server = await fixture.server({ ...provider.settings.google, IDP_PROVIDER: "github" });
    const late = 3_500; // ms, of the 5,000 of a call; GitHub gets three calls
    const asked = new Promise<void>((resolve) => {
      provider.answerWith({
        token: (response) => {
          resolve();
          setTimeout(() => json({ access_token: "a", token_type: "Bearer" })(response), late);
        },
        profile: (response) => {
          if (response.req.url === "/userinfo") setTimeout(() => json({ id: 1, login: "ada" })(response), late);
        },
      });
    });
    const signIn = new Visitor(server.url).signInExternally().catch(() => null);
    await asked;
    ended = await timedStop(server);
    await signIn;
  });

  afterAll(() => fixture[Symbol.asyncDispose]());

  test("ends the process with status 1 within ten seconds", () => {
    expect(ended.status).toBe(1);
    expect(ended.milliseconds).toBeLessThan(10_000);
  });

  test("is logged with its reason", () => {
    expect(server.output()).toContain(
      '"msg":"The service is ended: requests or jobs still run 9 seconds after the signal."',
    );
  });
});
