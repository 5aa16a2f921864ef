const { Migration } = await import("@mikro-orm/migrations");

/** The tokens of programs. Releases from 1.0.0 may run beside it. */
export class Migration20261128020000 extends Migration {
  override up(): void {
    this.addSql(
      `create table "access_tokens" ("id" uuid not null, "user_id" uuid not null, "name" text not null, "token_hash" text not null, "origin" text not null, "created_at" timestamptz not null, "expires_at" timestamptz not null, "last_used_at" timestamptz null, constraint "access_tokens_pkey" primary key ("id"), constraint "access_tokens_token_hash_unique" unique ("token_hash"), constraint "access_tokens_user_id_foreign" foreign key ("user_id") references "users" ("id") on update cascade on delete cascade);`,
    );
    this.addSql(`create index "access_tokens_user_id_index" on "access_tokens" ("user_id");`);
    this.addSql(`create index "access_tokens_expires_at_index" on "access_tokens" ("expires_at");`);
  }

  override down(): void {
    this.addSql(`drop table "access_tokens";`);
  }
}
