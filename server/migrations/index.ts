import type { Constructor } from "@mikro-orm/core";
import type { Migration } from "@mikro-orm/migrations";
import type { Options } from "@mikro-orm/postgresql";

/**
 * Every migration, the oldest first, loaded when it has to run: add a new one, because a bundle has no folder to look
 * into.
 */
const migrations: Record<string, () => Promise<Constructor<Migration>>> = {
  Migration20261121000000: async () => (await import("./Migration20261121000000")).Migration20261121000000,
};

export const migrationNames = Object.keys(migrations);

/** What MikroORM's migrator has to know. */
export async function migrationOptions(): Promise<NonNullable<Options["migrations"]>> {
  const migrationsList = await Promise.all(
    Object.entries(migrations).map(async ([name, load]) => ({ name, class: await load() })),
  );
  return { migrationsList, path: "server/migrations", pathTs: "server/migrations", snapshot: false };
}
