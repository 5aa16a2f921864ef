import { execFile } from "node:child_process";
import { mkdtemp, readdir, rm, stat, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Check } from "#server/commands/doctor/check";
import { failed, latchkey } from "../support/command";
import { listen } from "../support/listen";
import { type RunningServer, spawnServer, startServer } from "../support/server";

/** Starts the production build, which must exit with status 1; resolves with its whole output. */
async function failedStart(settings: Record<string, string>): Promise<string> {
  const server = await spawnServer(settings);
  expect(await server.ended).toBe(1);
  return server.output();
}

const execute = promisify(execFile);

const unusableDatabase = { DATABASE_URL: "pglite:/dev/null/never-opened" };

test("an invalid configuration ends the start with one message", async () => {
  const output = await failedStart({
    APP_URL: "latchkey.example",
    PROCESSES: "pigeon",
    IDP_CLIENT_ID: "the-client-id",
    DATABASE_URL: "mysql://root:a-secret-value@localhost/latchkey",
  });
  expect(output.split("\n")).toEqual([
    "The configuration is not usable:",
    "  - APP_URL must be an origin such as https://login.example.com: no path, query or credentials",
    "  - DATABASE_URL must be a postgresql:// URL, or pglite: and a folder",
    "  - PROCESSES must be auto, or a number from 1 to 99",
    "  - IDP_CLIENT_SECRET is missing: IDP_CLIENT_ID is set",
    "",
  ]);
});

describe("the .env of the folder", () => {
  const misspelt = "REGISTRATON=closed\nSMTP_HOST=mail.example.com\n";
  const found = ["REGISTRATON is not a setting; REGISTRATION is", "SMTP_HOST in .env is not a setting"];

  let folder: string;
  let used: Awaited<ReturnType<typeof listen>>;
  let start: { code: number; stdout: string; stderr: string };

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "latchkey-start-"));
    used = await listen(createServer());
    const lines = `PORT=${used.port}\nDATABASE_URL=mysql://not-this-one\nTZ=UTC\n${misspelt}`;
    await writeFile(join(folder, ".env"), lines);
    const command = [resolve("server/serve.js"), resolve("build/index.js")];
    const env = { PATH: process.env.PATH, NODE_ENV: "production" as const, ...unusableDatabase };
    start = await execute(process.execPath, command, { cwd: folder, env }).catch((error) => error);
  });

  afterAll(async () => {
    await used.stop();
    await rm(folder, { recursive: true });
  });

  test("has the port beside an environment that overrides it", () => {
    expect(start).toMatchObject({ code: 1, stderr: `Port ${used.port} cannot be used: EADDRINUSE.\n` });
  });

  test("has misspelt names that the start names", () => {
    const lines: { msg: string }[] = start.stdout
      .trim()
      .split("\n")
      .map((line: string) => JSON.parse(line));
    expect(lines).toMatchObject(found.map((problem) => ({ level: 40, msg: `${problem}.` })));
  });

  test("has misspelt names that `doctor` names", async () => {
    const { stdout } = await latchkey(["doctor", "--json"], unusableDatabase, folder);
    const checks: Check[] = JSON.parse(stdout);
    expect(checks.filter(({ name, status }) => name === "settings" && status === "warn")).toMatchObject(
      found.map((problem) => ({ found: problem })),
    );
  });
});

describe("the data folder", () => {
  let parent: string;
  let folder: string;
  let database: { DATABASE_URL: string };
  let first: RunningServer;

  beforeAll(async () => {
    parent = await mkdtemp(join(tmpdir(), "latchkey-data-"));
    folder = join(parent, "x".repeat(120));
    database = { DATABASE_URL: `pglite:${folder}` };
    first = await startServer(database);
  });

  afterAll(async () => {
    await first.kill();
    await rm(parent, { recursive: true });
  });

  test("may have a path that is too long for a socket: commands say that it is in use", async () => {
    expect(await latchkey(["user", "list"], database)).toEqual(
      failed(`The data folder ${folder} is in use by another process.\n`),
    );
  });

  test("is for one process at a time", async () => {
    expect(await failedStart(database)).toMatch(/^The data folder \S+ is in use by another process\.\n$/);
    expect((await fetch(`${first.url}/readyz`)).status).toBe(200);
  });

  test("is for its owner only", async () => {
    const files = await readdir(folder, { recursive: true });
    const modes = await Promise.all(files.map(async (name) => [name, (await stat(join(folder, name))).mode & 0o077]));
    expect(files.length).toBeGreaterThan(100);
    expect(modes.filter(([, mode]) => mode !== 0)).toEqual([]);
  });
});
