const { Migration } = await import("@mikro-orm/migrations");

/** Suspension and groups. Releases from 1.1.0 may run beside it; they let suspended accounts sign in. */
export class Migration20261124000000 extends Migration {
  override up(): void {
    this.addSql(
      `alter table "users" add column "suspended_at" timestamptz null, add column "groups" text[] not null default '{}';`,
    );
  }

  override down(): void {
    this.addSql(`alter table "users" drop column "suspended_at", drop column "groups";`);
  }
}
