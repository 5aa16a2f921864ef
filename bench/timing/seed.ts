import { randomBytes } from "node:crypto";
import { hashPassword } from "#server/accounts/passwords/password-hashing";
import { sha256 } from "#server/crypto/tokens";
import { Device, Session, User } from "#server/database/entities";
import { migrate } from "#server/database/migrate";
import { type Database, openDatabase } from "#server/database/orm";
import { unknownVisitor } from "../../tests/support/accounts";

export const newAddresses = (count: number) =>
  Array.from({ length: count }, () => `${randomBytes(8).toString("hex")}@example.com`);

export const deviceTokenOf = (email: string) => sha256(`device of ${email}`);

export const sessionTokenOf = (email: string) => sha256(`session of ${email}`);

/** Does work on a database that no server has open. */
async function onDatabase<T>(url: string, work: (database: Database) => Promise<T>): Promise<T> {
  const database = await openDatabase(url);
  try {
    return await work(database);
  } finally {
    await database.close();
  }
}

/** @param passwordHash by default with the parameters in force */
export const addAccounts = (
  databaseUrl: string,
  emails: string[],
  passwordHash?: string,
  suspendedAt?: Date,
): Promise<void> =>
  onDatabase(databaseUrl, async ({ orm }) => {
    await migrate(orm);
    const storedHash = passwordHash ?? (await hashPassword(unknownVisitor, "correct horse battery staple"));
    const createdAt = new Date();
    for (let start = 0; start < emails.length; start += 1_000) {
      const users = emails.slice(start, start + 1_000).map((email) => ({
        id: crypto.randomUUID(),
        email,
        passwordHash: storedHash,
        idpId: null,
        name: null,
        pictureUrl: null,
        suspendedAt: suspendedAt ?? null,
        createdAt,
      }));
      await orm.em.fork().insertMany(User, users);
      const devices = users.map(({ id, email }) => ({
        tokenHash: sha256(deviceTokenOf(email)),
        user: id,
        createdAt,
        lastSeenAt: createdAt,
      }));
      await orm.em.fork().insertMany(Device, devices);
    }
    await orm.em.fork().execute("analyze users, devices");
  });

export const addSession = (databaseUrl: string, email: string): Promise<unknown> =>
  onDatabase(databaseUrl, async ({ orm }) => {
    const em = orm.em.fork();
    const user = await em.findOneOrFail(User, { email });
    const now = Date.now();
    const hour = 3_600_000; // ms
    return em.insert(Session, {
      id: crypto.randomUUID(),
      tokenHash: sha256(sessionTokenOf(email)),
      user: user.id,
      userAgent: null,
      createdAt: new Date(now + hour), // recent for longer than 15 minutes: the requests may take longer
      lastSeenAt: new Date(now),
      expiresAt: new Date(now + 24 * hour),
    });
  });

export const countJobs = (databaseUrl: string, emails: string[]): Promise<number> =>
  onDatabase(databaseUrl, async ({ orm }) => {
    const count = "select count(distinct data->>'email')::int as count from pgboss.job where data->>'email' in (?)";
    const [row] = await orm.em.fork().execute<{ count: number }[]>(count, [emails]);
    return row?.count ?? 0;
  });
