import { once } from "node:events";
import { existsSync } from "node:fs";
import { readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import net from "node:net";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { commandHere, latchkey as runCommand } from "../support/command";
import { failedStart, type RunningServer, startServer } from "../support/server";
import { createFolder } from "../support/template-copy";
import { until } from "../support/until";

let folder: string;
let server: RunningServer;

const groupsOfProvider = {
  IDP_PROVIDER: "oidc",
  IDP_ISSUER: "http://127.0.0.1:9",
  IDP_CLIENT_ID: "client",
  IDP_CLIENT_SECRET: "secret",
  IDP_GROUPS_CLAIM: "groups",
};
const settings = () => ({ DATABASE_URL: `pglite:${folder}`, PORT: String(server.port) });
const latchkey = (...words: string[]) => commandHere(words, settings());

beforeAll(async () => {
  const { url, drop } = await createFolder();
  folder = url.replace("pglite:", "");
  server = await startServer({ DATABASE_URL: url, ACCESS_TOKENS: "on", ...groupsOfProvider });
  return async () => {
    await server.stop();
    await drop();
  };
});

const { version } = JSON.parse(await readFile("package.json", "utf8"));

/** Asks the service as a command line does; returns the parts of its answer. */
async function ask(request: object): Promise<object[]> {
  const socket = net.connect(join(folder, ".commands"));
  socket.write(`${JSON.stringify({ version, words: ["user", "list"], files: {}, isTTY: false, ...request })}\n`);
  const parts = (await text(socket)).trim().split("\n");
  return parts.map((part) => JSON.parse(part));
}

const refused = (stderr: string) => ({ status: 1, stdout: "", stderr });

const created = (stdout: string) => /^User id: (.+)\n(http.+)\n$/.exec(stdout)?.slice(1) ?? [];

/** A new account, without the second that a command line takes; returns its address. */
async function account(): Promise<string> {
  const email = `${crypto.randomUUID()}@example.com`;
  expect((await ask({ words: ["user", "create", email] })).at(-1)).toEqual({ status: 0 });
  return email;
}

test("a command changes the database that the service holds", async () => {
  const email = await account();
  const { stdout } = await latchkey("user", "show", email, "--json");
  expect(JSON.parse(stdout)).toMatchObject({ email, password: null });
});

test("a link that a command prints opens at the service", async () => {
  const { stdout } = await latchkey("user", "create", "link@example.com");
  const [, link = ""] = created(stdout);
  expect((await fetch(link)).status).toBe(200);
  expect(link.startsWith(`http://localhost:${server.port}/reset-password?`)).toBe(true);
});

describe("an access token", () => {
  const create = (email: string) =>
    latchkey("user", "create-token", email, "--name", "Build", "--origin", `http://localhost:${server.port}`);
  const idOf = async (email: string) => JSON.parse((await latchkey("user", "tokens", email, "--json")).stdout)[0].id;

  test("is made and printed once", async () => {
    const email = await account();
    expect(await create(email)).toMatchObject({ status: 0, stdout: expect.stringMatching(/^latchkey_[\w-]{43}\n$/) });
    expect((await latchkey("user", "show", email, "--json")).stdout).not.toContain("latchkey_");
  });

  test("is listed", async () => {
    const email = await account();
    await create(email);
    const line = `${await idOf(email)}  Build, for http://localhost:${server.port}, ends `;
    expect((await latchkey("user", "tokens", email)).stdout).toContain(line);
  });

  test("is removed", async () => {
    const email = await account();
    await create(email);
    const removed = await latchkey("user", "remove-token", email, await idOf(email));
    expect(removed).toMatchObject({ status: 0, stdout: "The token is removed.\n" });
    expect(await latchkey("user", "tokens", email)).toEqual({ status: 0, stdout: "", stderr: "" });
  });
});

test("a command's events are those that it logs without a service", async () => {
  const parts = await ask({ words: ["user", "suspend", await account()] });
  const [{ level, time, ...event }] = parts.flatMap((part) => ("err" in part ? [JSON.parse(String(part.err))] : []));
  expect(event).toEqual({ actor: "cli", event: "user.suspended", userId: expect.any(String) });
});

test("the service's log has what a command did", async () => {
  const email = await account();
  const { id } = JSON.parse((await latchkey("user", "show", email, "--json")).stdout);
  await latchkey("user", "suspend", email);
  await server.waitFor(new RegExp(`"actor":"cli","event":"user.suspended","userId":"${id}"`));
});

test("a command fails as it does without a service", async () => {
  expect(await latchkey("user", "show", "nobody@example.com")).toEqual(
    refused("There is no account nobody@example.com.\n"),
  );
});

test("a wrong usage has the status 2", async () => {
  expect(await latchkey("user", "show")).toMatchObject({ status: 2, stdout: "" });
});

test("a file is read by the command line", async () => {
  const file = join(folder, "..", `latchkey-import-${process.pid}`);
  await writeFile(file, '{ "email": "imported@example.com" }\n', { mode: 0o600 });
  onTestFinished(() => rm(file));
  expect(await latchkey("user", "import", file)).toMatchObject({
    status: 0,
    stdout: "1 account created, 0 skipped because the address has an account.\n",
  });
});

test("two commands at once print their own", async () => {
  const [one, other] = [await account(), await account()];
  const shown = await Promise.all([one, other].map((email) => ask({ words: ["user", "show", email, "--json"] })));
  const printed = shown.map((parts) => parts.map((part) => ("out" in part ? part.out : "")).join(""));
  expect(printed.map((text) => JSON.parse(text).email)).toEqual([one, other]);
});

test("an output that is longer than a pipe holds arrives whole", async () => {
  const file = join(folder, "..", `latchkey-many-${process.pid}`);
  const domain = Array(3).fill("a".repeat(50)).join(".");
  const emails = Array.from({ length: 500 }, (_, at) => `many-${String(at).padStart(4, "0")}@${domain}.example.com`);
  await writeFile(file, emails.map((email) => JSON.stringify({ email })).join("\n"));
  onTestFinished(() => rm(file));
  await latchkey("user", "import", file);
  const { stdout } = await runCommand(["user", "list"], settings()); // a process of its own
  expect(stdout.length).toBeGreaterThan(65_536);
  expect(stdout.split("\n").filter((line) => line.startsWith("many-"))).toHaveLength(500);
});

test("a command that is interrupted ends in the service", async () => {
  const socket = net.connect(join(folder, ".commands"));
  const lines = Array.from({ length: 20_001 }, (_, at) => JSON.stringify({ email: `gone-${at}@example.com` }));
  const files = { many: Buffer.from(lines.join("\n")).toString("base64") };
  socket.write(`${JSON.stringify({ version, words: ["user", "import", "many"], files, isTTY: false })}\n`);
  await once(socket, "data"); // the first of three batches is written
  socket.destroy();
  expect((await ask({ words: ["user", "show", "gone-1@example.com"] })).at(-1)).toEqual({ status: 1 });
});

test("a backup whose reader has gone leaves no error in the service's log", async () => {
  const socket = net.connect(join(folder, ".commands"));
  socket.write(`${JSON.stringify({ version, words: ["database", "backup", "-"], files: {}, isTTY: false })}\n`);
  await once(socket, "data");
  socket.destroy();
  await until(() => !existsSync(join(folder, ".unfinished")), "the backup has ended");
  const email = await account();
  const { id } = JSON.parse((await latchkey("user", "show", email, "--json")).stdout);
  await latchkey("user", "suspend", email);
  await server.waitFor(new RegExp(`"event":"user.suspended","userId":"${id}"`)); // An error of the backup would stand before it.
  expect(server.output()).not.toContain("Unexpected error.");
});

test.each([
  ["folder of the socket", () => folder, 0o700],
  ["socket", () => join(folder, ".commands"), 0o600],
])("the %s is its owner's alone", async (_what, path, mode) => {
  expect((await stat(path())).mode & 0o777).toBe(mode);
});

test.each(["copy", "migrate"])("`database %s` needs the database for itself", async (name) => {
  const words = name === "copy" ? ["postgresql://ada@127.0.0.1/x"] : [];
  expect(await latchkey("database", name, ...words)).toEqual(
    refused(
      `The data folder ${folder} is in use by another process.\nStop the service, or wait for the other command.\n`,
    ),
  );
});

test("the data folder is for one process at a time", async () => {
  const output = await failedStart({ DATABASE_URL: `pglite:${folder}` });
  expect(output).toMatch(/^The data folder \S+ is in use by another process\.\n$/);
  expect((await fetch(`${server.url}/readyz`)).status).toBe(200);
});

test("a command line of another release is told to use the service's", async () => {
  expect(await ask({ version: "0.0.1" })).toEqual([
    { err: `The service is of release ${version}: use its command line.\n` },
    { status: 1 },
  ]);
});

test("the service outlives what is no request", async () => {
  const socket = net.connect(join(folder, ".commands"));
  socket.write("no request\n");
  await once(socket.resume(), "close");
  expect((await ask({})).at(-1)).toEqual({ status: 0 });
});

test("the doctor lets the service look at the database that it holds", async () => {
  const { stdout } = await latchkey("doctor", "--json");
  const checks: { name: string; status: string; found: string }[] = JSON.parse(stdout);
  const ofDatabase = checks.filter(({ name }) => ["database", "migrations", "accounts"].includes(name));
  expect(ofDatabase).toMatchObject([
    { status: "ok", name: "database", found: expect.stringMatching(/^PostgreSQL \S+, embedded$/) },
    { status: "ok", name: "migrations", found: expect.stringMatching(/^all \d+ applied$/) },
    { status: "ok", name: "accounts", found: "connected accounts: 0 with groups from the provider, 0 without" },
    { name: "database", found: expect.stringMatching(/ of its log; .*; commits are /) },
  ]);
  expect(checks).toContainEqual(expect.objectContaining({ name: "APP_URL", status: "ok" }));
});

test("the service stores the secret of the doctor's probe", async () => {
  const { stdout } = await latchkey("doctor", "--outside");
  expect(stdout).toMatch(/^ok .* believes no forged X-Forwarded header$/m);
});

test("a terminal sees no log lines", async () => {
  const email = await account();
  expect(await ask({ words: ["user", "suspend", email], isTTY: true })).toEqual([
    { out: "The account is suspended. 0 sessions ended.\n" },
    { status: 0 },
  ]);
});

describe("after a kill of the service", () => {
  beforeAll(async () => {
    await server.kill();
    expect(await readdir(folder)).toContain(".commands");
    server = await startServer({ DATABASE_URL: `pglite:${folder}` });
  });

  test("its data folder is ready for the next", async () => {
    expect((await fetch(`${server.url}/readyz`)).status).toBe(200);
  });

  test("its socket is taken over by the next", async () => {
    expect(await latchkey("user", "show", await account())).toMatchObject({ status: 0, stderr: "" });
  });

  test("the next removes its socket at a stop", async () => {
    expect(await server.stop()).toBe(0);
    expect(await readdir(folder)).not.toContain(".commands");
  });
});
