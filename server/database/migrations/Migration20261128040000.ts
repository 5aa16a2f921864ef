const { Migration } = await import("@mikro-orm/migrations");

/** What `doctor --outside` shows the service. Releases from 1.0.0 may run beside it. */
export class Migration20261128040000 extends Migration {
  override up(): void {
    this.addSql(
      `create table "probes" ("secret_hash" text not null, "expires_at" timestamptz not null, constraint "probes_pkey" primary key ("secret_hash"));`,
    );
    this.addSql(`create index "probes_expires_at_index" on "probes" ("expires_at");`);
  }

  override down(): void {
    this.addSql(`drop table "probes";`);
  }
}
