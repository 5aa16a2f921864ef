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

async function startWithoutLog() {
  const PORT = String(await freePort());
  const { stop } = await startOnFullDisk(["server/serve.js"], { PORT }, ["stdout", "stderr"]);
  const ask = (path: string) =>
    fetch(`http://localhost:${PORT}${path}`).then(
      ({ status }) => status,
      () => 0,
    );
  await until(async () => (await ask("/readyz")) === 200, "the service answers");
  return { ask, stop };
}

test("the service whose log cannot be written answers", async () => {
  const { ask } = await startWithoutLog();
  for (let count = 0; count < 20; count++) expect(await ask("/login")).toBe(200);
});

test("the service whose log cannot be written ends with status 0", async () => {
  const { ask, stop } = await startWithoutLog();
  for (let count = 0; count < 20; count++) await ask("/login");
  expect(await stop()).toBe(0);
});

const createAda = () => command(["user", "create", "ada@example.com"], "stderr");

async function importBob() {
  const file = join(tmpdir(), `latchkey-${process.pid}.jsonl`);
  onTestFinished(() => rm(file));
  await writeFile(file, '{"email":"bob@example.com"}\n');
  return command(["user", "import", file], "stderr");
}

async function deleteAda() {
  await createAda();
  return command(["user", "delete", "ada@example.com", "--yes"], "stderr");
}

test.each([
  ["create", createAda, /^https?:.*token=[0-9a-f]{64}$/m],
  ["import", importBob, /./],
  ["delete", deleteAda, /./],
])("`user %s` whose log cannot be written does its work", async (_name, work, printed) => {
  expect(await work()).toEqual({ status: 0, printed: expect.stringMatching(printed) });
});

test("a command whose result cannot be written says that it may have done its work", async () => {
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
  const terminal = watchProcess(child);
  onTestFinished(terminal.kill);
  return terminal;
}

async function createTerminal() {
  const { url: DATABASE_URL, drop } = await createEmptyDatabase("embedded");
  onTestFinished(drop);
  const settings = { DATABASE_URL, PORT: String(await freePort()), REGISTRATON: "open" };
  const runCommand = async (words: string) => {
    const terminal = onTerminal(`server/cli.js ${words}`, settings);
    expect(await terminal.ended).toBe(0);
    return terminal.output().split("\r\n");
  };
  const start = async () => {
    const terminal = onTerminal("server/serve.js", settings);
    await terminal.waitFor(/^Open http.*\r\n/m);
    const end = async () => {
      terminal.process.stdin?.write("\x03"); // Ctrl-C
      expect(await terminal.ended).toBe(0);
    };
    return { ...terminal, end };
  };
  return { origin: `http://localhost:${settings.PORT}`, runCommand, start };
}

test("at a terminal a command's answer stands alone", async () => {
  const { runCommand } = await createTerminal();
  expect(await runCommand("database migrate")).toEqual(["The database is up to date.", ""]);
  const [, ...others] = await runCommand("user create ada@example.com");
  expect(others).toEqual([expect.stringMatching(/^http:.*token=[0-9a-f]{64}$/), ""]);
  expect(await runCommand("user groups ada@example.com --add staff")).toEqual(["staff", ""]);
});

test("at a terminal the first start stands alone", async () => {
  const { origin, start } = await createTerminal();
  const { output, end } = await start();
  expect(output().split("\r\n")).toEqual([
    "REGISTRATON is not a setting; REGISTRATION is.",
    expect.stringMatching(/^\[remix-serve\] http/),
    "Mails and their links appear here.",
    `Open ${origin}/register`,
    "",
  ]);
  await end();
});

test("the service logs what a command at a terminal did before", async () => {
  const { runCommand, start } = await createTerminal();
  await runCommand("database migrate");
  const [id = ""] = await runCommand("user create ada@example.com");
  await runCommand("user groups ada@example.com --add staff");
  const { waitFor, end } = await start();
  const [line] = await waitFor(/^\{.*"user.groups_changed".*\}(?=\r$)/m);
  expect(JSON.parse(line)).toMatchObject({
    event: "user.groups_changed",
    userId: id.replace("User id: ", ""),
    actor: "cli",
    at: expect.any(String),
  });
  await end();
});
