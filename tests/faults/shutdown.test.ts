import net from "node:net";
import { expect, test } from "vitest";
import { until } from "../support/until";
import { forgetPassword, logIn, newPassword, resetPassword, stageFaults } from "./stage";

const { stage } = stageFaults();

function isRefused(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = net.connect(port, "localhost");
    socket.once("connect", () => resolve(false)).once("error", () => resolve(true));
    socket.once("connect", () => socket.destroy());
  });
}

test("SIGTERM: the request and the job in flight finish, new connections are refused, exit 0 within ten seconds", async () => {
  await using scene = await stage();
  const mails = await scene.mailService({ kind: "silence" });
  const server = await scene.server(mails.settings);
  await scene.addAccount("ada@example.com");
  await scene.addAccount("bob@example.com");
  const token = await scene.addResetToken("bob@example.com");

  await forgetPassword(server.url);
  await mails.when(() => mails.attempts() === 1);
  const lock = await scene.transaction("select from users where email = 'bob@example.com' for update");
  const reset = resetPassword(server.url, "bob@example.com", token);
  await scene.blocked();

  const start = performance.now();
  const ended = server.stop();
  await until(() => isRefused(server.port), "new connections are refused");
  expect(server.process.exitCode).toBeNull();
  await lock.query("commit");
  mails.behave({ kind: "accept" });

  expect(await reset).toMatchObject({ status: 302, location: "/login?notice=password_reset" });
  expect(await ended).toBe(0);
  expect(performance.now() - start).toBeLessThan(10_000);
  expect(mails.mails).toMatchObject([{ to: "ada@example.com", subject: "Reset your password" }]);
  const jobs = "select data, state::text from pgboss.job where data->>'email' is not null";
  expect(await scene.query(jobs)).toEqual([
    { data: { task: "mail_password_changed", email: "bob@example.com" }, state: "created" },
  ]);
  expect(await scene.connections()).toBe(0);

  const next = await scene.server(mails.settings);
  await mails.when(() => mails.mails.length === 2);
  expect(mails.mails[1]).toMatchObject({ to: "bob@example.com", subject: "Your password was changed" });
  expect(await logIn(next.url, "bob@example.com", newPassword)).toMatchObject({ status: 302 });
});

test("SIGTERM while the mail service is silent: the job is put back, exit 0 within ten seconds", async () => {
  await using scene = await stage();
  const mails = await scene.mailService({ kind: "silence" });
  const server = await scene.server(mails.settings);
  await scene.addAccount("ada@example.com");
  await forgetPassword(server.url);
  await mails.when(() => mails.attempts() === 1);

  const start = performance.now();
  expect(await server.stop()).toBe(0);
  expect(performance.now() - start).toBeLessThan(10_000);
  expect(await scene.query("select state::text from pgboss.job where data->>'email' is not null")).toEqual([
    { state: "retry" },
  ]);
});

test("an idle connection does not keep the process from ending", async () => {
  await using scene = await stage();
  const server = await scene.server();
  const socket = net.connect(server.port, "localhost");
  await new Promise((resolve) => socket.once("connect", resolve));
  const closed = new Promise((resolve) => socket.once("close", resolve));
  expect(await server.stop()).toBe(0);
  await closed;
});
