const { Migration } = await import("@mikro-orm/migrations");

/** The groups that the provider gives. Releases from 1.0.0 may run beside it. */
export class Migration20261127100000 extends Migration {
  override up(): void {
    this.addSql(`alter table "users" add column "idp_groups" text[] not null default '{}';`);
  }

  override down(): void {
    this.addSql(`alter table "users" drop column "idp_groups";`);
  }
}
