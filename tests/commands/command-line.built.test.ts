import { existsSync } from "node:fs";
import { chmod, mkdir, mkdtemp, readdir, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PGlite } from "@electric-sql/pglite";
import { afterAll, beforeAll, expect, test } from "vitest";
import { failed, latchkey, succeeded } from "../support/command";
import { createEmptyDatabase, freePort, startServer } from "../support/server";
import { createDatabase } from "../support/template-copy";

let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "latchkey-commands-"));
});

afterAll(() => rm(folder, { recursive: true }));

const commands = [
  ["doctor [--mail ADDRESS] [--webhook] [--json]", "find out what is wrong with this installation"],
  ["user show EMAIL [--json]", "show an account"],
  ["user create EMAIL [--name NAME] [--mail]", "create an account and print its id and a reset link"],
  ["user reset-link EMAIL", "print a reset link"],
  ["user end-sessions EMAIL", "sign an account out everywhere"],
  ["user unlink EMAIL", "disconnect an account from the identity provider"],
  ["user delete EMAIL --yes", "delete an account"],
  ["user suspend EMAIL", "end an account's sessions and let nobody sign in to it"],
  ["user restore EMAIL", "let a suspended account sign in again"],
  ["user groups EMAIL [--add NAME] [--remove NAME]", "show or change the groups of an account"],
  ["user list [--group NAME] [--no-way-in] [--suspended] [--json]", "list the accounts"],
  ["user clear-limits EMAIL", "let an address log in and ask for mails again at once"],
  ["user end-all-sessions --yes", "sign every account out everywhere"],
  ["user import FILE", "create accounts from a file of JSON lines"],
  ["user export", "print every account as `user import` takes it"],
  ["mail failed [--json]", "list the mails that were given up"],
  ["mail retry [ID]", "send the mails again that were given up, or one of them"],
  ["webhook failed [--json]", "list the webhooks that were given up"],
  ["webhook retry [ID]", "send the webhooks again that were given up, or one of them"],
  ["keys rotate", "replace the key that signs the identity tokens"],
  ["database migrate", "run the missing migrations"],
  ["database copy TO", "copy everything to an empty PostgreSQL database"],
];

const inOneLine = (text: string) => text.replace(/\s+/g, " ");

test("--help lists every command on standard output", async () => {
  const { status, stdout, stderr } = await latchkey(["--help"]);
  expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
  expect(stdout).toMatch(/^Usage: latchkey COMMAND\n/);
  expect(inOneLine(stdout)).toContain(`Commands: ${commands.map((command) => command.join(" ")).join(" ")} \`latchkey`);
});

test("the --help of a command says what it does and what its options are", async () => {
  const { status, stdout, stderr } = await latchkey(["user", "create", "--help"]);
  expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
  expect(inOneLine(stdout)).toBe(
    "Usage: latchkey user create EMAIL [--name NAME] [--mail] " +
      "Creates an account without a password, and prints its id and a link with which its owner chooses one. Nothing is " +
      "mailed, unless --mail mails an invitation in place of the link. With PASSWORDS=off there is no link, and the " +
      "invitation leads to the provider. The link can be used once, for 60 minutes: hand it to nobody but the owner. " +
      "Latchkey does not check that the address is the owner's: you do. " +
      "Options: --name <NAME> the name that pages show --mail mail an invitation, and print no link -h, --help print this text ",
  );
});

test.each([
  ["no command", [], "Usage: latchkey COMMAND\n"],
  ["no command of a noun", ["user"], "Usage: latchkey user COMMAND\n"],
  ["an unknown command", ["user", "forget"], "error: unknown command 'forget'\n\nUsage: latchkey user COMMAND\n"],
  [
    "no operand",
    ["user", "show"],
    "error: missing required argument 'EMAIL'\n\nUsage: latchkey user show EMAIL [--json]\n",
  ],
  [
    "two operands",
    ["user", "unlink", "a", "postgresql://ada:secret@h/x"],
    "error: too many arguments for 'unlink'. Expected 1 argument but got 2.\n\nUsage: latchkey user unlink EMAIL\n",
  ],
  ["a URL as a command", ["postgresql:ada:se'cret@h/x"], "error: unknown command 'postgresql:…'\n\nUsage: latchkey"],
  [
    "a URL in an unknown option",
    ["user", "export", "--to=postgresql://ada:secret@h/x"],
    "error: unknown option '--to=postgresql:…'\n\nUsage: latchkey user export\n",
  ],
  [
    "an unconfirmed deletion",
    ["user", "delete", "ada@example.com"],
    "error: required option '--yes' not specified\n\nUsage: latchkey user delete EMAIL --yes\n",
  ],
])("%s is answered with the usage on standard error and status 2", async (_what, words, printed) => {
  const { status, stdout, stderr } = await latchkey(words, { DATABASE_URL: "not used" });
  expect({ status, stdout }).toEqual({ status: 2, stdout: "" });
  expect(stderr.slice(0, printed.length)).toBe(printed);
});

test("settings are read from .env of the current folder, and a wrong one is told in the start's words", async () => {
  await writeFile(join(folder, ".env"), "DATABASE_URL=mysql://127.0.0.1/x\n");
  expect(await latchkey(["user", "export"], {}, folder)).toEqual(
    failed("The configuration is not usable:\n  - DATABASE_URL must be a postgresql:// URL, or pglite: and a folder\n"),
  );
});

test("an embedded database that does not exist is not created", async () => {
  const missing = join(folder, "missing");
  expect(await latchkey(["user", "export"], { DATABASE_URL: `pglite:${missing}` })).toEqual(
    failed(`There is no database in the folder ${missing}: \`latchkey database migrate\` makes one.\n`),
  );
  expect(existsSync(missing)).toBe(false);
});

test("a folder without a database is refused, and what is in it keeps its rights", async () => {
  const other = join(folder, "other");
  const file = join(other, "file");
  await mkdir(other);
  await chmod(other, 0o755);
  const settings = { DATABASE_URL: `pglite:${other}` };
  const stderr = `There is no database in the folder ${other}: \`latchkey database migrate\` makes one.\n`;
  const none = failed(stderr);
  expect(await latchkey(["user", "export"], settings)).toEqual(none);
  expect(await readdir(other)).toEqual([]);
  await writeFile(file, "");
  await chmod(file, 0o755);
  expect(await latchkey(["user", "export"], settings)).toEqual(none);
  expect(await latchkey(["database", "migrate"], settings)).toEqual({
    ...none,
    stderr: `The folder ${other} holds other files than a database's: name one that is new or empty.\n`,
  });
  expect(await readdir(other)).toEqual(["file"]);
  for (const path of [other, file]) expect((await stat(path)).mode & 0o777).toBe(0o755);
});

test("a database without the migrations is refused until `database migrate` has run", { tags: "6.3.2" }, async () => {
  const database = await createEmptyDatabase();
  if (database.url.startsWith("pglite:")) {
    const empty = await PGlite.create(join(database.url.slice("pglite:".length), "pglite"));
    await empty.close();
  }
  const settings = { DATABASE_URL: database.url };
  expect(await latchkey(["user", "export"], settings)).toEqual(
    failed("The database is not up to date: `latchkey database migrate` runs the migrations.\n"),
  );
  expect(await latchkey(["database", "migrate"], settings)).toEqual(succeeded("The database is up to date.\n"));
  expect(await latchkey(["user", "export"], settings)).toEqual(succeeded(""));
  await database.drop();
});

test("an embedded database that a running service holds is one line, and status 1", async () => {
  const database = await createEmptyDatabase("embedded");
  const server = await startServer({ DATABASE_URL: database.url });
  expect(await latchkey(["user", "export"], { DATABASE_URL: database.url })).toEqual(
    failed(`The data folder ${database.url.slice("pglite:".length)} is in use by another process.\n`),
  );
  await server.stop();
  await database.drop();
});

async function fileOf(...lines: string[]): Promise<string> {
  const path = join(folder, crypto.randomUUID());
  await writeFile(path, lines.map((line) => `${line}\n`).join(""));
  return path;
}

const user = { id: "5f0c7a7e-3d9c-4d2b-9c1a-0f1e2d3c4b5a", email: "ada@example.com", name: "Ada\u2028L." };

test("a file is imported, wrong lines change nothing, and the export is the file", async () => {
  const database = await createDatabase();
  const imported = { event: "users.imported", actor: "cli", count: 1 };
  const settings = { DATABASE_URL: database.url };
  expect(await latchkey(["user", "import", await fileOf(JSON.stringify(user))], settings)).toEqual(
    succeeded("1 account created, 0 skipped because the address has an account.\n", imported),
  );
  const wrong = await fileOf("{", '{ "email": "new@example.com" }', "[");
  expect(await latchkey(["user", "import", wrong], settings)).toEqual(
    failed("Line 1: is no JSON.\nLine 3: is no JSON.\nNothing was imported: 2 lines are wrong.\n"),
  );
  expect(await latchkey(["user", "export"], settings)).toEqual(succeeded(`${JSON.stringify(user)}\n`));
  await database.drop();
});

test("a file that cannot be read is one line with the path in full, and status 1", async () => {
  const binary = join(folder, "binary");
  await writeFile(binary, Buffer.from([0x22, 0xff, 0x22]));
  for (const [path, stderr] of [
    ["missing", `${join(folder, "missing")} cannot be read: ENOENT.\n`],
    [folder, `${folder} cannot be read: EISDIR.\n`],
    [binary, `${binary} cannot be read: ERR_ENCODING_INVALID_ENCODED_DATA.\n`],
  ] as const) {
    const settings = { DATABASE_URL: "pglite:not-used" };
    expect(await latchkey(["user", "import", path], settings, folder)).toEqual(failed(stderr));
  }
});

test("a database that cannot be reached is one line without the password, and the file is closed: no warning of Node's", async () => {
  const address = `127.0.0.1:${await freePort()}`;
  const settings = { DATABASE_URL: `postgresql://ada:secret@${address}/x` };
  expect(await latchkey(["user", "import", await fileOf("{}")], settings)).toEqual(
    failed(`The database at ${address}/x cannot be used: connect ECONNREFUSED ${address}.\n`),
  );
});
