const { Migration } = await import("@mikro-orm/migrations");

export class Migration20261121000000 extends Migration {
  override up(): void {
    this.addSql(
      `create table "password_resets" ("token_hash" text not null, "email" text not null, "expires_at" timestamptz not null, constraint "password_resets_pkey" primary key ("token_hash"));`,
    );
    this.addSql(`create index "password_resets_email_index" on "password_resets" ("email");`);
    this.addSql(`create index "password_resets_expires_at_index" on "password_resets" ("expires_at");`);

    this.addSql(
      `create table "rate_limits" ("key" varchar(255) not null, "points" int not null default 0, "expire" bigint null, constraint "rate_limits_pkey" primary key ("key"));`,
    );
    this.addSql(`create index "rate_limits_expire_index" on "rate_limits" ("expire");`);

    this.addSql(
      `create table "registrations" ("token_hash" text not null, "email" text not null, "expires_at" timestamptz not null, constraint "registrations_pkey" primary key ("token_hash"));`,
    );
    this.addSql(`create index "registrations_email_index" on "registrations" ("email");`);
    this.addSql(`create index "registrations_expires_at_index" on "registrations" ("expires_at");`);

    this.addSql(
      `create table "users" ("id" uuid not null, "email" text not null, "password_hash" text null, "idp_id" text null, "name" text null, "picture_url" text null, "created_at" timestamptz not null, constraint "users_pkey" primary key ("id"), constraint users_email_normalized check (email = lower(email collate "C") and email ~ '^[!-~]+$'));`,
    );
    this.addSql(`alter table "users" add constraint "users_email_unique" unique ("email");`);
    this.addSql(`alter table "users" add constraint "users_idp_id_unique" unique ("idp_id");`);

    this.addSql(
      `create table "sessions" ("id" uuid not null, "token_hash" text not null, "user_id" uuid not null, "user_agent" text null, "created_at" timestamptz not null, "last_seen_at" timestamptz not null, "expires_at" timestamptz not null, constraint "sessions_pkey" primary key ("id"));`,
    );
    this.addSql(`alter table "sessions" add constraint "sessions_token_hash_unique" unique ("token_hash");`);
    this.addSql(`create index "sessions_user_id_index" on "sessions" ("user_id");`);
    this.addSql(`create index "sessions_last_seen_at_index" on "sessions" ("last_seen_at");`);
    this.addSql(`create index "sessions_expires_at_index" on "sessions" ("expires_at");`);

    this.addSql(
      `alter table "sessions" add constraint "sessions_user_id_foreign" foreign key ("user_id") references "users" ("id") on update cascade on delete cascade;`,
    );
  }

  override down(): void {
    for (const table of ["sessions", "users", "password_resets", "registrations", "rate_limits"]) {
      this.addSql(`drop table if exists "${table}"`);
    }
  }
}
