const { Migration } = await import("@mikro-orm/migrations");

/** The keys of the identity tokens. Releases from 1.0.0 may run beside it. */
export class Migration20261124010000 extends Migration {
  override up(): void {
    this.addSql(
      `create table "signing_keys" ("id" text not null, "public_key" jsonb not null, "encrypted_private_key" text not null, "signs_from" timestamptz not null, constraint "signing_keys_pkey" primary key ("id"));`,
    );
  }

  override down(): void {
    this.addSql(`drop table if exists "signing_keys";`);
  }
}
