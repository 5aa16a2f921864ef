import { randomBytes } from "node:crypto";
import { hashPassword } from "#server/accounts/password-hashing";
import { sha256 } from "#server/accounts/tokens";
import { Device, Session, User } from "#server/database/entities";
import { migrate } from "#server/database/migrate";
import { openDatabase } from "#server/database/orm";
import { JobQueue } from "#server/queue/job-queue";

export const newAddresses = (count: number) =>
  Array.from({ length: count }, () => `${randomBytes(8).toString("hex")}@example.com`);

/** The device token of an account. */
export const deviceTokenOf = (email: string) => sha256(`device of ${email}`);

/** The session token of an account. */
export const sessionTokenOf = (email: string) => sha256(`session of ${email}`);

/**
 * Migrates the database and adds an account with a password and a device for each address. Call it before a server
 * opens the database.
 *
 * @param passwordHash the password's hash; by default with the parameters in force
 */
export async function addAccounts(databaseUrl: string, emails: string[], passwordHash?: string): Promise<void> {
  const database = await openDatabase(databaseUrl);
  try {
    await migrate(database.orm);
    const storedHash = passwordHash ?? (await hashPassword("correct horse battery staple"));
    const createdAt = new Date();
    for (let start = 0; start < emails.length; start += 1_000) {
      const users = emails.slice(start, start + 1_000).map((email) => ({
        id: crypto.randomUUID(),
        email,
        passwordHash: storedHash,
        idpId: null,
        name: null,
        pictureUrl: null,
        createdAt,
      }));
      await database.orm.em.fork().insertMany(User, users);
      const devices = users.map(({ id, email }) => ({
        tokenHash: sha256(deviceTokenOf(email)),
        user: id,
        createdAt,
        lastSeenAt: createdAt,
      }));
      await database.orm.em.fork().insertMany(Device, devices);
    }
    await database.orm.em.fork().execute("analyze users");
    await database.orm.em.fork().execute("analyze devices");
  } finally {
    await database.close();
  }
}

/** Signs the account of an address in. Call it before a server opens the database. */
export async function addSession(databaseUrl: string, email: string): Promise<void> {
  const database = await openDatabase(databaseUrl);
  try {
    const em = database.orm.em.fork();
    const user = await em.findOneOrFail(User, { email });
    const now = Date.now();
    const hour = 3_600_000; // ms
    await em.insert(Session, {
      id: crypto.randomUUID(),
      tokenHash: sha256(sessionTokenOf(email)),
      user: user.id,
      userAgent: null,
      createdAt: new Date(now + hour), // recent for longer than 15 minutes: the requests may take longer
      lastSeenAt: new Date(now),
      expiresAt: new Date(now + 24 * hour),
    });
  } finally {
    await database.close();
  }
}

/** Enqueues a reset mail for each address. Call it before a server opens the database. */
export async function addJobs(databaseUrl: string, emails: string[]): Promise<void> {
  const database = await openDatabase(databaseUrl);
  const queue = new JobQueue(database.orm, async () => undefined);
  try {
    await queue.open();
    for (const email of emails)
      await queue.enqueue(database.orm.em.fork(), { task: "mail_password_reset", email, language: "en" });
  } finally {
    await queue.stop();
    await database.close();
  }
}
