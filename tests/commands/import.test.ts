import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { openDatabase } from "#server/database/orm";
import { latchkey } from "../support/command";
import type { TestDatabase } from "../support/server";
import { createDatabase } from "../support/template-copy";

let database: TestDatabase;
let folder: string;

beforeAll(async () => {
  database = await createDatabase();
  folder = await mkdtemp(join(tmpdir(), "latchkey-import-"));
});

afterAll(async () => {
  await rm(folder, { recursive: true });
  await database.drop();
});

const settings = () => ({
  DATABASE_URL: database.url,
  IDP_PROVIDER: "github",
  IDP_CLIENT_ID: "id",
  IDP_CLIENT_SECRET: "secret",
});

async function execute<T>(sql: string): Promise<T[]> {
  const { orm, close } = await openDatabase(database.url);
  const rows = await orm.em.fork().execute<T[]>(sql);
  await close();
  return rows;
}

async function fileOf(lines: (object | string)[]): Promise<string> {
  const path = join(folder, crypto.randomUUID());
  await writeFile(path, lines.map((line) => `${typeof line === "string" ? line : JSON.stringify(line)}\n`).join(""));
  return path;
}

const argon2id = "$argon2id$v=19$m=65536,t=3,p=4$LLzZnXxTbLrXwV4Hv2+KQQ$ZGDccf3bZGRbg5oDRr5DfuQHVWPlyW0VP2reNNdEnWs";
const bcrypt = "$2y$10$1xcNf4YzKJBR8Bv5o18t8eC/bi9NiVV4QY5idONgkrgAXXQyJkVq.";

const blockedAt = "2026-01-02T03:04:05.678Z";

const users = [
  { email: "ada@example.com", name: "Ada L.", passwordHash: argon2id, idpId: "42" },
  { email: "bob@example.com", passwordHash: bcrypt, idpBlockedAt: blockedAt },
  { email: "eve@example.com" },
];

test("a file is imported once, wrong lines change nothing, and the export is the file", async () => {
  const [first, ...others] = users;
  const spelled = { ...first, email: " ADA@example.com" };
  expect(await latchkey(["user", "import", await fileOf(["", spelled, "", ...others])], settings())).toEqual({
    status: 0,
    stdout: "3 accounts created, 0 skipped because the address has an account.\n",
    stderr: "",
    events: [{ event: "users.imported", actor: "cli", count: 3 }],
  });
  const imported = await execute<{ idp_blocked_at: string | null }>("select * from users order by email");
  expect(imported).toMatchObject([{ idp_id: "42", idp_issuer: "github" }, { idp_issuer: null }, { idp_issuer: null }]);
  expect(imported.map(({ idp_blocked_at: at }) => at && new Date(at).toISOString())).toEqual([null, blockedAt, null]);

  const wrong = [
    { email: "ada@example.com", name: "Skipped" },
    { email: "new@example.com" },
    { email: "New@example.com" },
    { email: "another@example.com", idpId: "42" },
    { email: "third@example.com", idpId: "7" },
    { email: "fourth@example.com", idpId: 7 },
    "{",
  ];
  expect(await latchkey(["user", "import", await fileOf(wrong)], settings())).toEqual({
    status: 1,
    stdout: "",
    stderr: `Line 3: email is that of line 2.
Line 4: idpId is that of another account.
Line 6: idpId is that of line 5.
Line 7: is no JSON.
Nothing was imported: 4 lines are wrong.
`,
    events: [],
  });
  expect(await execute("select * from users order by email")).toEqual(imported);

  const skipped = [{ ...first, name: "Skipped" }, { email: "new@example.com" }];
  expect(await latchkey(["user", "import", await fileOf(skipped)], settings())).toMatchObject({
    status: 0,
    stdout: "1 account created, 1 skipped because the address has an account.\n",
  });

  const exported = await latchkey(["user", "export"], settings());
  expect({ ...exported, stdout: exported.stdout.split("\n").map((line) => line && JSON.parse(line)) }).toEqual({
    status: 0,
    stdout: [...users, { email: "new@example.com" }, ""],
    stderr: "",
    events: [],
  });
});

test("all accounts have at most four kinds of hashes besides Latchkey's own, however many files they come from", async () => {
  const { url, drop } = await createDatabase();
  onTestFinished(drop);
  const importHash = async (passwordHash: string) =>
    latchkey(["user", "import", await fileOf([{ email: `${crypto.randomUUID()}@example.com`, passwordHash }])], {
      DATABASE_URL: url,
    });
  const ofKind = (parameters: string) => argon2id.replace("m=65536,t=3,p=4", parameters);
  const kinds = [bcrypt, ofKind("m=65536,t=3,p=4"), ofKind("m=65536,t=2,p=1"), ofKind("m=19456,t=3,p=1")];
  for (const hash of kinds) expect(await importHash(hash)).toMatchObject({ status: 0 });
  expect(await importHash(ofKind("m=19456,t=4,p=1"))).toMatchObject({
    status: 1,
    stderr: `Line 1: passwordHash is of one kind (algorithm and parameters) too many; all accounts may have 4 besides Latchkey's own.
Nothing was imported: 1 line is wrong.
`,
  });
  for (const hash of [ofKind("m=19456,t=2,p=1"), bcrypt]) expect(await importHash(hash)).toMatchObject({ status: 0 });
});

test("a file whose reading fails is one line", async () => {
  expect(await latchkey(["user", "import", "/proc/self/mem"], settings())).toMatchObject({
    status: 1,
    stderr: "/proc/self/mem cannot be read: EIO.\n",
  });
});

/** The ids that an export with these settings has, by address. */
async function exportedIds(url: string, provider: Record<string, string>): Promise<Record<string, string>> {
  const { stdout } = await latchkey(["user", "export"], { ...provider, DATABASE_URL: url });
  const lines = stdout.trim().split("\n");
  const read: { email: string; idpId?: string }[] = lines.map((line) => JSON.parse(line));
  return Object.fromEntries(read.flatMap(({ email, idpId }) => (idpId === undefined ? [] : [[email, idpId]])));
}

test("an export has the ids of the configured provider, and none without a provider", async () => {
  const { url, drop } = await createDatabase();
  const { orm, close } = await openDatabase(url);
  await orm.em.fork().execute(
    `insert into users (id, email, idp_id, idp_issuer, created_at) values
      (gen_random_uuid(), 'ada@example.com', '1', 'github', now()),
      (gen_random_uuid(), 'bob@example.com', '2', 'google', now()),
      (gen_random_uuid(), 'eve@example.com', '3', null, now())`,
  );
  await close();
  const client = { IDP_CLIENT_ID: "id", IDP_CLIENT_SECRET: "secret" };
  expect(await exportedIds(url, {})).toEqual({});
  expect(await exportedIds(url, { ...client, IDP_PROVIDER: "github" })).toEqual({
    "ada@example.com": "1",
    "eve@example.com": "3",
  });
  expect(await exportedIds(url, { ...client, IDP_PROVIDER: "google" })).toEqual({
    "bob@example.com": "2",
    "eve@example.com": "3",
  });
  await drop();
});

test("a file that cannot be read is one line, and status 1", async () => {
  const missing = join(folder, "missing");
  for (const [path, stderr] of [
    [missing, `${missing} cannot be read: ENOENT.\n`],
    [folder, `${folder} is a folder.\n`],
  ] as const) {
    expect(await latchkey(["user", "import", path], settings())).toEqual({ status: 1, stdout: "", stderr, events: [] });
  }
});
