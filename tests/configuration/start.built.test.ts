import { execFile } from "node:child_process";
import { mkdtemp, readdir, rm, stat, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { expect, onTestFinished, test } from "vitest";
import type { Check } from "#server/commands/doctor/check";
import { latchkey } from "../support/command";
import { listen } from "../support/listen";
import { createEmptyDatabase, spawnServer, startServer } from "../support/server";

/** Starts the production build, which must exit with status 1; resolves with its whole output. */
async function failedStart(settings: Record<string, string>): Promise<string> {
  const server = await spawnServer(settings);
  expect(await server.ended).toBe(1);
  return server.output();
}

const execute = promisify(execFile);

const unusableDatabase = { DATABASE_URL: "pglite:/dev/null/never-opened" };

test("an invalid configuration is one message without a secret, and exit status 1", async () => {
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

test("the port and the settings are read from the .env of the folder, and the environment overrides them; a misspelt name is told", async () => {
  const folder = await mkdtemp(join(tmpdir(), "latchkey-start-"));
  const { port, stop } = await listen(createServer());
  onTestFinished(stop);
  await writeFile(join(folder, ".env"), `PORT=${port}\nDATABASE_URL=mysql://not-this-one\n`);
  const command = [resolve("server/serve.js"), resolve("build/index.js")];
  const env = { PATH: process.env.PATH, NODE_ENV: "production" as const, ...unusableDatabase };
  const failed = await execute(process.execPath, command, { cwd: folder, env }).catch((error) => error);
  expect(failed).toMatchObject({ code: 1, stdout: "", stderr: `Port ${port} cannot be used: EADDRINUSE.\n` });

  await writeFile(join(folder, ".env"), `PORT=${port}\nREGISTRATON=closed\nSMTP_HOST=mail.example.com\nTZ=UTC\n`);
  const warned = await execute(process.execPath, command, { cwd: folder, env }).catch((error) => error);
  const lines: { msg: string }[] = warned.stdout
    .trim()
    .split("\n")
    .map((line: string) => JSON.parse(line));
  const found = ["REGISTRATON is no setting; REGISTRATION is", "SMTP_HOST in .env is no setting"];
  expect(lines).toMatchObject(found.map((problem) => ({ level: 40, msg: `${problem}.` })));
  const { stdout } = await latchkey(["doctor", "--json"], unusableDatabase, folder);
  const checks: Check[] = JSON.parse(stdout);
  expect(checks.filter(({ name, status }) => name === "settings" && status === "warn")).toMatchObject(
    found.map((problem) => ({ found: problem })),
  );
  await rm(folder, { recursive: true });
});

test("the data folder is for one process at a time and its owner only, and outlives a kill", async () => {
  const { url, drop } = await createEmptyDatabase("embedded");
  onTestFinished(drop);
  const first = await startServer({ DATABASE_URL: url });
  expect(await failedStart({ DATABASE_URL: url })).toMatch(/^The data folder \S+ is in use by another process\.\n$/);
  expect((await fetch(`${first.url}/readyz`)).status).toBe(200);
  await first.kill();
  const next = await startServer({ DATABASE_URL: url });
  expect((await fetch(`${next.url}/readyz`)).status).toBe(200);
  expect(await next.stop()).toBe(0);

  const folder = url.slice("pglite:".length);
  const files = await readdir(folder, { recursive: true });
  const modes = await Promise.all(files.map(async (name) => [name, (await stat(join(folder, name))).mode & 0o077]));
  expect(files.length).toBeGreaterThan(100);
  expect(modes.filter(([, mode]) => mode !== 0)).toEqual([]);
});
