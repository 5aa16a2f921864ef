import { spawn } from "node:child_process";
import { open, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, onTestFinished, test } from "vitest";
import { createEmptyDatabase, freePort, watchProcess } from "../support/server";
import { until } from "../support/until";

const database = await createEmptyDatabase("embedded");

afterAll(() => database.drop());

async function startOnFullDisk(words: string[], settings: Record<string, string>, outputs: ("stdout" | "stderr")[]) {
  const full = await open("/dev/full", "w");
  const child = spawn(process.execPath, words, {
    env: { PATH: process.env.PATH, NODE_ENV: "production", DATABASE_URL: database.url, ...settings },
    stdio: ["ignore", ...(["stdout", "stderr"] as const).map((name) => (outputs.includes(name) ? full.fd : "pipe"))],
  });
  const running = watchProcess(child);
  onTestFinished(async () => {
    await running.kill();
    await full.close();
  });
  return running;
}

async function command(words: string[], ...outputs: ("stdout" | "stderr")[]) {
  const { ended, output } = await startOnFullDisk(["server/cli.js", ...words], {}, outputs);
  return { status: await ended, printed: output() };
}

test("the service whose log cannot be written answers, and ends with status 0", async () => {
  const PORT = String(await freePort());
  const { stop } = await startOnFullDisk(["server/serve.js"], { PORT }, ["stdout", "stderr"]);
  const ask = (path: string) =>
    fetch(`http://localhost:${PORT}${path}`).then(
      ({ status }) => status,
      () => 0,
    );
  await until(async () => (await ask("/readyz")) === 200, "the service answers");
  for (let count = 0; count < 20; count++) expect(await ask("/login")).toBe(200);
  expect(await stop()).toBe(0);
});

test("a command whose log cannot be written does its work, and ends", async () => {
  const created = await command(["user", "create", "ada@example.com"], "stderr");
  expect(created).toEqual({ status: 0, printed: expect.stringMatching(/^https?:.*token=[0-9a-f]{64}$/m) });
  const file = join(tmpdir(), `latchkey-${process.pid}.jsonl`);
  onTestFinished(() => rm(file));
  await writeFile(file, '{"email":"bob@example.com"}\n');
  expect(await command(["user", "import", file], "stderr")).toMatchObject({ status: 0 });
  expect(await command(["user", "delete", "ada@example.com", "--yes"], "stderr")).toMatchObject({ status: 0 });
});

test("a command whose result cannot be written says that it may have done its work, with status 1", async () => {
  expect(await command(["user", "create", "eve@example.com"], "stdout")).toEqual({
    status: 1,
    printed: expect.stringMatching(
      /^Standard output cannot be written: ENOSPC\. The command may have done its work\.$/m,
    ),
  });
});

/** Runs a program of Node on a terminal. */
function onTerminal(program: string, settings: Record<string, string>) {
  const command = `exec ${process.execPath} ${program}`;
  const child = spawn("script", ["--quiet", "--return", "--command", command, "/dev/null"], {
    env: { PATH: process.env.PATH, NODE_ENV: "production", ...settings },
    stdio: ["pipe", "pipe", "inherit"],
  });
  return watchProcess(child);
}

test("at a terminal a command's answer and the first start stand alone; the service logs what the command did", async () => {
  const { url: DATABASE_URL, drop } = await createEmptyDatabase("embedded");
  onTestFinished(drop);
  const settings = { DATABASE_URL, PORT: String(await freePort()), REGISTRATON: "open" };
  const command = async (words: string) => {
    const terminal = onTerminal(`server/cli.js ${words}`, settings);
    expect(await terminal.ended).toBe(0);
    return terminal.output().split("\r\n");
  };
  expect(await command("database migrate")).toEqual(["The database is up to date.", ""]);
  const [id = "", ...others] = await command("user create ada@example.com");
  expect(others).toEqual([expect.stringMatching(/^http:.*token=[0-9a-f]{64}$/), ""]);
  expect(await command("user groups ada@example.com --add staff")).toEqual(["staff", ""]);

  const terminal = onTerminal("server/serve.js", settings);
  await terminal.waitFor(/appear here\.\r\n/);
  const origin = `http://localhost:${settings.PORT}`;
  expect(terminal.output().split("\r\n")).toEqual([
    "REGISTRATON is no setting; REGISTRATION is.",
    expect.stringMatching(/^\[remix-serve\] http/),
    `Latchkey is at ${origin}`,
    `Create an account: ${origin}/register`,
    "Mails and their links appear here.",
    "",
  ]);
  const [line] = await terminal.waitFor(/^\{.*"user.groups_changed".*\}(?=\r$)/m);
  expect(JSON.parse(line)).toMatchObject({
    event: "user.groups_changed",
    userId: id.replace("User id: ", ""),
    actor: "cli",
    at: expect.any(String),
  });
  terminal.process.stdin?.write("\x03"); // Ctrl-C
  expect(await terminal.ended).toBe(0);
});
