import { mkdir, realpath, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import net, { type AddressInfo, type Server } from "node:net";
import { dirname, join } from "node:path";
import { Registry } from "prom-client";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { loadConfig } from "#server/config";
import { openDatabase } from "#server/database/orm";
import { openMetricsServer } from "#server/door/metrics-server";
import { assertPortIsFree } from "#server/door/ports";
import { StartError } from "#server/errors";
import { welcome } from "#server/start";
import { google } from "../support/google-sign-in";
import { createEmptyDatabase, freePort } from "../support/server";
import { createFolder } from "../support/template-copy";

/** An embedded database that does not exist yet, until the end of the test. */
async function embeddedDatabase(): Promise<{ url: string; folder: string }> {
  const { url, drop } = await createEmptyDatabase("embedded");
  onTestFinished(drop);
  return { url, folder: url.slice("pglite:".length) };
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

/** The message of the StartError with which `start` rejects. */
async function failure(start: Promise<unknown>): Promise<string> {
  const error = await start.catch((reason: Error) => reason);
  expect(error).toBeInstanceOf(StartError);
  return (error as StartError).message;
}

describe("what stops a start, in one line", () => {
  const startAt = (host: string) => failure(openDatabase(`postgresql://latchkey:a-secret-value@${host}/latchkey`));
  const unusable = (host: string) => `The database at ${host}/latchkey cannot be used: `;

  test("a PostgreSQL that cannot be reached", async () => {
    const host = `127.0.0.1:${await freePort()}`;
    expect(await startAt(host)).toBe(`${unusable(host)}connect ECONNREFUSED ${host}.`);
  });

  test("a PostgreSQL whose host name does not resolve", async () => {
    const output = await startAt("nowhere.invalid");
    expect(output.replace("EAI_AGAIN", "ENOTFOUND")).toBe(
      `${unusable("nowhere.invalid")}getaddrinfo ENOTFOUND nowhere.invalid.`,
    );
  });

  test("a server that is not PostgreSQL", async () => {
    const output = await startAt(`127.0.0.1:${await occupy(createServer(), "127.0.0.1")}`);
    expect(output).toMatch(/^The database at 127\.0\.0\.1:\d+\/latchkey cannot be used: .+\.$/);
    expect(output).not.toContain("a-secret-value");
  });

  test.each([
    ["28P01", 'password authentication failed for user "latchkey"'],
    ["3D000", 'database "latchkey" does not exist'],
    ["53300", "sorry, too many clients already"],
  ])("a PostgreSQL that answers %s", async (code, message) => {
    const refusing = net.createServer((socket) => socket.once("data", () => socket.end(errorResponse(code, message))));
    const host = `127.0.0.1:${await occupy(refusing, "127.0.0.1")}`;
    expect(await startAt(host)).toBe(`${unusable(host)}${message}.`);
  });

  test("a folder for temporary files that is not there", async () => {
    const { url, drop } = await createFolder();
    onTestFinished(drop);
    vi.stubEnv("TMPDIR", "/dev/null");
    expect(await failure(openDatabase(url))).toBe("The folder /dev/null (TMPDIR) cannot be written: ENOTDIR.");
  });

  const impossible = ["/dev/null/data", "/dev/null"];
  test.each(impossible)("the data folder %s that cannot be created", async (folder) => {
    const output = await failure(openDatabase(`pglite:${folder}`));
    expect(output).toMatch(new RegExp(`^The data folder ${folder} cannot be written: [A-Z]+\\.$`));
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
    expect(await failure(openDatabase(url))).toBe(
      `The database in ${await realpath(folder)} cannot be opened (${reason}): ${causes}.`,
    );
  });

  test("an address of HOST that is not this machine's", async () => {
    const port = await freePort();
    expect(await failure(assertPortIsFree({ port, host: "192.0.2.1" }))).toBe(
      `Port ${port} on HOST 192.0.2.1 cannot be used: EADDRNOTAVAIL.`,
    );
  });

  test.each([undefined, "127.0.0.1"])("a port in use on the address %s", async (host) => {
    const port = await occupy(createServer(), host);
    expect(await failure(assertPortIsFree({ port, host: null }))).toBe(`Port ${port} cannot be used: EADDRINUSE.`);
  });

  test("a port in use of the metrics", async () => {
    const host = "127.0.0.1";
    const port = await occupy(createServer(), host);
    const message = `METRICS_PORT ${port} on ${host} cannot be used: EADDRINUSE.`;
    expect(await failure(openMetricsServer({ host, port }, new Registry()))).toBe(message);
  });
});

const mailed = { MAIL_DRIVER: "smtp", MAIL_FROM: "a@id.example", SMTP_URL: "smtps://u:p@id.example" };

test.each<[Record<string, string>, string]>([
  [{}, "Mails and their links appear here.\nOpen http://localhost:3000/register\n"],
  [
    { APP_URL: "https://id.example", REGISTRATION: "closed", ...mailed },
    "Mails are sent by smtp.\nOpen https://id.example/login\n",
  ],
  [{ ...google, PASSWORDS: "off" }, "Mails and their links appear here.\nOpen http://localhost:3000/login\n"],
])("a person at a terminal is told what %j makes of the service", (settings, lines) => {
  expect(welcome(loadConfig(settings))).toBe(lines);
});
