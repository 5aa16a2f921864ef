const { Migration } = await import("@mikro-orm/migrations");

/** The history of an account, and whether its mails arrive. Releases from 1.0.0 may run beside it. */
export class Migration20261126143000 extends Migration {
  override up(): void {
    this.addSql(`
      create table "account_events" (
        "id" uuid not null default gen_random_uuid(), "user_id" uuid not null, "at" timestamptz not null,
        "type" text not null, "actor" text null, "way" text null, "browser" text null, "system" text null,
        "session_key" uuid null, "detail" text null, constraint "account_events_pkey" primary key ("id"));
    `);
    this.addSql(`
      alter table "account_events" add constraint "account_events_user_id_foreign"
        foreign key ("user_id") references "users" ("id") on update cascade on delete cascade;
    `);
    this.addSql(`create index "account_events_user_id_at_index" on "account_events" ("user_id", "at");`);
    this.addSql(`create index "account_events_at_index" on "account_events" ("at");`);
    this.addSql(`alter table "sessions" add column "key" uuid null;`);
    this.addSql(`
      alter table "users" add column "undeliverable_at" timestamptz null, add column "undeliverable_by" text null;
    `);
  }

  override down(): void {
    this.addSql(`alter table "users" drop column "undeliverable_at", drop column "undeliverable_by";`);
    this.addSql(`alter table "sessions" drop column "key";`);
    this.addSql(`drop table "account_events";`);
  }
}
