import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestProject } from "vitest/node";
import { loadConfig } from "#server/config";
import { migrate } from "#server/database/migrate";
import { openDatabase } from "#server/database/orm";
import { log } from "#server/log";
import { JobQueue } from "#server/queue/job-queue";
import { administer, databaseUrlOf } from "./postgres";

declare module "vitest" {
  interface ProvidedContext {
    /** A migrated database that each test file gets a copy of. */
    template: { kind: "embedded"; dump: string } | { kind: "postgres"; url: string; name: string };
  }
}

async function fill(databaseUrl: string): Promise<void> {
  const database = await openDatabase(databaseUrl);
  await migrate(database.orm);
  const queue = new JobQueue(database.orm, async () => {});
  await queue.open();
  await queue.stop();
  await database.close();
}

/** Migrates one database and hands it to every test file as a template: PGlite as a dump, PostgreSQL by name. */
export default async function setup(project: TestProject) {
  log.level = "silent";
  const url = process.env.DATABASE_URL;
  if (url && !url.startsWith("pglite:")) {
    const name = `latchkey_template_${process.pid}`;
    await administer(url, `create database ${name}`);
    await fill(databaseUrlOf(url, name));
    project.provide("template", { kind: "postgres", url, name });
    return () => administer(url, `drop database ${name} with (force)`);
  }
  const folder = await mkdtemp(join(tmpdir(), "latchkey-template-"));
  await fill(loadConfig({ DATABASE_URL: `pglite:${folder}/data` }).databaseUrl);
  const { PGlite } = await import("@electric-sql/pglite");
  const database = await PGlite.create(`${folder}/data/pglite`);
  const dump = join(folder, "dump.tar");
  await writeFile(dump, Buffer.from(await (await database.dumpDataDir("none")).arrayBuffer()));
  await database.close();
  project.provide("template", { kind: "embedded", dump });
  return () => rm(folder, { recursive: true });
}
