import { capTokens } from "../../accounts/access-tokens/access-tokens";
import { fillMissingRpIds } from "../../accounts/passkeys/relying-party";
import { fillMissingIssuers } from "../../accounts/provider/provider-identities";
import { capSessions } from "../../accounts/sessions/sessions";
import { hasEveryMigration, migrate, withStartLock } from "../../database/migrate";
import type { Database } from "../../database/orm";
import { query } from "../../database/unit-of-work";
import { prepareQueues } from "../../queue/boss";
import type { JobQueue } from "../../queue/job-queue";
import { prepareSigningKeys } from "../application/signing-keys";

/** Brings the schema and the queue's own up to date; one process does it at a time. */
export async function prepareSchema(database: Database, queue: JobQueue): Promise<void> {
  await withStartLock(database, async (orm) => {
    await migrate(orm);
    await fillMissingIssuers(orm.em.fork());
    await fillMissingRpIds(orm.em.fork());
    await capSessions(orm.em.fork());
    await capTokens(orm.em.fork());
    await prepareQueues(orm.em.getKnex());
    await prepareSigningKeys(orm.em.fork());
  });
  await queue.open();
}

/** Whether `prepareSchema` has run, by this version or a newer one. */
export async function isPrepared({ orm }: Database, queue: JobQueue): Promise<boolean> {
  const migrated = await hasEveryMigration(orm.em.fork()).catch(() => false);
  return migrated && (await queue.exists());
}

/** Whether the service's database is reached and has every migration. */
export const isReady = (): Promise<boolean> => query(hasEveryMigration).catch(() => false);
