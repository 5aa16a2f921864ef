const { Migration } = await import("@mikro-orm/migrations");

/** The index of the kinds of stored hashes covers bcrypt. */
export class Migration20261122150000 extends Migration {
  override up(): void {
    this.addSql(`drop index "users_password_kind_index";`);
    this.addSql(
      `create index "users_password_kind_index" on "users" ((coalesce(substring(password_hash from '^[$]argon2id[$]v=[0-9]+[$]m=[0-9]+,t=[0-9]+,p=[0-9]+'), '$2b' || substring(password_hash from '^[$]2[aby]([$][0-9]{2})[$]'))));`,
    );
  }

  override down(): void {
    this.addSql(`drop index "users_password_kind_index";`);
    this.addSql(
      `create index "users_password_kind_index" on "users" (substring(password_hash from '^[$]argon2id[$]v=[0-9]+[$]m=[0-9]+,t=[0-9]+,p=[0-9]+'));`,
    );
  }
}
