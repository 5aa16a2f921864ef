import { hasEveryMigration } from "../database/migrate";
import { query } from "../database/unit-of-work";

/** Whether the database answers and has every migration that this process knows. */
export async function isReady(): Promise<boolean> {
  try {
    return await query(hasEveryMigration);
  } catch {
    return false;
  }
}
