import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { type IdentityProvider, startIdentityProvider } from "../../demo/identity-provider";
import { documentedCommands } from "../deploy/documented-commands";
import { runAsRoot, writeScript } from "../deploy/host";
import { publicHost, visitOverTls } from "../deploy/https-visitor";
import { type RunningProxy, startProxy } from "../deploy/proxies";
import type { MailService } from "../support/mail-service";
import { findProgram } from "../support/programs";
import { freePort, type RunningServer, startServer } from "../support/server";

const origin = `https://${publicHost}`;

/** Two machines of one Latchkey, in folders, behind nginx with deploy/nginx.conf. */
export class Site implements AsyncDisposable {
  readonly provider: IdentityProvider;
  readonly #proxy: RunningProxy;
  readonly #settings: Record<string, string>;
  readonly #machines: RunningServer[] = [];
  readonly #started: RunningServer[] = [];

  private constructor(provider: IdentityProvider, proxy: RunningProxy, settings: Record<string, string>) {
    this.provider = provider;
    this.#proxy = proxy;
    this.#settings = settings;
  }

  static async start(databaseUrl: string, mails: MailService, folder: string): Promise<Site> {
    const provider = await startIdentityProvider(`${origin}/auth/idp/callback`);
    const ports = [await freePort(), await freePort()];
    const proxy = await startProxy("nginx", ...ports);
    const service = { APP_URL: origin, HOST: "127.0.0.1", TRUST_PROXY: "true", DATABASE_URL: databaseUrl };
    const site = new Site(provider, proxy, { ...mails.settings, ...provider.settings, ...service });
    await site.#writeStandIns();
    try {
      for (const port of ports) site.#machines.push(await site.#run(folder, port));
    } catch (error) {
      await site.stop();
      throw error;
    }
    return site;
  }

  async #run(folder: string, port: number): Promise<RunningServer> {
    const server = await startServer({ ...this.#settings, PORT: String(port) }, undefined, folder);
    this.#started.push(server);
    return server;
  }

  /** `nginx` and `systemctl` for the nginx of this site. */
  async #writeStandIns(): Promise<void> {
    const { folder } = this.#proxy;
    await mkdir(join(folder, "bin"));
    const nginx = `exec ${findProgram("nginx")} -e stderr -p ${folder} -c ${folder}/nginx.conf "$@"`;
    await writeScript(join(folder, "bin/nginx"), [nginx]);
    await writeScript(join(folder, "bin/systemctl"), [
      '[ "$*" = "reload nginx" ]',
      `kill -HUP $(cat ${folder}/nginx.pid)`,
    ]);
  }

  #runOnProxy(name: string, { port }: RunningServer): void {
    const { folder } = this.#proxy;
    const commands = documentedCommands(name)
      .replaceAll("/etc/nginx/conf.d", folder)
      .replaceAll("10.0.0.11:3000", `127.0.0.1:${port}`);
    runAsRoot(commands, { PATH: `${folder}/bin:/usr/bin:/bin` });
  }

  /** Replaces what one machine runs by the build of a folder, as docs/operation.md says. @returns the exit status */
  async replace(index: number, folder: string): Promise<number | NodeJS.Signals | null> {
    const machine = this.#machines[index]!;
    this.#runOnProxy("take a machine out", machine);
    const status = await machine.stop();
    this.#machines[index] = await this.#run(folder, machine.port);
    this.#runOnProxy("put a machine back", machine);
    return status;
  }

  visitor = (address: string) => visitOverTls(this.#proxy.port, this.#proxy.ca, address);

  /** What every process has logged, those that were replaced included. */
  output = () => this.#started.map((server) => server.output()).join("");

  async stop(): Promise<void> {
    for (const machine of this.#machines) await machine.stop();
    await this.#proxy.stop();
    await this.provider.stop();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }
}
