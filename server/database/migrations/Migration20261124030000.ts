const { Migration } = await import("@mikro-orm/migrations");

/** Passkeys. Releases from 1.0.0 may run beside it; they let nobody sign in with one. */
export class Migration20261124030000 extends Migration {
  override up(): void {
    this.addSql(
      `create table "passkeys" ("credential_id" text not null, "user_id" uuid not null, "public_key" text not null, "counter" bigint not null, "transports" text[] not null, "backed_up" boolean not null, "name" text not null, "created_at" timestamptz not null, "last_used_at" timestamptz null, constraint "passkeys_pkey" primary key ("credential_id"), constraint "passkeys_user_id_foreign" foreign key ("user_id") references "users" ("id") on update cascade on delete cascade);`,
    );
    this.addSql(`create index "passkeys_user_id_index" on "passkeys" ("user_id");`);
    this.addSql(
      `create table "passkey_challenges" ("challenge_hash" text not null, "expires_at" timestamptz not null, constraint "passkey_challenges_pkey" primary key ("challenge_hash"));`,
    );
    this.addSql(`create index "passkey_challenges_expires_at_index" on "passkey_challenges" ("expires_at");`);
  }

  override down(): void {
    this.addSql(`drop table "passkey_challenges", "passkeys";`);
  }
}
