import type { Options } from "@mikro-orm/postgresql";
import { ownMigrations } from "../own";
import type { MigrationClasses } from "./migration-classes";

/** Every migration, the oldest first: `npm run format` writes their list. */
const migrations: MigrationClasses = {
  Migration20261121000000: async () => (await import("./Migration20261121000000")).Migration20261121000000,
  Migration20261122000000: async () => (await import("./Migration20261122000000")).Migration20261122000000,
  Migration20261122120000: async () => (await import("./Migration20261122120000")).Migration20261122120000,
  Migration20261122150000: async () => (await import("./Migration20261122150000")).Migration20261122150000,
  Migration20261122160000: async () => (await import("./Migration20261122160000")).Migration20261122160000,
  Migration20261123000000: async () => (await import("./Migration20261123000000")).Migration20261123000000,
  Migration20261124000000: async () => (await import("./Migration20261124000000")).Migration20261124000000,
  Migration20261124010000: async () => (await import("./Migration20261124010000")).Migration20261124010000,
  Migration20261124030000: async () => (await import("./Migration20261124030000")).Migration20261124030000,
  Migration20261125000000: async () => (await import("./Migration20261125000000")).Migration20261125000000,
  Migration20261125100000: async () => (await import("./Migration20261125100000")).Migration20261125100000,
  Migration20261125133000: async () => (await import("./Migration20261125133000")).Migration20261125133000,
  Migration20261126100000: async () => (await import("./Migration20261126100000")).Migration20261126100000,
  Migration20261126120000: async () => (await import("./Migration20261126120000")).Migration20261126120000,
  Migration20261126120100: async () => (await import("./Migration20261126120100")).Migration20261126120100,
  Migration20261126140000: async () => (await import("./Migration20261126140000")).Migration20261126140000,
  Migration20261126143000: async () => (await import("./Migration20261126143000")).Migration20261126143000,
  Migration20261126143100: async () => (await import("./Migration20261126143100")).Migration20261126143100,
  Migration20261126143200: async () => (await import("./Migration20261126143200")).Migration20261126143200,
  Migration20261127100000: async () => (await import("./Migration20261127100000")).Migration20261127100000,
  Migration20261127100100: async () => (await import("./Migration20261127100100")).Migration20261127100100,
  Migration20261127120000: async () => (await import("./Migration20261127120000")).Migration20261127120000,
  Migration20261128020000: async () => (await import("./Migration20261128020000")).Migration20261128020000,
  Migration20261128030000: async () => (await import("./Migration20261128030000")).Migration20261128030000,
  Migration20261128040000: async () => (await import("./Migration20261128040000")).Migration20261128040000,
  Migration20261128050000: async () => (await import("./Migration20261128050000")).Migration20261128050000,
  ...ownMigrations,
};

export const migrationNames = Object.keys(migrations);

/** The options of MikroORM's migrator. */
export async function migrationOptions(): Promise<NonNullable<Options["migrations"]>> {
  const migrationsList = await Promise.all(
    Object.entries(migrations).map(async ([name, load]) => ({ name, class: await load() })),
  );
  const path = "server/database/migrations";
  return { migrationsList, path, pathTs: path, snapshot: false, silent: true };
}
