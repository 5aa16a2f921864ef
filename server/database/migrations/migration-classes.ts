import type { Constructor } from "@mikro-orm/core";
import type { Migration } from "@mikro-orm/migrations";

/** Migrations by their names, each loaded when it runs. */
export type MigrationClasses = Record<string, () => Promise<Constructor<Migration>>>;
