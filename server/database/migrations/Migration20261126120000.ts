const { Migration } = await import("@mikro-orm/migrations");

/** How a session began: a question about a way to sign in is not answered by a session that began by it. Releases from 1.0.0 may run beside it. */
export class Migration20261126120000 extends Migration {
  override up(): void {
    this.addSql(`alter table "sessions" add column "way" text null, add column "credential_id" text null;`);
  }

  override down(): void {
    this.addSql(`alter table "sessions" drop column "way", drop column "credential_id";`);
  }
}
