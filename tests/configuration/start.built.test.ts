import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Check } from "#server/commands/doctor/check";
import { latchkey } from "../support/command";
import { listen } from "../support/listen";
import { failedStart } from "../support/server";

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
  const misspelt =
    'NODE_NOTE="two\nlines"\na note of mine\nREGISTRATON=closed\nSMTP_HOST=mail.example.com\nPASSWORDS off';
  const found = [
    "Line 6 of .env has no =: it and the setting after it are ignored",
    "Line 9 of .env has no =: it and the setting after it are ignored",
    "SMTP_HOST in .env is not a setting",
    "REGISTRATON is not a setting; REGISTRATION is",
  ];

  let folder: string;
  let used: Awaited<ReturnType<typeof listen>>;
  let start: { code: number; stdout: string; stderr: string };
  let checks: Check[];

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "latchkey-start-"));
    used = await listen(createServer());
    const lines = `PORT=${used.port}\nDATABASE_URL=mysql://not-this-one\nTZ=UTC\n${misspelt}`;
    await writeFile(join(folder, ".env"), lines);
    const command = [resolve("server/serve.js"), resolve("build/index.js")];
    const env = { PATH: process.env.PATH, NODE_ENV: "production" as const, ...unusableDatabase };
    start = await execute(process.execPath, command, { cwd: folder, env }).catch((error) => error);
    checks = JSON.parse((await latchkey(["doctor", "--json"], unusableDatabase, folder)).stdout);
  });

  afterAll(async () => {
    await used.stop();
    await rm(folder, { recursive: true });
  });

  test("has the port beside an environment that overrides it", () => {
    expect(start).toMatchObject({ code: 1, stderr: `Port ${used.port} cannot be used: EADDRINUSE.\n` });
  });

  test("has mistakes that the start names", () => {
    const lines: { msg: string }[] = start.stdout
      .trim()
      .split("\n")
      .map((line: string) => JSON.parse(line));
    expect(lines).toMatchObject(found.map((problem) => ({ level: 40, msg: `${problem}.` })));
  });

  test("has mistakes that `doctor` names", () => {
    expect(checks.filter(({ name, status }) => name === "settings" && status === "warn")).toMatchObject(
      found.map((problem) => ({ found: problem })),
    );
  });

  test("has the port that `doctor` reads", () => {
    expect(checks.find(({ name }) => name === "APP_URL")?.found).toContain(`http://localhost:${used.port} `);
  });
});
