import { randomBytes } from "node:crypto";
import { cpSync, linkSync, mkdirSync, readdirSync } from "node:fs";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { inject } from "vitest";
import { type Connection, connectionFor, embeddedConnection } from "#server/database/connection";
import { listenOnSocket } from "#server/database/embedded";
import { administer, databaseUrlOf } from "./postgres";
import type { TestDatabase } from "./server";

async function copyOnPostgres(url: string, template: string): Promise<TestDatabase> {
  const name = `${template}_${randomBytes(8).toString("hex")}`;
  await administer(url, `create database ${name} template ${template}`);
  return {
    url: databaseUrlOf(url, name),
    drop: async () => void (await administer(url, `drop database ${name} with (force)`)),
  };
}

export async function connectToCopy(): Promise<Connection> {
  const template = inject("template");
  if (template.kind === "embedded") {
    const { PGlite } = await import("@electric-sql/pglite");
    const pglite = await PGlite.create({ loadDataDir: new Blob([await readFile(template.dump)]) });
    return embeddedConnection(await listenOnSocket(pglite));
  }
  const { url, drop } = await copyOnPostgres(template.url, template.name);
  return { ...(await connectionFor(url)), close: drop };
}

export async function createDatabase(): Promise<TestDatabase> {
  const template = inject("template");
  return template.kind === "postgres" ? copyOnPostgres(template.url, template.name) : createFolder();
}

/**
 * PostgreSQL's own databases template1 and template0. No test writes to their files, which are more than half of all: a
 * folder gets links to them. A copy of all files takes three times the CPU.
 */
const neverWritten = ["pglite/base/1", "pglite/base/4"];

/** A migrated embedded database, in a new folder if none is named. */
export async function createFolder(named?: string): Promise<TestDatabase> {
  const folder = named ?? (await mkdtemp(join(tmpdir(), "latchkey-data-")));
  const template = inject("template").folder;
  const isWritten = (path: string) => !neverWritten.includes(relative(template, path));
  cpSync(template, folder, { recursive: true, filter: isWritten });
  for (const name of neverWritten) {
    mkdirSync(join(folder, name));
    for (const file of readdirSync(join(template, name)))
      linkSync(join(template, name, file), join(folder, name, file));
  }
  return { url: `pglite:${folder}`, drop: () => rm(folder, { recursive: true, force: true }) };
}
