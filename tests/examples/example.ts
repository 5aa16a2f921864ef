import { type ChildProcess, spawn } from "node:child_process";
import { chmod, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import net from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type IdentityProvider, startIdentityProvider } from "../../demo/identity-provider";
import { mailsIn } from "../support/printed-mails";
import { createEmptyDatabase, freePort, startServer } from "../support/server";
import { until } from "../support/until";

export type Proxy = "nginx" | "caddy";

/** The configuration file of each proxy, and the arguments that start it. */
const proxies: Record<Proxy, { file: string; args(folder: string, file: string): string[] }> = {
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

/** Starts a program of the system and waits until it accepts connections. */
async function startProgram(command: string, args: string[], port: number, env: Record<string, string>) {
  const path = `${process.env.PATH}:/usr/sbin`;
  const child: ChildProcess = spawn(command, args, { env: { ...process.env, PATH: path, ...env }, stdio: ["ignore", "pipe", "pipe"] });
  let output = "";
  child.stdout?.on("data", (chunk) => (output += chunk));
  child.stderr?.on("data", (chunk) => (output += chunk));
  child.once("error", (error) => (output += error.message));
  const ended = new Promise<void>((resolve) => child.once("close", () => resolve()));
  await until(async () => {
    if (child.exitCode !== null || child.pid === undefined) throw new Error(`${command} ended: ${output}`);
    return accepts(port);
  }, `${command} accepts connections`);
  return async () => {
    child.kill("SIGTERM");
    await ended;
  };
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
export async function startExample(proxy: Proxy): Promise<Example> {
  const ports = { public: await freePort(), latchkey: await freePort(), application: await freePort() };
  const url = `http://localhost:${ports.public}`;
  const [database, provider, folder] = await Promise.all([
    createEmptyDatabase(),
    startIdentityProvider(`${url}/auth/idp/callback`),
    mkdtemp(join(tmpdir(), "latchkey-example-")),
  ]);
  await chmod(folder, 0o755); // nginx started by root works as another user
  const server = await startServer({
    PORT: String(ports.latchkey),
    DATABASE_URL: database.url,
    APP_URL: url,
    TRUST_PROXY: "1",
    ...provider.settings,
  });
  const stopApplication = await startProgram("python3", ["examples/application.py"], ports.application, {
    PORT: String(ports.application),
  });

  const { file, args } = proxies[proxy];
  let configuration = await readFile(file, "utf8");
  for (const [name, port] of Object.entries(examplePorts)) {
    configuration = configuration.replaceAll(`:${port}`, `:${ports[name as keyof typeof ports]}`);
  }
  const copy = join(folder, "configuration");
  await writeFile(copy, configuration);
  const stopProxy = await startProgram(proxy, args(folder, copy), ports.public, { HOME: folder });

  return {
    url,
    provider,
    async mail(to, subject) {
      const find = () => mailsIn(server.output()).find((mail) => mail.to === to && mail.subject === subject);
      await until(() => find() !== undefined, `the mail "${subject}" to ${to}`);
      return find()?.text ?? "";
    },
    async stop() {
      await Promise.all([stopProxy(), stopApplication(), server.stop(), provider.stop()]);
      await database.drop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
