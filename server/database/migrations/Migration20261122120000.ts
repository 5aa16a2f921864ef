const { Migration } = await import("@mikro-orm/migrations");

/** Finds the parameters that stored hashes have without reading every user. */
export class Migration20261122120000 extends Migration {
  override up(): void {
    this.addSql(
      `create index "users_password_kind_index" on "users" (substring(password_hash from '^[$]argon2id[$]v=[0-9]+[$]m=[0-9]+,t=[0-9]+,p=[0-9]+'));`,
    );
  }

  override down(): void {
    this.addSql(`drop index "users_password_kind_index";`);
  }
}
