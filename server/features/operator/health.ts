import { hasEveryMigration } from "../../database/migrate";
import { query } from "../../database/unit-of-work";

const readyFor = 1_000; // ms; strangers may ask, too
let askedAt = Number.NEGATIVE_INFINITY;
let ready: Promise<boolean>;

export function isReady(): Promise<boolean> {
  if (performance.now() - askedAt < readyFor) return ready;
  askedAt = performance.now();
  ready = query(hasEveryMigration).catch(() => false);
  return ready;
}
