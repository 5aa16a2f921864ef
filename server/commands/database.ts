import { openDatabase } from "../database/orm";
import { type CopyRefusal, copyDatabase } from "../features/database-copy.server";
import { prepareSchema } from "../features/schema.server";
import { postgresUrlProblem } from "../settings/database-url";
import { type Command, CommandError, defineCommand, UsageError } from "./command";
import { statementLimit, withDatabase, withUnpreparedDatabase } from "./open-database";
import { withProgress } from "./progress";

const migrate = defineCommand({
  name: "database migrate",
  operands: [],
  options: {},
  summary: "run the missing migrations",
  details: "Runs the migrations that the database does not have yet. Each start of the service does the same.",
  async run() {
    await withUnpreparedDatabase(prepareSchema);
    process.stdout.write("The database is up to date.\n");
  },
});

const refusals: Record<CopyRefusal, string> = {
  source_is_newer: "A newer version has migrated the database: use its command line.",
  target_is_too_old: "Nothing was copied: TO needs PostgreSQL 15 or newer.",
  target_is_not_empty: "Nothing was copied: the database TO is not empty.",
};

async function copyTo(url: string) {
  return withDatabase(async (source) => {
    const target = await openDatabase(url, statementLimit);
    try {
      return await withProgress("Copying", ({ show }) => copyDatabase(source, target, show));
    } finally {
      await target.close();
    }
  });
}

/** An error of PostgreSQL; its message names no row. */
const isDatabaseError = (error: unknown): error is Error =>
  error instanceof Error && "code" in error && /^[0-9A-Z]{5}$/.test(String(error.code));

const copy = defineCommand({
  name: "database copy",
  operands: ["TO"],
  options: {},
  summary: "copy everything to an empty PostgreSQL database",
  details:
    "Copies the database of the settings, e.g. the embedded one, to the empty database of the URL TO\n" +
    "(postgresql://user@host/database): accounts, sessions, links, counters, and the jobs that wait or were given up. TO\n" +
    "is migrated first, all in one transaction: after a failure it is as it was. Stop the service before, so that nothing\n" +
    "is missing in the copy; afterwards set DATABASE_URL to TO and start it. The environment variable PGPASSWORD can hold\n" +
    "the password of TO.",
  async run([to]) {
    const problem = postgresUrlProblem(to);
    if (problem !== null) throw new UsageError(`TO ${problem}.`);
    const copied = await copyTo(to).catch((error: unknown) => {
      if (isDatabaseError(error)) throw new CommandError(`Nothing was copied: ${error.message.split("\n")[0]}.`);
      throw error;
    });
    if (typeof copied === "string") throw new CommandError(refusals[copied]);
    const width = Math.max(...copied.map(({ table }) => table.length));
    for (const { table, rows } of copied) process.stdout.write(`${table.padEnd(width)}  ${rows}\n`);
  },
});

export const databaseCommands: Command[] = [migrate, copy];
