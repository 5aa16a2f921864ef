const { Migration } = await import("@mikro-orm/migrations");

/** Since when the account page asks about the provider's link. Releases from 1.0.0 may run beside it. */
export class Migration20261126120100 extends Migration {
  override up(): void {
    this.addSql(`alter table "users" add column "idp_questioned_at" timestamptz null;`);
  }

  override down(): void {
    this.addSql(`alter table "users" drop column "idp_questioned_at";`);
  }
}
