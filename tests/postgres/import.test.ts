import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { recordedCoverage } from "../coverage/processes";
import { latchkey } from "../support/command";
import { connect } from "../support/postgres-cluster";
import { until } from "../support/until";
import { createDatabases } from "./databases";

const cluster = createDatabases();
let DATABASE_URL: string;
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "latchkey-import-"));
  DATABASE_URL = await cluster.createDatabase();
  await latchkey(["database", "migrate"], { DATABASE_URL });
});

afterAll(() => rm(folder, { recursive: true }));

async function fileOf(lines: string[]): Promise<string> {
  const path = join(folder, crypto.randomUUID());
  await writeFile(path, lines.map((line) => `${line}\n`).join(""));
  return path;
}

async function accounts(): Promise<object[]> {
  const client = await connect(DATABASE_URL);
  const { rows } = await client.query("select email from users");
  await client.end();
  return rows;
}

test("an import is refused while another one runs, and changes nothing when its accounts are changed meanwhile; each is one line", async () => {
  const [other, observer] = await Promise.all([connect(DATABASE_URL), connect(DATABASE_URL)]);
  onTestFinished(async () => void (await Promise.all([other.end(), observer.end()])));
  await other.query("begin");
  await other.query(`insert into users (id, email, idp_id, idp_issuer, created_at)
    values (gen_random_uuid(), 'linus@example.com', '42', 'github', now())`);
  const client = { IDP_PROVIDER: "github", IDP_CLIENT_ID: "id", IDP_CLIENT_SECRET: "secret" };
  const file = await fileOf(['{ "email": "ada@example.com", "idpId": "42" }']);
  const imported = latchkey(["user", "import", file], { ...client, DATABASE_URL });
  const waits = "select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'";
  await until(async () => (await observer.query(waits)).rowCount === 1, "the import waits");
  expect(await latchkey(["user", "import", await fileOf([])], { DATABASE_URL })).toMatchObject({
    status: 1,
    stderr: "Nothing was imported: another import is running.\n",
  });
  await other.query("commit");
  expect(await imported).toMatchObject({
    status: 1,
    stderr: "Nothing was imported: others changed the same accounts at the same time. Run it again.\n",
  });
  expect(await accounts()).toEqual([{ email: "linus@example.com" }]);
});

/** Runs a command on a terminal. */
async function onTerminal(words: string[]): Promise<{ status: number; output: string }> {
  const command = [process.execPath, "server/cli.js", ...words].join(" ");
  const env = { ...recordedCoverage, DATABASE_URL, NODE_ENV: "production" as const, PATH: process.env.PATH };
  const child = spawn("script", ["--quiet", "--return", "--command", command, "/dev/null"], { env });
  const ended = once(child, "close");
  const output = await text(child.stdout);
  const [status] = await ended;
  return { status, output };
}

/** What stays on the screen: of each line, what follows the last erasure. */
const screen = (output: string) =>
  output
    .split("\r\n")
    .map((line) => line.split("\r\u001b[K").at(-1))
    .join("\n");

test("on a terminal a bar shows the progress and is removed; a wrong line has a line of its own", async () => {
  const before = await accounts();
  const wrong = await onTerminal(["user", "import", await fileOf(["{", '{ "email": "bar@example.com" }', "["])]);
  expect(wrong.output).toMatch(/^\rImporting \[#{15}\.{15}\] {2}50 %/);
  expect({ ...wrong, output: screen(wrong.output) }).toEqual({
    status: 1,
    output: "Line 1: is no JSON.\nLine 3: is no JSON.\nNothing was imported: 2 lines are wrong.\n",
  });
  expect(await accounts()).toEqual(before);
});
