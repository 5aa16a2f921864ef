const { Migration } = await import("@mikro-orm/migrations");

/** The logout tokens of the provider that were used. Releases from 1.0.0 may run beside it. */
export class Migration20261125100000 extends Migration {
  override up(): void {
    this.addSql(`create table "logout_tokens" (
      "jti_hash" text not null,
      "expires_at" timestamptz not null,
      constraint "logout_tokens_pkey" primary key ("jti_hash")
    );`);
    this.addSql(`create index "logout_tokens_expires_at_index" on "logout_tokens" ("expires_at");`);
  }

  override down(): void {
    this.addSql(`drop table "logout_tokens";`);
  }
}
