import type { MigrationObject } from "@mikro-orm/core";
import { Migration20261121000000 } from "./Migration20261121000000";

/** Every migration, the oldest first: add a new one here, because a bundle has no folder to look into. */
export const migrationsList: MigrationObject[] = [{ name: "Migration20261121000000", class: Migration20261121000000 }];
