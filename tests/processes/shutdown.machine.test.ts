import { once } from "node:events";
import net from "node:net";
import { expect, test } from "vitest";
import { isRefused } from "../support/connections";
import { createFixtures } from "../support/fixture";
import { newPassword, twice } from "../support/passwords";
import { json } from "../support/scripted-provider";
import { until } from "../support/until";
import { Visitor } from "../support/visitor";

const { createFixture } = createFixtures();

test("SIGTERM, more than once: the request and the job in flight finish, new connections are refused, exit 0 within ten seconds", async () => {
  await using fixture = await createFixture();
  const mails = await fixture.mailService({ kind: "no_answer" });
  const server = await fixture.server(mails.settings);
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
  const ended = server.stop();
  await until(() => isRefused(server.port), "new connections are refused");
  expect(server.process.exitCode).toBeNull();
  for (const signal of ["SIGTERM", "SIGINT"] as const) server.process.kill(signal);
  await lock.query("commit");
  mails.setBehaviour({ kind: "accept" });

  const answer = await reset;
  expect(answer).toMatchObject({ status: 302, location: "/login?notice=password_reset" });
  expect(answer.headers.get("Connection")).toBe("close");
  expect(await ended).toBe(0);
  expect(performance.now() - start).toBeLessThan(10_000);
  expect(server.output()).not.toMatch(/error/i);
  expect(mails.mails).toMatchObject([{ to: "ada@example.com", subject: "Reset your password" }]);
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
  expect(await fixture.connections()).toBe(0);

  const next = await fixture.server(mails.settings);
  await mails.when(() => mails.mails.length === 2);
  expect(mails.mails[1]).toMatchObject({ to: "bob@example.com", subject: "Your password was changed" });
  expect(await new Visitor(next.url).logIn("bob@example.com", newPassword)).toMatchObject({ status: 302 });
});

test("SIGTERM while the mail service does not answer: the job is queued for a retry, exit 0 within ten seconds", async () => {
  await using fixture = await createFixture();
  const mails = await fixture.mailService({ kind: "no_answer" });
  const server = await fixture.server(mails.settings);
  await fixture.addAccount("ada@example.com");
  await new Visitor(server.url).askForReset();
  await mails.when(() => mails.attempts() === 1);

  const start = performance.now();
  expect(await server.stop()).toBe(0);
  expect(performance.now() - start).toBeLessThan(10_000);
  expect(await fixture.query("select state::text from pgboss.job where data->>'email' is not null")).toEqual([
    { state: "retry" },
  ]);
});

test("SIGTERM while a client is idle and another does not finish its request: both are disconnected, exit 0 within ten seconds", async () => {
  await using fixture = await createFixture();
  const server = await fixture.server();
  const idle = net.connect(server.port, "localhost");
  await once(idle, "connect");
  const closed = once(idle, "close");
  const socket = net.connect(server.port, "localhost").on("error", () => {});
  const { host, origin } = new URL(server.url);
  const form = "Content-Type: application/x-www-form-urlencoded\r\nContent-Length: 10\r\nExpect: 100-continue";
  socket.write(`POST /login HTTP/1.1\r\nHost: ${host}\r\nOrigin: ${origin}\r\n${form}\r\n\r\n`);
  await once(socket, "data"); // 100 Continue: the request has begun

  const start = performance.now();
  expect(await server.stop()).toBe(0);
  expect(performance.now() - start).toBeLessThan(10_000);
  await closed;
  expect(await fixture.connections()).toBe(0);
});

test("SIGTERM while a provider takes too long: the process says so and ends with status 1 within ten seconds", async () => {
  await using fixture = await createFixture();
  const provider = await fixture.provider();
  const server = await fixture.server({ ...provider.settings.google, IDP_PROVIDER: "github" });
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
  const start = performance.now();
  expect(await server.stop()).toBe(1);
  expect(performance.now() - start).toBeLessThan(10_000);
  expect(server.output()).toContain(
    '"msg":"The service is ended: requests or jobs still run 9 seconds after the signal."',
  );
  await signIn;
});
