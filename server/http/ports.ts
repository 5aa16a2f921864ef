import net from "node:net";
import type { Config } from "../config";
import { StartError } from "../errors";

/**
 * Called before the database is opened: remix-serve would take another port, and the mailed links would have the wrong
 * one. Not in a process of PROCESSES, where a probe would be handed connections of visitors.
 *
 * @throws StartError
 */
export function assertPortIsFree({ host, port }: Pick<Config, "host" | "port">): Promise<void> {
  return new Promise((resolve, reject) => {
    const probe = net.createServer();
    probe.once("error", ({ code }: NodeJS.ErrnoException) => {
      reject(new StartError(`Port ${port}${host ? ` on HOST ${host}` : ""} cannot be used: ${code}.`));
    });
    probe.listen(port, host ?? undefined, () => probe.close(() => resolve()));
  });
}
