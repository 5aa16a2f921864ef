import net from "node:net";
import type { Config } from "../config";
import { StartError } from "../errors";

/** @param name names the port in the error's message */
function assertPortIsFree(port: number, host: string | undefined, name: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const probe = net.createServer();
    probe.once("error", (error: NodeJS.ErrnoException) => {
      reject(new StartError(`${name} cannot be used: ${error.code}.`));
    });
    probe.listen(port, host, () => probe.close(() => resolve()));
  });
}

/**
 * Called before the database is opened: remix-serve would take another port, and the mailed links would have the wrong
 * one. Not in a process of PROCESSES, where a probe would be handed connections of visitors.
 *
 * @throws StartError
 */
export async function assertPortsAreFree({ port, metrics }: Config): Promise<void> {
  const { HOST } = process.env;
  await assertPortIsFree(port, HOST, HOST ? `Port ${port} on HOST ${HOST}` : `Port ${port}`);
  if (metrics) {
    await assertPortIsFree(metrics.port, metrics.host, `METRICS_PORT ${metrics.port} on ${metrics.host}`);
  }
}
