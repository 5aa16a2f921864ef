const { Migration } = await import("@mikro-orm/migrations");

/**
 * Keeps the latest fifty events about mails of an account. A function's statement, unlike the statement that calls it,
 * sees what was committed while the caller waited for a lock. Releases from 1.0.0 may run beside it.
 */
export class Migration20261127120000 extends Migration {
  override up(): void {
    this.addSql(`create function trim_mail_events(uuid) returns void language sql as
      'delete from account_events where id in (
        select id from account_events where user_id = $1 and actor is null order by at desc, id offset 50)'`);
  }

  override down(): void {
    this.addSql("drop function trim_mail_events(uuid)");
  }
}
