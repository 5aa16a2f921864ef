const { Migration } = await import("@mikro-orm/migrations");

/** The id with which a session began: its events name it. Releases from 1.0.0 may run beside it. */
export class Migration20261126143100 extends Migration {
  override up(): void {
    this.addSql(`alter table "sessions" add column "key" uuid null;`);
  }

  override down(): void {
    this.addSql(`alter table "sessions" drop column "key";`);
  }
}
