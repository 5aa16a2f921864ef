import net from "node:net";
import type { Config } from "../config";
import { StartError } from "../errors";

/**
 * Called before the database is opened: remix-serve would take another port, and the mailed links would have the wrong
 * one. Not in a process of PROCESSES, where a probe would be handed connections of visitors.
 */
export async function assertPortIsFree({ host, port }: Pick<Config, "host" | "port">): Promise<void> {
  const probe = net.createServer();
  await listen(probe, port, host, `Port ${port}${host ? ` on HOST ${host}` : ""}`);
  await new Promise((resolve) => probe.close(resolve));
}

/** @throws StartError when the port cannot be used */
export function listen(server: net.Server, port: number, host: string | null, name: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", ({ code }: NodeJS.ErrnoException) => {
      reject(new StartError(`${name} cannot be used: ${code}.`));
    });
    server.listen(port, host ?? undefined, resolve);
  });
}
