const { Migration } = await import("@mikro-orm/migrations");

/** The history of an account. Releases from 1.0.0 may run beside it. */
export class Migration20261126143000 extends Migration {
  override up(): void {
    this.addSql(`create table "account_events" (
      "id" uuid not null default gen_random_uuid(),
      "user_id" uuid not null,
      "at" timestamptz not null,
      "type" text not null,
      "actor" text null,
      "way" text null,
      "browser" text null,
      "system" text null,
      "session_key" uuid null,
      "detail" text null,
      constraint "account_events_pkey" primary key ("id"),
      constraint "account_events_user_id_foreign" foreign key ("user_id") references "users" ("id")
        on update cascade on delete cascade
    );`);
    this.addSql(`create index "account_events_user_id_at_index" on "account_events" ("user_id", "at");`);
    this.addSql(`create index "account_events_at_index" on "account_events" ("at");`);
  }

  override down(): void {
    this.addSql(`drop table "account_events";`);
  }
}
