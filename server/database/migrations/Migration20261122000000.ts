const { Migration } = await import("@mikro-orm/migrations");

/** Whose id `idp_id` is, an owner's decision to disconnect a provider, known browsers, and addresses being proven. */
export class Migration20261122000000 extends Migration {
  override up(): void {
    this.addSql(
      `alter table "users" add column "idp_issuer" text null, add column "idp_blocked_at" timestamptz null, drop constraint "users_idp_id_unique", add constraint "users_idp_unique" unique ("idp_id", "idp_issuer");`,
    );

    this.addSql(
      `create index "users_idp_issuer_missing_index" on "users" ("id") where idp_id is not null and idp_issuer is null;`,
    );

    this.addSql(
      `create table "devices" ("token_hash" text not null, "user_id" uuid not null, "created_at" timestamptz not null, "last_seen_at" timestamptz not null, constraint "devices_pkey" primary key ("token_hash"), constraint "devices_user_id_foreign" foreign key ("user_id") references "users" ("id") on update cascade on delete cascade);`,
    );
    this.addSql(`create index "devices_user_id_index" on "devices" ("user_id");`);
    this.addSql(`create index "devices_last_seen_at_index" on "devices" ("last_seen_at");`);

    this.addSql(
      `create table "email_changes" ("token_hash" text not null, "user_id" uuid not null, "email" text not null, "expires_at" timestamptz not null, constraint "email_changes_pkey" primary key ("token_hash"), constraint "email_changes_user_id_foreign" foreign key ("user_id") references "users" ("id") on update cascade on delete cascade);`,
    );
    this.addSql(`create index "email_changes_user_id_index" on "email_changes" ("user_id");`);
    this.addSql(`create index "email_changes_email_index" on "email_changes" ("email");`);
    this.addSql(`create index "email_changes_expires_at_index" on "email_changes" ("expires_at");`);
  }

  override down(): void {
    for (const table of ["email_changes", "devices"]) this.addSql(`drop table if exists "${table}"`);
    this.addSql(`drop index "users_idp_issuer_missing_index";`);
    this.addSql(
      `alter table "users" drop constraint "users_idp_unique", add constraint "users_idp_id_unique" unique ("idp_id"), drop column "idp_issuer", drop column "idp_blocked_at";`,
    );
  }
}
