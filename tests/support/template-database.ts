import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestProject } from "vitest/node";
import { loadConfig } from "#server/config";
import { migrate } from "#server/database/migrate";
import { openDatabase } from "#server/database/orm";
import { log } from "#server/log";
import { processValue } from "#server/process/value";
import { prepareQueues } from "#server/queue/boss";
import { administer, databaseUrlOf } from "./postgres";

/** The folder is that of an embedded database, of which commands beside a service need a copy on every database. */
type Template = { folder: string } & (
  | { kind: "embedded"; dump: string }
  | { kind: "postgres"; url: string; name: string }
);

declare module "vitest" {
  interface ProvidedContext {
    template: Template;
  }
}

interface CreatedTemplate {
  template: Template;
  remove(): Promise<void>;
}

async function fill(databaseUrl: string): Promise<void> {
  const database = await openDatabase(databaseUrl);
  await migrate(database.orm);
  await prepareQueues(database.orm.em.getKnex());
  await database.close();
}

async function createOnPostgres(url: string): Promise<CreatedTemplate> {
  const name = `latchkey_template_${process.pid}`;
  await administer(url, `create database ${name}`);
  await fill(databaseUrlOf(url, name));
  const { template, remove } = await createEmbedded();
  return {
    template: { kind: "postgres", url, name, folder: template.folder },
    async remove() {
      await remove();
      const copies = await administer(url, `select datname from pg_database where datname like '${name}%'`);
      for (const { datname } of copies) await administer(url, `drop database ${datname} with (force)`);
    },
  };
}

async function createEmbedded(): Promise<CreatedTemplate> {
  const home = await mkdtemp(join(tmpdir(), "latchkey-template-"));
  const folder = join(home, "data");
  await fill(loadConfig({ DATABASE_URL: `pglite:${folder}` }).databaseUrl);
  const { PGlite } = await import("@electric-sql/pglite");
  const database = await PGlite.create(join(folder, "pglite"));
  const dump = join(home, "dump.tar");
  await writeFile(dump, Buffer.from(await (await database.dumpDataDir("none")).arrayBuffer()));
  await database.close();
  const remove = () => rm(home, { recursive: true, force: true });
  return { template: { kind: "embedded", folder, dump }, remove };
}

const created = processValue<Promise<CreatedTemplate>>("test-template");

/** Migrates one database, of which each test file gets a copy. */
export default async function setup(project: TestProject) {
  log.level = "silent";
  const umask = process.umask();
  const url = process.env.DATABASE_URL;
  created.current ??= url && !url.startsWith("pglite:") ? createOnPostgres(url) : createEmbedded();
  const { template, remove } = await created.current;
  process.umask(umask); // which the embedded database sets, and the workers inherit
  project.provide("template", template);
  return remove;
}
