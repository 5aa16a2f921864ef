const { Migration } = await import("@mikro-orm/migrations");

/** When passkeys may no longer be those of who owns the address. Releases from 1.0.0 may run beside it. */
export class Migration20261125000000 extends Migration {
  override up(): void {
    this.addSql(`alter table "passkeys" add column "questioned_at" timestamptz null;`);
  }

  override down(): void {
    this.addSql(`alter table "passkeys" drop column "questioned_at";`);
  }
}
