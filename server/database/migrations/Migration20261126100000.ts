const { Migration } = await import("@mikro-orm/migrations");

/** When the provider last reported a user's logout. Releases from 1.0.0 may run beside it. */
export class Migration20261126100000 extends Migration {
  override up(): void {
    this.addSql(`alter table "users" add column "idp_logout_at" timestamptz null;`);
  }

  override down(): void {
    this.addSql(`alter table "users" drop column "idp_logout_at";`);
  }
}
