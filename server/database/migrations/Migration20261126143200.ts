const { Migration } = await import("@mikro-orm/migrations");

/** Since when mails to a user do not arrive, and what told so. Releases from 1.0.0 may run beside it. */
export class Migration20261126143200 extends Migration {
  override up(): void {
    this.addSql(
      `alter table "users" add column "undeliverable_at" timestamptz null, add column "undeliverable_by" text null;`,
    );
  }

  override down(): void {
    this.addSql(`alter table "users" drop column "undeliverable_at", drop column "undeliverable_by";`);
  }
}
