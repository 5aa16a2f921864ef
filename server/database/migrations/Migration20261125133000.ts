const { Migration } = await import("@mikro-orm/migrations");

/** Whether a passkey was created with user verification. Releases from 1.0.0 may run beside it. */
export class Migration20261125133000 extends Migration {
  override up(): void {
    this.addSql(`alter table "passkeys" add column "user_verified" boolean not null default true;`);
  }

  override down(): void {
    this.addSql(`alter table "passkeys" drop column "user_verified";`);
  }
}
