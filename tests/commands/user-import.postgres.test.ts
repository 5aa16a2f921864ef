import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { latchkey } from "../support/command";
import { createDatabases } from "../support/databases";
import { connect } from "../support/postgres-cluster";
import { until } from "../support/until";

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
