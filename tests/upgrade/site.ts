import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { startIdentityProvider } from "../../demo/identity-provider";
import { documentedCommands } from "../deploy/documented-commands";
import { runAsRoot, writeScript } from "../deploy/host";
import { publicHost, visitOverTls } from "../deploy/https-visitor";
import { startProxy } from "../deploy/proxies";
import type { MailService } from "../support/mail-service";
import { findProgram } from "../support/programs";
import { freePort, type RunningServer, startServer } from "../support/server";

const origin = `https://${publicHost}`;

/** Two machines of one Latchkey, in folders, behind nginx with deploy/nginx.conf. */
export async function startSite(databaseUrl: string, mails: MailService, firstFolder: string) {
  const provider = await startIdentityProvider(`${origin}/auth/idp/callback`);
  const ports = [await freePort(), await freePort()];
  const proxy = await startProxy("nginx", ...ports);
  const service = { APP_URL: origin, HOST: "127.0.0.1", TRUST_PROXY: "true", DATABASE_URL: databaseUrl };
  const settings = { ...mails.settings, ...provider.settings, ...service };
  const started: RunningServer[] = [];
  const machines: RunningServer[] = [];

  async function run(folder: string, port: number): Promise<RunningServer> {
    const server = await startServer({ ...settings, PORT: String(port) }, undefined, folder);
    started.push(server);
    return server;
  }

  async function stop(): Promise<void> {
    for (const machine of machines) await machine.stop();
    await proxy.stop();
    await provider.stop();
  }

  // `nginx` and `systemctl` for the nginx of this site.
  const bin = join(proxy.folder, "bin");
  await mkdir(bin);
  const nginx = `exec ${findProgram("nginx")} -e stderr -p ${proxy.folder} -c ${proxy.folder}/nginx.conf "$@"`;
  await writeScript(join(bin, "nginx"), [nginx]);
  const reload = ['[ "$*" = "reload nginx" ]', `kill -HUP $(cat ${proxy.folder}/nginx.pid)`];
  await writeScript(join(bin, "systemctl"), reload);

  function runOnProxy(name: string, { port }: RunningServer): void {
    const commands = documentedCommands(name)
      .replaceAll("/etc/nginx/conf.d", proxy.folder)
      .replaceAll("10.0.0.11:3000", `127.0.0.1:${port}`);
    runAsRoot(commands, { PATH: `${bin}:/usr/bin:/bin` });
  }

  try {
    for (const port of ports) machines.push(await run(firstFolder, port));
  } catch (error) {
    await stop();
    throw error;
  }

  return {
    provider,
    /** Replaces what one machine runs by the build of a folder, as docs/operation.md says. @returns the exit status */
    async replace(index: number, folder: string): Promise<number | NodeJS.Signals | null> {
      const machine = machines[index]!;
      runOnProxy("take a machine out", machine);
      const status = await machine.stop();
      machines[index] = await run(folder, machine.port);
      runOnProxy("put a machine back", machine);
      return status;
    },
    visitor: (address: string) => visitOverTls(proxy.port, proxy.ca, address),
    /** What every process has logged, those that were replaced included. */
    output: () => started.map((server) => server.output()).join(""),
    stop,
    [Symbol.asyncDispose]: stop,
  };
}
