const { Migration } = await import("@mikro-orm/migrations");

/** The language of the notices to an owner; null is the default one. A release before it may still run beside it. */
export class Migration20261123000000 extends Migration {
  override up(): void {
    this.addSql(`alter table "users" add column "language" text null;`);
  }

  override down(): void {
    this.addSql(`alter table "users" drop column "language";`);
  }
}
