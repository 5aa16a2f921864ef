const { Migration } = await import("@mikro-orm/migrations");

/** A random id of the installation, by which `latchkey doctor` recognises the service at `APP_URL`. */
export class Migration20261122160000 extends Migration {
  override up(): void {
    this.addSql(`create table "installation" ("id" uuid not null, constraint "installation_pkey" primary key ("id"));`);
    this.addSql(`insert into "installation" ("id") values (gen_random_uuid());`);
  }

  override down(): void {
    this.addSql(`drop table if exists "installation";`);
  }
}
