import { beforeEach, describe, expect, test } from "vitest";
import { exportUsers, importUsers } from "#server/features/operator/user-import";
import type { UserLine } from "#server/features/operator/user-lines";
import { startLatchkey } from "../support/latchkey";

const github = { IDP_PROVIDER: "github", IDP_CLIENT_ID: "id", IDP_CLIENT_SECRET: "secret" };
const latchkey = startLatchkey(github);

const argon2id = "$argon2id$v=19$m=65536,t=3,p=4$LLzZnXxTbLrXwV4Hv2+KQQ$ZGDccf3bZGRbg5oDRr5DfuQHVWPlyW0VP2reNNdEnWs";
const bcrypt = "$2y$10$1xcNf4YzKJBR8Bv5o18t8eC/bi9NiVV4QY5idONgkrgAXXQyJkVq.";
const ids = [1, 2, 3, 4].map((digit) => `00000000-0000-4000-8000-00000000000${digit}`);

const importLines = (lines: (object | string)[], written: (done: number, all: number) => void = () => {}) =>
  importUsers(
    lines.map((line) => (typeof line === "string" ? line : JSON.stringify(line))),
    written,
  );

async function exported(): Promise<object[]> {
  const users: object[] = [];
  for await (const user of exportUsers()) users.push(JSON.parse(JSON.stringify(user)));
  return users;
}

const complete: Required<UserLine> = {
  id: ids[0],
  email: "ada@example.com",
  name: "Ada L.",
  passwordHash: argon2id,
  idpId: "42",
  idpIssuer: "google",
  idpBlockedAt: "2026-01-02T03:04:05.678Z",
  suspendedAt: "2026-01-02T03:04:05.678Z",
  groups: ["admin", "staff"],
};
const users = [
  complete,
  { id: ids[1], email: "bob@example.com", passwordHash: bcrypt },
  { id: ids[2], email: "eve@example.com" },
];

test.each([
  ["the provider", {}],
  ["no provider", { IDP_CLIENT_ID: "", IDP_CLIENT_SECRET: "", IDP_PROVIDER: "" }],
])("an export with %s has the imported lines", async (_what, settings) => {
  expect(await importLines(["", ...users, " \r"])).toEqual({ created: 3, skipped: 0, uninvited: 0 });
  latchkey.configure({ ...github, ...settings });
  expect(await exported()).toEqual(users);
});

test("`user show` has what is imported, the hash and the provider in other words", async () => {
  await importLines([complete]);
  const { passwordHash, idpId: id, idpIssuer: issuer, idpBlockedAt: providerBlockedAt, ...shown } = complete;
  const { stdout } = await latchkey.command("user", "show", complete.email, "--json");
  expect(JSON.parse(stdout)).toMatchObject({ ...shown, provider: { id, issuer }, providerBlockedAt });
});

test("an imported account's history begins with its registration by an operator", async () => {
  await importLines(users);
  const told = await latchkey.execute("select user_id, actor, type from account_events order by user_id");
  expect(told).toEqual(
    ids.slice(0, 3).map((id) => ({ user_id: id, actor: "operator", type: "registration.completed" })),
  );
});

describe("an import", () => {
  test("skips an address that has an account", async () => {
    await importLines([users[0] ?? {}]);
    const before = await latchkey.execute("select * from users");
    const again = { ...users[0], id: ids[3], name: "Skipped", idpId: "43" };
    expect(await importLines([again, { email: "new@example.com" }])).toEqual({ created: 1, skipped: 1, uninvited: 0 });
    expect(await latchkey.execute("select * from users where email = 'ada@example.com'")).toEqual(before);
  });

  test("ends a link to register of its address", async () => {
    await latchkey.execute("insert into registrations values ('a hash', 'new@example.com', now())");
    await importLines([{ email: "new@example.com" }]);
    expect(await latchkey.execute("select from registrations")).toEqual([]);
  });
});

describe("wrong lines", () => {
  const lines = [
    { email: "new@example.com", idpId: "7", id: ids[3] },
    { email: "New@example.com" },
    { email: "a@example.com", idpId: 7, idpIssuer: "github" },
    { email: "b@example.com", idpId: "42", idpIssuer: "google" },
    { email: "c@example.com", id: ids[3]?.toUpperCase() },
    { email: "d@example.com", id: ids[0] },
    { email: "e@example.com", id: ids[1], idpId: "42", idpIssuer: "google", name: "both" },
    "",
    "{",
    { email: "f@example.com", idpId: "42" },
  ];

  test("are named with their numbers", async () => {
    await importLines(users);
    expect(await importLines(lines)).toEqual([
      { line: 2, problem: "email is that of line 1" },
      { line: 3, problem: "idpId is that of line 1" },
      { line: 4, problem: "idpId is that of another account" },
      { line: 5, problem: "id is that of line 1" },
      { line: 6, problem: "id is that of another account" },
      { line: 7, problem: "idpId is that of line 4" },
      { line: 9, problem: "is not JSON" },
    ]);
  });

  test("change nothing", async () => {
    await importLines(users);
    await latchkey.unchanged(() => importLines(lines));
  });
});

describe("whose id an idpId is", () => {
  const issuers = () => latchkey.execute("select idp_id, idp_issuer from users order by email");

  test("the line's issuer before the configured provider", async () => {
    await importLines([
      { email: "a@example.com", idpId: "1" },
      { email: "b@example.com", idpId: "1", idpIssuer: "https://issuer.example" },
      { email: "c@example.com" },
    ]);
    expect(await issuers()).toEqual([
      { idp_id: "1", idp_issuer: "github" },
      { idp_id: "1", idp_issuer: "https://issuer.example" },
      { idp_id: null, idp_issuer: null },
    ]);
  });

  describe("without a provider", () => {
    const none = { IDP_CLIENT_ID: "", IDP_CLIENT_SECRET: "", IDP_PROVIDER: "" };
    const named = { email: "b@example.com", idpId: "1", idpIssuer: "github" };

    test("a line needs an issuer", async () => {
      latchkey.configure(none);
      expect(await importLines([{ email: "a@example.com", idpId: "1" }, named])).toEqual([
        { line: 1, problem: "idpId needs an idpIssuer: no provider is configured" },
      ]);
      expect(await issuers()).toEqual([]);
    });

    test("a line may have an issuer", async () => {
      latchkey.configure(none);
      expect(await importLines([named])).toEqual({ created: 1, skipped: 0, uninvited: 0 });
      expect(await issuers()).toEqual([{ idp_id: "1", idp_issuer: "github" }]);
    });
  });

  describe("an id that was stored without an issuer", () => {
    beforeEach(() =>
      latchkey.execute("insert into users (id, email, idp_id, created_at) values (?, 'ada@example.com', '3', now())", [
        ids[0],
      ]),
    );

    test("is the configured provider's", async () => {
      expect(await importLines([{ email: "new@example.com", idpId: "3" }])).toMatchObject([{ line: 1 }]);
      expect(await exported()).toMatchObject([{ idpId: "3", idpIssuer: "github" }]);
    });

    test("is in no export without a provider", async () => {
      latchkey.configure({ IDP_CLIENT_ID: "", IDP_CLIENT_SECRET: "", IDP_PROVIDER: "" });
      expect(await exported()).toEqual([{ id: ids[0], email: "ada@example.com" }]);
    });
  });
});

describe("after files with four kinds of hashes", () => {
  const ofKind = (parameters: string) => argon2id.replace("m=65536,t=3,p=4", parameters);
  const importHash = (passwordHash: string) =>
    importLines([{ email: `${crypto.randomUUID()}@example.com`, passwordHash }]);
  const kinds = [bcrypt, ofKind("m=65536,t=3,p=4"), ofKind("m=65536,t=2,p=1"), ofKind("m=19456,t=3,p=1")];

  beforeEach(async () => {
    for (const hash of kinds) expect(await importHash(hash)).toMatchObject({ created: 1 });
  });

  test("another kind is refused", async () => {
    expect(await importHash(ofKind("m=19456,t=4,p=1"))).toEqual([
      {
        line: 1,
        problem:
          "passwordHash is of one kind (algorithm and parameters) too many; all accounts may have 4 besides Latchkey's own",
      },
    ]);
  });

  test.each([
    ["Latchkey's own kind", ofKind("m=19456,t=2,p=1")],
    ["one of the four", bcrypt],
  ])("%s is imported", async (_what, hash) => {
    expect(await importHash(hash)).toMatchObject({ created: 1 });
  });
});

describe("of the four kinds", () => {
  const pbkdf2 = (digest: 256 | 512, count: number) =>
    `$pbkdf2-sha${digest}$i=${count}$${"A".repeat(22)}$${"A".repeat(digest === 256 ? 43 : 86)}`;
  const scrypt = (parameters: string) => `$scrypt$${parameters}$${"A".repeat(22)}$${"A".repeat(43)}`;
  const betterAuth = `${"0a".repeat(16)}:${"9f".repeat(64)}`;
  const lines = (...hashes: string[]) =>
    hashes.map((passwordHash, n) => ({ email: `u${n}@example.com`, passwordHash }));
  const tooMany = [{ line: 5, problem: expect.stringContaining("one kind (algorithm and parameters) too many") }];

  describe("PBKDF2 of one digest", () => {
    const four = [pbkdf2(256, 1), pbkdf2(512, 1), scrypt("ln=14,r=8,p=1"), bcrypt];

    test("is one", async () => {
      expect(await importLines(lines(...four, scrypt("ln=15,r=8,p=1")))).toEqual(tooMany);
    });

    test("is no other with other iterations", async () => {
      const same = [`pbkdf2_sha256$260000$salt$${"A".repeat(43)}=`, pbkdf2(256, 3), pbkdf2(512, 4)];
      expect(await importLines(lines(...four, ...same))).toEqual({ created: 7, skipped: 0, uninvited: 0 });
    });
  });

  test("the work of one refused login is at most one second of CPU", async () => {
    const heavy = [scrypt("ln=17,r=8,p=1"), scrypt("ln=16,r=16,p=1"), pbkdf2(512, 50_000), pbkdf2(512, 300_000)];
    const problem =
      "passwordHash would make one refused login take 1.2 s of CPU; the stored kinds may take 1 s together";
    expect(await importLines(lines(...heavy))).toEqual([{ line: 4, problem }]);
    expect(await importLines(lines(...heavy.slice(0, 3)))).toEqual({ created: 3, skipped: 0, uninvited: 0 });
    expect(await importLines(lines(...heavy.slice(0, 3)))).toEqual({ created: 0, skipped: 3, uninvited: 0 });
  });

  describe("scrypt", () => {
    const four = ["ln=14,r=16,p=1", "ln=14,r=8,p=1", "ln=13,r=8,p=1", "ln=14,r=8,p=2"].map(scrypt);

    test("is one for each of its parameters", async () => {
      expect(await importLines(lines(...four, scrypt("ln=15,r=8,p=1")))).toEqual(tooMany);
    });

    test("of Better Auth is one of them", async () => {
      expect(await importLines(lines(...four, betterAuth))).toEqual({ created: 5, skipped: 0, uninvited: 0 });
    });

    test("leaves no place for another algorithm", async () => {
      await importLines(lines(...four, betterAuth));
      expect(await importLines([{ email: "one@example.com", passwordHash: pbkdf2(256, 1) }])).toHaveLength(1);
    });
  });
});

test("an import of more than one batch says how far it is", async () => {
  const lines = Array.from({ length: 10_001 }, (_, n) => ({ email: `user${n}@example.com` }));
  const written: [number, number][] = [];
  expect(await importLines(lines, (...progress) => written.push(progress))).toEqual({
    created: 10_001,
    skipped: 0,
    uninvited: 0,
  });
  expect(written).toEqual([
    [10_000, 10_001],
    [10_001, 10_001],
  ]);
});

test("an export of more than one batch has every line once", async () => {
  await latchkey.execute(
    "insert into users (id, email, created_at) select gen_random_uuid(), n || '@example.com', now() from generate_series(1, 1001) n",
  );
  const emails = (await exported()).map((user) => (user as { email: string }).email);
  expect([emails.length, new Set(emails).size]).toEqual([1_001, 1_001]);
});
