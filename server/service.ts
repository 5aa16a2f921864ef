import type { MikroORM } from "@mikro-orm/postgresql";
import type { Config } from "./config.server";
import type { JobQueue } from "./jobs";

/** What `start()` brought up, and every door works with. */
export interface Service {
  config: Readonly<Config>;
  orm: MikroORM;
  queue: JobQueue;
}

// remix-serve may evaluate the bundle twice in one process; a module's own variable would then exist twice.
const holder = globalThis as { latchkey?: Service | undefined };

export function provideService(service: Service | undefined): void {
  holder.latchkey = service;
}

export function service(): Service {
  if (!holder.latchkey) throw new Error("The service has not been started.");
  return holder.latchkey;
}
