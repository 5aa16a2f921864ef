import { execFile } from "node:child_process";
import { mkdir, mkdtemp, readdir, realpath, rm, stat, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import net, { type AddressInfo, type Server } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { promisify } from "node:util";
import { describe, expect, onTestFinished, test } from "vitest";
import type { Check } from "#server/commands/doctor/check";
import { loadConfig } from "#server/config";
import { welcome } from "#server/start";
import { createEmptyDatabase, freePort, spawnServer, startServer } from "../support/server";

/** An embedded database that does not exist yet, until the end of the test. */
async function embeddedDatabase(): Promise<{ url: string; folder: string }> {
  const { url, drop } = await createEmptyDatabase("embedded");
  onTestFinished(drop);
  return { url, folder: url.slice("pglite:".length) };
}

/** Starts the production build, which must exit with status 1; resolves with its whole output. */
async function failedStart(settings: Record<string, string>): Promise<string> {
  const server = await spawnServer(settings);
  expect(await server.ended).toBe(1);
  return server.output();
}

/** PostgreSQL's ErrorResponse: https://www.postgresql.org/docs/current/protocol-message-formats.html */
function errorResponse(code: string, message: string): Buffer {
  const fields = Buffer.from(`SFATAL\0VFATAL\0C${code}\0M${message}\0\0`);
  const head = Buffer.from("E....");
  head.writeInt32BE(fields.length + 4, 1);
  return Buffer.concat([head, fields]);
}

async function occupy(server: Server, host?: string): Promise<number> {
  onTestFinished(() => void server.close());
  await new Promise<void>((resolve) => server.listen(0, host, resolve));
  return (server.address() as AddressInfo).port;
}

const execute = promisify(execFile);

const unusableDatabase = { DATABASE_URL: "pglite:/dev/null/never-opened" };

test.each([
  [
    "the client id without its secret",
    { IDP_CLIENT_ID: "the-client-id" },
    ["IDP_CLIENT_SECRET is missing: IDP_CLIENT_ID is set"],
  ],
  [
    "several malformed settings",
    { APP_URL: "latchkey.example", TRUST_PROXY: "yes", MAIL_DRIVER: "pigeon", IDP_PROVIDER: "mail" },
    [
      "APP_URL must be an origin such as https://login.example.com: no path, query or credentials",
      "TRUST_PROXY must be true, false or the number of proxies, at most 9, or their addresses and networks without host bits, e.g. 127.0.0.1, 10.0.0.0/8",
      "MAIL_DRIVER must be log, smtp, resend or postmark",
      "IDP_PROVIDER must be google, github, gitlab, discord or oidc",
    ],
  ],
  [
    "a database URL with an unknown scheme",
    { DATABASE_URL: "mysql://root:a-secret-value@localhost/latchkey" },
    ["DATABASE_URL must be a postgresql:// URL, or pglite: and a folder"],
  ],
] as [string, Record<string, string>, string[]][])(
  "an invalid configuration: one message and exit status 1: %s",
  async (_what, settings, problems) => {
    const output = await failedStart({ ...unusableDatabase, ...settings });
    expect(output).toBe(`The configuration is not usable:\n${problems.map((line) => `  - ${line}\n`).join("")}`);
    expect(output).not.toContain("a-secret-value");
  },
);

test("the port and the settings are read from the .env of the folder, and the environment overrides them; a misspelt name is told", async () => {
  const folder = await mkdtemp(join(tmpdir(), "latchkey-start-"));
  const port = await occupy(createServer());
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
  const doctor = await execute(process.execPath, [resolve("server/cli.js"), "doctor", "--json"], {
    cwd: folder,
    env,
  }).catch((error) => error);
  const checks: Check[] = JSON.parse(doctor.stdout);
  expect(checks.filter(({ name, status }) => name === "settings" && status === "warn")).toMatchObject(
    found.map((problem) => ({ found: problem })),
  );
  await rm(folder, { recursive: true });
});

describe("a failed start: one line and exit status 1", () => {
  const startAt = (host: string) =>
    failedStart({ DATABASE_URL: `postgresql://latchkey:a-secret-value@${host}/latchkey` });
  const unusable = (host: string) => `The database at ${host}/latchkey cannot be used: `;

  test("a PostgreSQL that cannot be reached, without its password", async () => {
    const host = `127.0.0.1:${await freePort()}`;
    expect(await startAt(host)).toBe(`${unusable(host)}connect ECONNREFUSED ${host}.\n`);
  });

  test("a PostgreSQL whose host name does not resolve", async () => {
    const output = await startAt("nowhere.invalid");
    expect(output.replace("EAI_AGAIN", "ENOTFOUND")).toBe(
      `${unusable("nowhere.invalid")}getaddrinfo ENOTFOUND nowhere.invalid.\n`,
    );
  });

  test("a server that is not PostgreSQL", async () => {
    const output = await startAt(`127.0.0.1:${await occupy(createServer(), "127.0.0.1")}`);
    expect(output).toMatch(/^The database at 127\.0\.0\.1:\d+\/latchkey cannot be used: .+\.\n$/);
    expect(output).not.toContain("a-secret-value");
  });

  test.each([
    ["28P01", 'password authentication failed for user "latchkey"'],
    ["3D000", 'database "latchkey" does not exist'],
    ["53300", "sorry, too many clients already"],
  ])("a PostgreSQL that answers %s, without the password", async (code, message) => {
    const refusing = net.createServer((socket) => socket.once("data", () => socket.end(errorResponse(code, message))));
    const host = `127.0.0.1:${await occupy(refusing, "127.0.0.1")}`;
    expect(await startAt(host)).toBe(`${unusable(host)}${message}.\n`);
  });

  const impossible = ["/dev/null/data", "/dev/null"];
  test.each(impossible)("the data folder %s, which cannot be created", async (folder) => {
    const output = await failedStart({ DATABASE_URL: `pglite:${folder}` });
    expect(output).toMatch(new RegExp(`^The data folder ${folder} cannot be written: [A-Z]+\\.\\n$`));
  });

  test.each([
    ["is not a folder", "", "errno 54"], // ENOTDIR of WASI
    ["is incomplete", "PG_VERSION", "PGlite failed to initialize properly"],
  ])("a data folder whose database %s", async (_what, file, reason) => {
    const { url, folder } = await embeddedDatabase();
    const path = join(folder, "pglite", file);
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, "99\n");
    const causes = "it is damaged, unreadable or of another version, or the disk is full";
    expect(await failedStart({ DATABASE_URL: url })).toBe(
      `The database in ${await realpath(folder)} cannot be opened (${reason}): ${causes}.\n`,
    );
  });

  test("an address of HOST that is not this machine's", async () => {
    const settings = { ...unusableDatabase, PORT: String(await freePort()), HOST: "192.0.2.1" };
    expect(await failedStart(settings)).toBe(
      `Port ${settings.PORT} on HOST 192.0.2.1 cannot be used: EADDRNOTAVAIL.\n`,
    );
  });

  test.each([undefined, "127.0.0.1"])("a port in use, on the address %s", async (host) => {
    const port = await occupy(createServer(), host);
    expect(await failedStart({ ...unusableDatabase, PORT: String(port) })).toBe(
      `Port ${port} cannot be used: EADDRINUSE.\n`,
    );
  });

  test("a data folder that another process has open; that process stays ready", async () => {
    const { url } = await embeddedDatabase();
    const first = await startServer({ DATABASE_URL: url });
    const output = await failedStart({ DATABASE_URL: url });
    expect(output).toMatch(/^The data folder \S+ is in use by another process\.\n$/);
    expect((await fetch(`${first.url}/readyz`)).status).toBe(200);
    expect(await first.stop()).toBe(0);
  });
});

test.each([
  [
    {},
    [
      "Latchkey is at http://localhost:3000",
      "Create an account: http://localhost:3000/register",
      "Mails and their links appear here.",
    ],
  ],
  [
    {
      APP_URL: "https://id.example",
      REGISTRATION: "closed",
      MAIL_DRIVER: "smtp",
      MAIL_FROM: "a@id.example",
      SMTP_URL: "smtps://u:p@id.example",
    },
    ["Latchkey is at https://id.example", "Log in: https://id.example/login", "Mails are sent by smtp."],
  ],
] as [Record<string, string>, string[]][])("the lines for a person at a terminal, with %j", (settings, lines) => {
  expect(welcome(loadConfig(settings))).toBe(`${lines.join("\n")}\n`);
});

test("the files of the embedded database are accessible to their owner only", async () => {
  const { url, folder } = await embeddedDatabase();
  const server = await startServer({ DATABASE_URL: url });
  expect(await server.stop()).toBe(0);
  const files = await readdir(folder, { recursive: true });
  const modes = await Promise.all(files.map(async (name) => [name, (await stat(join(folder, name))).mode & 0o077]));
  expect(files.length).toBeGreaterThan(100);
  expect(modes.filter(([, mode]) => mode !== 0)).toEqual([]);
});

test("a data folder whose process was killed can be opened by the next process", async () => {
  const { url } = await embeddedDatabase();
  const killed = await startServer({ DATABASE_URL: url });
  await killed.kill();
  const next = await startServer({ DATABASE_URL: url });
  expect((await fetch(`${next.url}/readyz`)).status).toBe(200);
  expect(await next.stop()).toBe(0);
});
