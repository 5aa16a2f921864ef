import { readFile, writeFile } from "node:fs/promises";
import net from "node:net";
import { join } from "node:path";
import { type IdentityProvider, startIdentityProvider } from "../../demo/identity-provider";
import { start, temporaryFolder } from "../deploy/host";
import { mailsIn } from "../support/printed-mails";
import { createEmptyDatabase, freePort, type RunningProcess, startServer } from "../support/server";
import { until } from "../support/until";

export type ProxyName = "nginx" | "caddy";

/** The configuration file of each proxy, and the arguments that start it. */
const proxies: Record<ProxyName, { file: string; args(folder: string, file: string): string[] }> = {
  nginx: { file: "examples/nginx.conf", args: (folder, file) => ["-e", "stderr", "-p", folder, "-c", file] },
  caddy: { file: "examples/Caddyfile", args: (_, file) => ["run", "--adapter", "caddyfile", "--config", file] },
};

/** The ports that the examples name. */
const examplePorts = { public: "8080", latchkey: "3000", application: "8000" };

function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = net.connect(port, "127.0.0.1");
    socket.once("error", () => resolve(false));
    socket.once("connect", () => {
      socket.destroy();
      resolve(true);
    });
  });
}

/** Starts a program and waits until it accepts connections. */
async function startListening(command: string[], port: number, env: Record<string, string>): Promise<RunningProcess> {
  const program = start(command, { cwd: process.cwd(), env });
  const failed = program.ended.then((status) => {
    throw new Error(`${command[0]} ended (${status}):\n${program.output()}`);
  });
  failed.catch(() => {}); // also when it is stopped
  await Promise.race([failed, until(() => accepts(port), `${command[0]} accepts connections`)]);
  return program;
}

export interface Example {
  /** The public origin. */
  url: string;
  provider: IdentityProvider;
  /** Resolves with the text of the first mail with this subject to this address. */
  mail(to: string, subject: string): Promise<string>;
  stop(): Promise<void>;
}

/** Starts Latchkey, the application of `examples/` and a proxy with its file, in which only the ports are replaced. */
export async function startExample(proxy: ProxyName): Promise<Example> {
  const ports = { public: await freePort(), latchkey: await freePort(), application: await freePort() };
  const url = `http://localhost:${ports.public}`;
  const [database, provider, place] = await Promise.all([
    createEmptyDatabase(),
    startIdentityProvider(`${url}/auth/idp/callback`),
    temporaryFolder(),
  ]);
  const server = await startServer({
    PORT: String(ports.latchkey),
    DATABASE_URL: database.url,
    APP_URL: url,
    TRUST_PROXY: "1",
    ...provider.settings,
  });
  const application = await startListening(["python3", "examples/application.py"], ports.application, {
    PORT: String(ports.application),
  });

  const { file, args } = proxies[proxy];
  let configuration = await readFile(file, "utf8");
  for (const [name, port] of Object.entries(examplePorts)) {
    configuration = configuration.replaceAll(`:${port}`, `:${ports[name as keyof typeof ports]}`);
  }
  const copy = join(place.folder, "configuration");
  await writeFile(copy, configuration);
  const command = [proxy, ...args(place.folder, copy)];
  const running = await startListening(command, ports.public, { HOME: place.folder });

  return {
    url,
    provider,
    async mail(to, subject) {
      const find = () => mailsIn(server.output()).find((mail) => mail.to === to && mail.subject === subject);
      await until(() => find() !== undefined, `the mail "${subject}" to ${to}`);
      return find()?.text ?? "";
    },
    async stop() {
      await Promise.all([running.stop(), application.stop(), server.stop(), provider.stop()]);
      await Promise.all([database.drop(), place.remove()]);
    },
  };
}
