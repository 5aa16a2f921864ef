import { existsSync } from "node:fs";
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import type { Command } from "commander";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { openCommandSocket } from "#server/commands/beside-service";
import { latchkeyProgram } from "#server/commands/command-line";
import { claimFolder } from "#server/database/folder-lock";
import { openDatabase } from "#server/database/orm";
import { commandHere, failed, succeeded } from "../support/command";
import { startLatchkey } from "../support/latchkey";
import { freePort } from "../support/server";
import { createDatabase } from "../support/template-copy";

const latchkey = startLatchkey();

let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "latchkey-commands-"));
});

afterAll(() => rm(folder, { recursive: true }));

const leavesOf = (command: Command): Command[] =>
  command.commands.length === 0 ? [command] : command.commands.flatMap(leavesOf);

const inOneLine = (text: string) => text.replace(/\s+/g, " ");

describe("--help", () => {
  const help = async () => {
    const { status, stdout, stderr } = await latchkey.command("--help");
    expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
    expect(stdout).toMatch(/^Usage: latchkey COMMAND\n/);
    const [, list = ""] = /\nCommands:\n([\s\S]*?)\n\n/.exec(stdout) ?? [];
    return list.split("\n").map((line) => line.trim().split("  ", 1)[0]);
  };

  test("lists every command", async () => {
    expect(await help()).toHaveLength(leavesOf(latchkeyProgram()).length);
  });

  test("lists commands as docs/commands.md has them", async () => {
    const documented = (await readFile("docs/commands.md", "utf8")).replaceAll("…", "");
    for (const synopsis of await help()) expect(documented).toContain(`\`${synopsis}\``);
  });
});

test("the --help of a command explains it with its options", async () => {
  const { status, stdout, stderr } = await latchkey.command("user", "groups", "--help");
  expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
  expect(inOneLine(stdout)).toBe(
    "Usage: latchkey user groups EMAIL [--add NAME] [--remove NAME] " +
      "Prints the account's groups, one to a line, after the change, and says which of them come from the provider " +
      "(IDP_GROUPS_CLAIM): those are removed there. `/auth/verify` tells all of them to the applications. " +
      "Options: --add <NAME> add a group; can be repeated --remove <NAME> remove a group; can be repeated -h, --help print this text ",
  );
});

test("the --help of `user create` says what the operator must do about the address and the link", async () => {
  const { stdout } = await latchkey.command("user", "create", "--help");
  const text = inOneLine(stdout);
  expect(text).toContain("The link can be used once, ");
  expect(text).toContain(": hand it to nobody but the owner.");
  expect(text).toContain("Latchkey does not check that the address is the owner's: you do.");
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
  [
    "a test mail from outside",
    ["doctor", "--outside", "--mail", "ada@example.com"],
    "error: option '--outside' cannot be used with option '--mail <ADDRESS>'\n\nUsage: latchkey doctor",
  ],
  [
    "a test webhook from outside",
    ["doctor", "--at", "https://app.example", "--webhook"],
    "error: option '--outside' cannot be used with option '--webhook'\n\nUsage: latchkey doctor",
  ],
])("%s is answered with the usage as an error", async (_what, words, printed) => {
  const { status, stdout, stderr } = await latchkey.command(...words);
  expect({ status, stdout }).toEqual({ status: 2, stdout: "" });
  expect(stderr.slice(0, printed.length)).toBe(printed);
});

async function fileOf(...lines: string[]): Promise<string> {
  const path = join(folder, crypto.randomUUID());
  await writeFile(path, lines.map((line) => `${line}\n`).join(""));
  return path;
}

const user = { id: "5f0c7a7e-3d9c-4d2b-9c1a-0f1e2d3c4b5a", email: "ada@example.com", name: "Ada\u00a0L." };

describe("`user import`", () => {
  const importUser = async () => latchkey.command("user", "import", await fileOf(JSON.stringify(user)));

  test("imports a file", async () => {
    const imported = { event: "users.imported", actor: "cli", count: 1 };
    expect(await importUser()).toEqual(
      succeeded("1 account created, 0 skipped because the address has an account.\n", imported),
    );
  });

  test("makes accounts whose export is the file", async () => {
    await importUser();
    expect(await latchkey.command("user", "export")).toEqual(succeeded(`${JSON.stringify(user)}\n`));
  });

  test("imports nothing of a file with wrong lines", async () => {
    const wrong = await fileOf("{", '{ "email": "new@example.com" }', "[");
    expect(await latchkey.unchanged(() => latchkey.command("user", "import", wrong))).toEqual(
      failed("Line 1: is not JSON.\nLine 3: is not JSON.\nNothing was imported: 2 lines are wrong.\n"),
    );
  });
});

test.each([
  ["is missing", async () => "missing", () => `${resolve("missing")} cannot be read: ENOENT.\n`],
  ["is a folder", async () => folder, () => `${folder} cannot be read: EISDIR.\n`],
  [
    "is not text",
    async () => {
      const binary = join(folder, "binary");
      await writeFile(binary, Buffer.from([0x22, 0xff, 0x22]));
      return binary;
    },
    () => `${join(folder, "binary")} is not UTF-8. Save it as UTF-8.\n`,
  ],
])("a file that %s is one line with its path", async (_what, path, stderr) => {
  expect(await latchkey.command("user", "import", await path())).toEqual(failed(stderr()));
});

describe("a database that cannot be used is one line", () => {
  const exporting = (DATABASE_URL: string) => commandHere(["user", "export"], { DATABASE_URL });
  const refused = (stderr: string) => ({ status: 1, stdout: "", stderr });

  describe("one that does not exist", () => {
    const missing = (home: string) =>
      refused(`There is no database in the folder ${home}: \`latchkey database migrate\` makes one.\n`);

    /** A folder with a file in it, which everybody may read. */
    async function folderWithFile() {
      const home = join(folder, crypto.randomUUID());
      const file = join(home, "file");
      await mkdir(home);
      await writeFile(file, "");
      for (const path of [home, file]) await chmod(path, 0o755);
      return { home, paths: [home, file] };
    }

    test("in a folder that is not created", async () => {
      const home = join(folder, "home");
      expect(await exporting(`pglite:${home}`)).toEqual(missing(home));
      expect(existsSync(home)).toBe(false);
    });

    test("in a folder that is not changed", async () => {
      const { home, paths } = await folderWithFile();
      expect(await exporting(`pglite:${home}`)).toEqual(missing(home));
      expect(await readdir(home)).toEqual(["file"]);
      for (const path of paths) expect((await stat(path)).mode & 0o777).toBe(0o755);
    });

    test("in a folder of other files", async () => {
      const { home, paths } = await folderWithFile();
      expect(await commandHere(["database", "migrate"], { DATABASE_URL: `pglite:${home}` })).toEqual(
        refused(`The folder ${home} holds other files than a database's: name one that is new or empty.\n`),
      );
      expect(await readdir(home)).toEqual(["file"]);
      for (const path of paths) expect((await stat(path)).mode & 0o777).toBe(0o755);
    });
  });

  async function removeMigrations(url: string): Promise<void> {
    const { orm, close } = await openDatabase(url);
    await orm.em.execute("drop schema public cascade; drop schema pgboss cascade; create schema public");
    await close();
  }

  test("one without the migrations until `database migrate` has run", { tags: "6.3.2" }, async () => {
    const { url, drop } = await createDatabase();
    await removeMigrations(url);
    expect(await exporting(url)).toEqual(
      refused("The database is not up to date: `latchkey database migrate` runs the migrations.\n"),
    );
    expect(await commandHere(["database", "migrate"], { DATABASE_URL: url })).toEqual({
      ...refused(""),
      status: 0,
      stdout: "The database is up to date.\n",
    });
    expect(await exporting(url)).toEqual({ ...refused(""), status: 0 });
    await drop();
  });

  /** Claims the folder of a database, as a process that holds it does. */
  async function hold(name: string): Promise<string> {
    const { home, lock } = await claimFolder(join(folder, name));
    onTestFinished(() => lock.close());
    await mkdir(join(home, "pglite"));
    await writeFile(join(home, "pglite/PG_VERSION"), "17\n");
    return home;
  }

  const inUse = (home: string) => refused(`The data folder ${home} is in use by another process.\n`);

  test("one that another process holds", async () => {
    const home = await hold("held");
    expect(await exporting(`pglite:${home}`)).toEqual(inUse(home));
  });

  test("one of a service whose socket would have too long a path", async () => {
    const home = await hold("x".repeat(120));
    onTestFinished(await openCommandSocket(home, async () => 0));
    expect(await exporting(`pglite:${home}`)).toEqual(inUse(home));
  });

  test("one that cannot be reached", async () => {
    const address = `127.0.0.1:${await freePort()}`;
    expect(await exporting(`postgresql://ada:secret@${address}/x`)).toEqual(
      refused(`The database at ${address}/x cannot be used: connect ECONNREFUSED ${address}.\n`),
    );
  });
});
