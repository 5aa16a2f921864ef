import type { Command } from "commander";
import { openDatabase } from "../database/orm";
import { type CopyRefusal, copyDatabase } from "../features/operator/database-copy";
import { prepareSchema } from "../features/operator/schema";
import { postgresUrlProblem } from "../settings/database-url";
import { statementLimit, withDatabase, withUnpreparedDatabase } from "./open-database";
import { CommandError, print } from "./program";

export function addDatabaseCommands(database: Command): void {
  database
    .command("migrate")
    .summary("run the missing migrations")
    .description("Runs the migrations that the database does not have yet. Each start of the service does the same.")
    .action(migrate);
  database
    .command("copy <TO>")
    .summary("copy everything to an empty PostgreSQL database")
    .description(
      "Copies the database of the settings, e.g. the embedded one, to the empty database of the URL TO " +
        "(postgresql://user@host/database): accounts, sessions, links, counters, and the jobs that wait or were given " +
        "up. TO is migrated first, all in one transaction: after a failure it is as it was. Stop the service before, so " +
        "that nothing is missing in the copy; afterwards set DATABASE_URL to TO and start it. The environment variable " +
        "PGPASSWORD can hold the password of TO.",
    )
    .action(copy);
}

async function migrate(): Promise<void> {
  await withUnpreparedDatabase(prepareSchema);
  print("The database is up to date.");
}

const refusals: Record<CopyRefusal, string> = {
  source_is_newer: "A newer version has migrated the database: use its command line.",
  target_is_too_old: "Nothing was copied: TO needs PostgreSQL 15 or newer.",
  target_is_not_empty: "Nothing was copied: the database TO is not empty.",
};

async function copy(to: string, _options: object, command: Command): Promise<void> {
  const problem = postgresUrlProblem(to);
  if (problem !== null) command.error(`TO ${problem}.`);
  const copied = await copyTo(to).catch((error: unknown) => {
    if (isDatabaseError(error)) throw new CommandError(`Nothing was copied: ${error.message.split("\n")[0]}.`);
    throw error;
  });
  if (typeof copied === "string") throw new CommandError(refusals[copied]);
  const width = Math.max(...copied.map(({ table }) => table.length));
  for (const { table, rows } of copied) print(`${table.padEnd(width)}  ${rows}`);
}

const copyTo = (url: string) =>
  withDatabase(async (source) => {
    const target = await openDatabase(url, null, statementLimit);
    try {
      return await copyDatabase(source, target);
    } finally {
      await target.close();
    }
  });

/** An error of PostgreSQL; its message names no row. */
const isDatabaseError = (error: unknown): error is Error =>
  error instanceof Error && "code" in error && /^[0-9A-Z]{5}$/.test(String(error.code));
