const { Migration } = await import("@mikro-orm/migrations");

/** The keys with which browsers bind sessions to their device. Releases from 1.0.0 may run beside it. */
export class Migration20261126140000 extends Migration {
  override up(): void {
    this.addSql(
      `create table "session_bindings" ("id" text not null, "session_id" uuid not null, "offered_until" timestamptz not null, "public_key" jsonb null, "challenges" jsonb not null, "cookies" jsonb not null, "bound_from" timestamptz null, "refused_at" timestamptz null, constraint "session_bindings_pkey" primary key ("id"), constraint "session_bindings_session_id_unique" unique ("session_id"), constraint "session_bindings_session_id_foreign" foreign key ("session_id") references "sessions" ("id") on update cascade on delete cascade);`,
    );
  }

  override down(): void {
    this.addSql(`drop table "session_bindings";`);
  }
}
