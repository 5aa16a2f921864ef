import { expect, test } from "vitest";
import { problemsOf } from "../../lint/migrations";

const migration = (statements: string[], says = "Releases from 1.1.0 may run beside it.") =>
  [
    `/** What it is for. ${says} */`,
    "export class Migration20270101000000 extends Migration {",
    "  override up(): void {",
    ...statements.map((sql) => `    this.addSql(\n      \`${sql};\`,\n    );`),
    "  }",
    "  override down(): void {",
    '    this.addSql(`alter table "users" drop column "nickname";`);',
    "  }",
    "}",
  ].join("\n");

const table = `create table "notes" ("id" uuid not null, "user_id" uuid not null, constraint "notes_pkey" primary key ("id"))`;

test.each([
  [table],
  [table, `create index "notes_user_id_index" on "notes" ("user_id")`],
  [
    table,
    `alter table "notes" add constraint "notes_user_id_foreign" foreign key ("user_id") references "users" ("id")`,
  ],
  [table, `insert into "notes" ("id") values (gen_random_uuid())`],
  [`create index "users_password_kinds_index" on "users" ((lower(password_hash)))`],
  [`alter table "users" add column "nickname" text null`],
  [`alter table "users" add column "nickname" varchar(64) null, add column "tags" text[] not null default '{}'`],
  [`alter table "users" add column "seen_at" timestamptz not null default now()`],
  [`alter table "users" add column "level" int not null default 0`],
])("a migration that only adds is allowed: %s", (...statements) => {
  expect(problemsOf(migration(statements), ["1.1.0"])).toEqual([]);
});

test.each([
  `alter table "users" drop column "name"`,
  `alter table "users" add column "nickname" text null, drop column "name"`,
  `alter table "users" rename column "name" to "full_name"`,
  `alter table "users" rename to "people"`,
  `drop table "devices"`,
  `alter table "users" alter column "name" type varchar(100)`,
  `alter table "users" alter column "name" set not null`,
  `alter table "users" add column "nickname" text not null`,
  `alter table "users" add column "number" bigserial not null`,
  `alter table "users" add column "key" uuid not null default gen_random_uuid()`,
  `alter table "users" add column "lower" text generated always as (lower(email)) stored`,
  `alter table "users" add column "team" uuid null references "teams" ("id")`,
  `alter table "users" add constraint "users_name_unique" unique ("name")`,
  `create unique index "users_name_unique" on "users" ("name")`,
  `create index "users_name_index" on "users" ("name")`,
  `update "users" set "name" = trim("name")`,
  `delete from "sessions"`,
  "lock table users",
  `${table}; drop table "devices"`,
])("a migration beside which the last release cannot run is refused: %s", (sql) => {
  expect(problemsOf(migration([sql]), ["1.1.0"])).toHaveLength(1);
});

test("a migration that locks two existing tables is refused: it could deadlock with requests", () => {
  const columns = ["users", "sessions"].map((name) => `alter table "${name}" add column "team" text null`);
  expect(problemsOf(migration(columns), ["1.1.0"])).toEqual([
    "needs a migration of its own: alter table sessions add column team text null",
  ]);
});

test.each(["", "A release before it may still run.", "Releases from 1.2.0 may run beside it."])(
  "a migration that names no release which may run beside it is refused: %s",
  (says) => {
    expect(problemsOf(migration([table], says), ["1.1.0", "1.0.0"])).toHaveLength(1);
  },
);

test.each(["this.addSql(drop(name))", 'await this.execute("drop table users")'])(
  "a statement that is not a literal in addSql is refused: %s",
  (code) => {
    const source = migration([table]).replace("this.addSql(", `${code}; this.addSql(`);
    expect(problemsOf(source, ["1.1.0"])).toEqual([expect.stringContaining("not a literal of addSql")]);
  },
);
