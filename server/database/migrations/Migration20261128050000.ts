const { Migration } = await import("@mikro-orm/migrations");

/** The name for which each passkey was made. Releases from 1.0.0 may run beside it: theirs have none. */
export class Migration20261128050000 extends Migration {
  override up(): void {
    this.addSql(`alter table "passkeys" add column "rp_id" text null;`);
  }

  override down(): void {
    this.addSql(`alter table "passkeys" drop column "rp_id";`);
  }
}
