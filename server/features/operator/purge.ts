import { join } from "node:path";
import type { EntityName, FilterQuery } from "@mikro-orm/core";
import { LockMode, raw } from "@mikro-orm/postgresql";
import { unusedDevices } from "../../accounts/sessions/devices";
import { notLive } from "../../accounts/sessions/sessions";
import { outdatedEvents } from "../../accounts/users/history";
import { config } from "../../config";
import { folderOf } from "../../database/embedded";
import { keepUp } from "../../database/embedded-upkeep";
import { AccountEvent, Device, entities, RateLimit, Session, SigningKey } from "../../database/entities";
import { databaseFolder } from "../../database/folder-lock";
import { query, unitOfWork } from "../../database/unit-of-work";
import { errorFields, log, logEvent } from "../../log";
import { reportEndedJobs } from "../../queue/given-up";
import { enqueue } from "../../queue/job-queue";
import { retired } from "../application/signing-keys";

const firstAfter = 5_000; // ms, so that it does not slow the start

/** Enqueues a purge at intervals. @returns a function that stops this */
export function schedulePurge(): () => void {
  const purge = () =>
    void enqueuePurge().catch((error) => log.error(errorFields(error), "The purge has not been enqueued."));
  const timers = [setTimeout(purge, firstAfter), setInterval(purge, interval())];
  return () => timers.forEach(clearTimeout);
}

const interval = () => (embeddedFolder() === null ? 600_000 : 60_000); // ms; a busy minute writes some 30 MB of the embedded log

const batch = 5_000; // rows of each table in one job: one transaction locks no more, and other jobs can run in between

/** Removes rows that can no longer be used, and enqueues another job while there may be more. Logs jobs that ended. */
export async function purgeExpired(): Promise<void> {
  await reportEndedJobs();
  const now = new Date();
  const sessions = await remove(Session, notLive(now));
  if (sessions > 0) logEvent({ event: "session.ended", reason: "expired", count: sessions });
  const removed = [
    sessions,
    await remove(AccountEvent, outdatedEvents(now)),
    await remove(Device, unusedDevices(now)),
    await remove(SigningKey, retired(now)),
    await remove(RateLimit, { expire: { $lte: String(now.getTime()) } }),
  ];
  for (const name of expiring) removed.push(await remove<{ expiresAt: Date }>(name, { expiresAt: { $lte: now } }));
  if (removed.includes(batch)) await enqueuePurge();
  const folder = embeddedFolder();
  if (folder !== null) await keepUp(join(folder, databaseFolder));
}

/** The entities that end at their `expiresAt`. A session can end earlier. */
const expiring = entities
  .filter((entity) => entity !== Session && "expiresAt" in entity.meta.properties)
  .map(({ meta }) => meta.className);

/** Removes up to a batch of rows by their key. Rows that another transaction has locked are in use and stay. */
function remove<Entity extends object>(entity: EntityName<Entity>, where: FilterQuery<Entity>): Promise<number> {
  return unitOfWork(async (em) => {
    const key = em.getMetadata(entity).getPrimaryProp();
    const rows = em.createQueryBuilder(entity).select(key.name as never);
    const some = rows.where(where as never).limit(batch);
    const { sql, bindings } = some.setLockMode(LockMode.PESSIMISTIC_PARTIAL_WRITE).getKnexQuery().toSQL();
    // As an array: PostgreSQL may run a subquery of `in` again for each row: slow, and with other rows each time.
    return em.nativeDelete(entity, {
      [raw(`${key.fieldNames[0]} = any(array(${sql}))`, [...bindings])]: [],
    } as FilterQuery<Entity>);
  });
}

const enqueuePurge = () => query((em) => enqueue(em, { task: "purge_expired" }));

const embeddedFolder = () => folderOf(config().databaseUrl);
