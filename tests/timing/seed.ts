import { randomBytes } from "node:crypto";
import { hashPassword } from "#server/accounts/password-hashing";
import { User } from "#server/database/entities";
import { migrate } from "#server/database/migrate";
import { openDatabase } from "#server/database/orm";
import { JobQueue } from "#server/queue/job-queue";

export const newAddresses = (count: number) =>
  Array.from({ length: count }, () => `${randomBytes(8).toString("hex")}@example.com`);

/** Migrates the database, which no server has open yet, and adds an account with a password for each address. */
export async function addAccounts(databaseUrl: string, emails: string[]): Promise<void> {
  const database = await openDatabase(databaseUrl);
  try {
    await migrate(database.orm);
    const passwordHash = await hashPassword("correct horse battery staple");
    const createdAt = new Date();
    for (let start = 0; start < emails.length; start += 1_000) {
      const users = emails.slice(start, start + 1_000).map((email) => ({
        id: crypto.randomUUID(),
        email,
        passwordHash,
        idpId: null,
        name: null,
        pictureUrl: null,
        createdAt,
      }));
      await database.orm.em.fork().insertMany(User, users);
    }
    await database.orm.em.fork().execute("analyze users");
  } finally {
    await database.close();
  }
}

/** Leaves a reset mail for each address waiting in the queue of the database, which no server has open yet. */
export async function addJobs(databaseUrl: string, emails: string[]): Promise<void> {
  const database = await openDatabase(databaseUrl);
  const queue = new JobQueue(database.orm, async () => undefined);
  try {
    await queue.open();
    for (const email of emails) await queue.enqueue(database.orm.em.fork(), { task: "mail_password_reset", email });
  } finally {
    await queue.stop();
    await database.close();
  }
}
