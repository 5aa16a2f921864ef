import type { Options } from "@mikro-orm/postgresql";
import type { MigrationClasses } from "../migrations/migration-classes";

// The tables of your own pages (docs/extending.md, "Build behind the door"). Releases do not change this folder.

export const ownEntities: NonNullable<Options["entities"]> = [];

/** Migrations that run after those of `migrations/`, the oldest first. */
export const ownMigrations: MigrationClasses = {};
