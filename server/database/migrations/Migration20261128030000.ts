const { Migration } = await import("@mikro-orm/migrations");

/** Addresses that operators invited. Releases from 1.0.0 may run beside it. */
export class Migration20261128030000 extends Migration {
  override up(): void {
    this.addSql(
      `create table "invitations" ("token_hash" text not null, "email" text not null, "groups" text[] not null default '{}', "name" text null, "created_at" timestamptz not null, "expires_at" timestamptz not null, constraint "invitations_pkey" primary key ("token_hash"), constraint "invitations_email_unique" unique ("email"));`,
    );
    this.addSql(`create index "invitations_expires_at_index" on "invitations" ("expires_at");`);
  }

  override down(): void {
    this.addSql(`drop table "invitations";`);
  }
}
