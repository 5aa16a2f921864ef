import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { latchkey } from "../support/command";
import { freePort, type TestDatabase } from "../support/server";
import { createDatabase } from "../support/template-copy";

let database: TestDatabase;
let folder: string;
let DATABASE_URL: string;

beforeAll(async () => {
  database = await createDatabase();
  DATABASE_URL = database.url;
  folder = await mkdtemp(join(tmpdir(), "latchkey-import-"));
});

afterAll(async () => {
  await rm(folder, { recursive: true });
  await database.drop();
});

async function fileOf(lines: string[]): Promise<string> {
  const path = join(folder, crypto.randomUUID());
  await writeFile(path, lines.map((line) => `${line}\n`).join(""));
  return path;
}

const user = { id: "5f0c7a7e-3d9c-4d2b-9c1a-0f1e2d3c4b5a", email: "ada@example.com", name: "Ada\u2028L." };

test("a file is imported, wrong lines change nothing, and the export is the file", async () => {
  expect(await latchkey(["user", "import", await fileOf([JSON.stringify(user)])], { DATABASE_URL })).toEqual({
    status: 0,
    stdout: "1 account created, 0 skipped because the address has an account.\n",
    stderr: "",
    events: [{ event: "users.imported", actor: "cli", count: 1 }],
  });
  const wrong = await fileOf(["{", '{ "email": "new@example.com" }', "["]);
  expect(await latchkey(["user", "import", wrong], { DATABASE_URL })).toEqual({
    status: 1,
    stdout: "",
    stderr: "Line 1: is no JSON.\nLine 3: is no JSON.\nNothing was imported: 2 lines are wrong.\n",
    events: [],
  });
  expect(await latchkey(["user", "export"], { DATABASE_URL })).toEqual({
    status: 0,
    stdout: `${JSON.stringify(user)}\n`,
    stderr: "",
    events: [],
  });
});

test("a file that cannot be read is one line with the path in full, and status 1", async () => {
  const binary = join(folder, "binary");
  await writeFile(binary, Buffer.from([0x22, 0xff, 0x22]));
  for (const [path, stderr] of [
    ["missing", `${join(folder, "missing")} cannot be read: ENOENT.\n`],
    [folder, `${folder} cannot be read: EISDIR.\n`],
    [binary, `${binary} cannot be read: ERR_ENCODING_INVALID_ENCODED_DATA.\n`],
  ] as const) {
    const finished = await latchkey(["user", "import", path], { DATABASE_URL }, folder);
    expect(finished).toEqual({ status: 1, stdout: "", stderr, events: [] });
  }
});

test("a database that cannot be reached is one line without the password, and the file is closed: no warning of Node's", async () => {
  const address = `127.0.0.1:${await freePort()}`;
  const settings = { DATABASE_URL: `postgresql://ada:secret@${address}/x` };
  expect(await latchkey(["user", "import", await fileOf(["{}"])], settings)).toEqual({
    status: 1,
    stdout: "",
    stderr: `The database at ${address}/x cannot be used: connect ECONNREFUSED ${address}.\n`,
    events: [],
  });
});
