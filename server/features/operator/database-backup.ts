import { chown, mkdir, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import * as z from "zod";
import { version } from "../../../package.json";
import { embeddedConnection } from "../../database/connection";
import { fillFolder, listenOnSocket } from "../../database/embedded";
import {
  EmailChange,
  Invitation,
  PasskeyChallenge,
  PasswordReset,
  Registration,
  Session,
} from "../../database/entities";
import { openFlushed, postgresMajor } from "../../database/flushed-files";
import { hasNewerMigration } from "../../database/migrate";
import { connect, type Database } from "../../database/orm";
import { ErrorWithReason } from "../../errors";

/** The last file of a backup, which is a tar archive: without it, the backup was cut short. */
const labelFile = "latchkey.json";

const label = z.object({ release: z.string(), postgres: z.string(), madeAt: z.coerce.date() });

/** @param take is awaited for each piece of the archive @returns whether no other backup is being made */
export async function backUp({ orm, connection }: Database, take: (piece: Buffer) => Promise<void>): Promise<boolean> {
  const { create } = await import("tar");
  await orm.em.fork().execute("checkpoint");
  const madeAt = new Date();
  const made = await connection.withCopy?.(async (files) => {
    const names = await readdir(files, { recursive: true });
    await writeFile(join(files, labelFile), JSON.stringify({ release: version, postgres: postgresMajor, madeAt }));
    const options = { cwd: files, portable: true, noDirRecurse: true, maxReadSize: 256 * 1024 };
    const archive = create(options, [...names, labelFile]);
    for await (const piece of archive) await take(piece);
    return true;
  });
  return made ?? false;
}

/** @returns when the backup was made @throws RestoreRefused, and the folder has no database */
export async function restore(folder: string, archive: Readable, asItWas: boolean): Promise<Date> {
  let madeAt = new Date(0);
  const wasFree = await fillFolder(folder, async (files) => {
    await extract(archive, files);
    madeAt = (await readLabel(files)).madeAt;
    await prepare(files, asItWas);
    await handOver(dirname(files), files);
  });
  if (!wasFree) throw new RestoreRefused("folder_is_not_empty");
  return madeAt;
}

async function extract(archive: Readable, files: string): Promise<void> {
  const { Unpack } = await import("tar");
  await mkdir(files, { mode: 0o700 });
  const filter = (_path: string, entry: object) => "type" in entry && /^(File|Directory)$/.test(String(entry.type));
  const unpack = new Unpack({ cwd: files, strict: true, filter });
  unpack.on("error", () => {}); // of one archive it emits several
  await pipeline(archive, unpack as unknown as NodeJS.WritableStream).catch(({ code }) => {
    if (String(code).startsWith("TAR_")) throw new RestoreRefused("not_a_backup");
    throw Object.assign(new Error("The archive cannot be extracted."), { code });
  });
}

async function readLabel(files: string) {
  const text = readFile(join(files, labelFile), "utf8");
  const { data } = label.safeParse(await text.then(JSON.parse).catch(() => null));
  if (!data) throw new RestoreRefused("not_a_backup");
  if (data.postgres !== postgresMajor) throw new RestoreRefused("other_postgres");
  await rm(join(files, labelFile));
  return data;
}

/** What a copy must not bring back: whoever signed out since, and what was mailed or told since. */
const endedByRestore = [Session, PasswordReset, Registration, Invitation, EmailChange, PasskeyChallenge];

async function prepare(files: string, asItWas: boolean): Promise<void> {
  const pglite = await openFlushed(files).catch(() => {
    throw new RestoreRefused("not_a_backup");
  });
  const { orm, close } = await connect(embeddedConnection(await listenOnSocket(pglite)));
  try {
    if (await hasNewerMigration(orm.em.fork())) throw new RestoreRefused("backup_is_newer");
    if (asItWas) return;
    await orm.em.fork().transactional(async (em) => {
      for (const { meta } of endedByRestore) await em.execute(`delete from ${meta.tableName}`);
      await em.execute("delete from pgboss.job");
    });
  } finally {
    await close();
  }
}

export type RestoreRefusal = "folder_is_not_empty" | "not_a_backup" | "other_postgres" | "backup_is_newer";

export class RestoreRefused extends ErrorWithReason<RestoreRefusal> {}

/** To the owner of the folder, if root restores. */
async function handOver(folder: string, files: string): Promise<void> {
  if (process.getuid?.() !== 0) return;
  const { uid, gid } = await stat(folder);
  const below = await readdir(files, { recursive: true });
  for (const path of [join(folder, "lock"), files, ...below.map((name) => join(files, name))])
    await chown(path, uid, gid);
}
