import type { Options } from "@mikro-orm/postgresql";
import type { MigrationClasses } from "../migrations/migration-classes";

// The tables of what is built behind the login (docs/extending.md, "Build behind the door"). Releases leave this folder as it is.

/** Entities besides those of `entities.ts`. */
export const ownEntities: NonNullable<Options["entities"]> = [];

/** Migrations that run after those of `migrations/`, the oldest first. */
export const ownMigrations: MigrationClasses = {};
