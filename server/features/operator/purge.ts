import { join } from "node:path";
import type { EntityKey, EntityName, FilterQuery } from "@mikro-orm/core";
import { LockMode, raw } from "@mikro-orm/postgresql";
import { unusedDevices } from "../../accounts/sessions/devices";
import { notLive } from "../../accounts/sessions/sessions";
import { outdatedEvents } from "../../accounts/users/history";
import { config } from "../../config";
import { folderOf } from "../../database/embedded";
import { keepUp } from "../../database/embedded-upkeep";
import {
  AccessToken,
  AccountEvent,
  Device,
  EmailChange,
  Invitation,
  LogoutToken,
  PasskeyChallenge,
  PasswordReset,
  Probe,
  RateLimit,
  Registration,
  Session,
  SigningKey,
} from "../../database/entities";
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
  const expired = { expiresAt: { $lte: now } };
  const sessions = await remove(Session, "id", notLive(now));
  if (sessions > 0) logEvent({ event: "session.ended", reason: "expired", count: sessions });
  const removed = [
    sessions,
    await remove(PasswordReset, "tokenHash", expired),
    await remove(Registration, "tokenHash", expired),
    await remove(Invitation, "tokenHash", expired),
    await remove(EmailChange, "tokenHash", expired),
    await remove(AccessToken, "id", expired),
    await remove(PasskeyChallenge, "challengeHash", expired),
    await remove(LogoutToken, "jtiHash", expired),
    await remove(Probe, "secretHash", expired),
    await remove(AccountEvent, "id", outdatedEvents(now)),
    await remove(Device, "tokenHash", unusedDevices(now)),
    await remove(SigningKey, "id", retired(now)),
    await remove(RateLimit, "key", { expire: { $lte: String(now.getTime()) } }),
  ];
  if (removed.includes(batch)) await enqueuePurge();
  const folder = embeddedFolder();
  if (folder !== null) await keepUp(join(folder, databaseFolder));
}

/** Removes up to a batch of rows by their key. Rows that another transaction has locked are in use and stay. */
function remove<Entity extends object>(
  entity: EntityName<Entity>,
  key: keyof Entity & string,
  where: FilterQuery<Entity>,
): Promise<number> {
  return unitOfWork(async (em) => {
    const rows = em.createQueryBuilder(entity).select(key as never);
    const some = rows.where(where as never).limit(batch);
    const { sql, bindings } = some.setLockMode(LockMode.PESSIMISTIC_PARTIAL_WRITE).getKnexQuery().toSQL();
    const column = em.getMetadata(entity).properties[key as EntityKey<Entity>].fieldNames[0];
    // As an array: PostgreSQL may run a subquery of `in` again for each row: slow, and with other rows each time.
    return em.nativeDelete(entity, {
      [raw(`${column} = any(array(${sql}))`, [...bindings])]: [],
    } as FilterQuery<Entity>);
  });
}

const enqueuePurge = () => query((em) => enqueue(em, { task: "purge_expired" }));

const embeddedFolder = () => folderOf(config().databaseUrl);
