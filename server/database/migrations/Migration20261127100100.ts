const { Migration } = await import("@mikro-orm/migrations");

/**
 * The index of the kinds of stored hashes covers scrypt and PBKDF2. Releases from 1.0.0 may run beside it, with the
 * index that they know.
 */
export class Migration20261127100100 extends Migration {
  override up(): void {
    this.addSql(
      `create index "users_password_kinds_index" on "users" (((coalesce(substring(password_hash from '^[$]argon2id[$]v=[0-9]+[$]m=[0-9]+,t=[0-9]+,p=[0-9]+'), '$2b' || substring(password_hash from '^[$]2[aby]([$][0-9]{2})[$]'), '$pbkdf2-sha' || substring(password_hash from '^[$]{0,1}pbkdf2[_-]sha(256|512)[$]') || '$i=' || lpad(substring(password_hash from '^[$]{0,1}pbkdf2[_-]sha[0-9]{3}[$i=]+([0-9]+)'), 7, '0'), substring(password_hash from '^[$]scrypt[$]ln=[0-9]+,r=[0-9]+,p=[0-9]+'), '$scrypt$ln=14,r=16,p=1' || substring(password_hash from '^[0-9a-f]{32}():')) collate "C")));`,
    );
  }

  override down(): void {
    this.addSql(`drop index "users_password_kinds_index";`);
  }
}
