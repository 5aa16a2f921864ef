import { randomBytes } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "vitest";
import { openDatabase } from "#server/database/orm";
import { startIdentityProvider } from "../../demo/identity-provider";
import { start, temporaryFolder } from "../deploy/host";
import type { Certificate } from "../support/certificates";
import { latchkey } from "../support/command";
import { isRefused } from "../support/connections";
import { sendPlainly } from "../support/http";
import { identityTokens } from "../support/identity-key";
import { freePort, type RunningProcess, startServer } from "../support/server";
import { createDatabase } from "../support/template-copy";
import { until } from "../support/until";
import { Visitor } from "../support/visitor";

export type ProxyName = "nginx" | "caddy";

/** The configuration file of each proxy, and the arguments that start it. */
const proxies: Record<ProxyName, { file: string; args(folder: string, file: string): string[] }> = {
  nginx: { file: "examples/nginx.conf", args: (folder, file) => ["-e", "stderr", "-p", folder, "-c", file] },
  caddy: { file: "examples/Caddyfile", args: (_, file) => ["run", "--adapter", "caddyfile", "--config", file] },
};

/** What is installed. Texts have the ports of the examples: 8080 (public), 3000 (Latchkey) and 8000 (application). */
interface Installation {
  proxy: ProxyName;
  configuration: string;
  settings: Record<string, string> & { APP_URL: string };
  application?: Record<string, string>;
}

export const newWebhookSecret = () => `whsec_${randomBytes(32).toString("base64")}`;

/** The files of `examples/`, and the settings of `examples/run`. */
export async function onOneHost(proxy: ProxyName): Promise<Installation> {
  const origin = "http://localhost:8080";
  const WEBHOOK_SECRET = newWebhookSecret();
  return {
    proxy,
    configuration: await readFile(proxies[proxy].file, "utf8"),
    settings: {
      APP_URL: origin,
      TRUST_PROXY: "1",
      ...identityTokens(),
      WEBHOOK_URL: "http://127.0.0.1:8000/webhooks",
      WEBHOOK_SECRET,
      WEBHOOK_SESSIONS: "on",
    },
    application: {
      WEBHOOK_SECRET,
      JWKS_URL: "http://127.0.0.1:3000/.well-known/jwks.json",
      ISSUER: origin,
      AUDIENCE: origin,
    },
  };
}

/** The same over https, with a certificate whose files are in the folder. */
export async function overTls(installation: Installation, folder: string, { key, cert }: Certificate) {
  const [keyFile, certFile] = [join(folder, "key.pem"), join(folder, "cert.pem")];
  await Promise.all([writeFile(keyFile, key), writeFile(certFile, cert)]);
  const secure = (text: string) => text.replace(/^http:/, "https:");
  const configuration = installation.configuration
    .replace(
      "listen 127.0.0.1:8080;",
      `listen 127.0.0.1:8080 ssl; ssl_certificate ${certFile}; ssl_certificate_key ${keyFile};`,
    )
    .replace("admin off", "admin off\n\tauto_https disable_redirects")
    .replace("http://localhost:8080 {", `https://localhost:8080 {\n\ttls ${certFile} ${keyFile}`);
  const { settings } = installation;
  return { ...installation, configuration, settings: { ...settings, APP_URL: secure(settings.APP_URL) } };
}

/** With what the comments "For a group" say, for the group staff. */
export const forStaff = (text: string) =>
  text
    .replace('set $groups "";', 'set $groups "group=staff";')
    .replace(/(?<=^\t*uri \/auth\/verify\?)$/m, "group=staff");

/** Takes the `#` off the lines below the comments with this text. A line that begins with a capital is a comment. */
const withLinesFor = (purpose: string) => (text: string) =>
  text.replace(
    new RegExp(`(# .*${purpose}.*\\n)((?:[ \\t]*# (?![A-Z]).*\\n)+)`, "g"),
    (_, comment: string, lines: string) => comment + lines.replaceAll(/^(\s*)# /gm, "$1"),
  );

export const withPreflights = withLinesFor("CORS preflights");
export const withRecentSignIn = withLinesFor("recent sign-in");
export const withPrograms = withLinesFor("For programs");

/** What README shows of an application on a sibling host. Caddy signs the certificates itself. */
export async function onSiblingHosts(): Promise<Installation> {
  const readme = await readFile("README.md", "utf8");
  const [, environment = "", sites = ""] =
    /\n\*\*On sibling hosts\*\*[\s\S]*?```sh\n([\s\S]*?)```[\s\S]*?```\n([\s\S]*?)```/.exec(readme) ?? [];
  const { APP_URL = "", ...others } = Object.fromEntries(
    environment
      .trim()
      .split("\n")
      .map((line) => line.split("=", 2).map((part) => part.replace(/^https:.*/, "$&:8080"))),
  );
  const options =
    "{\n admin off\n local_certs\n skip_install_trust\n auto_https disable_redirects\n https_port 8080\n}\n";
  return { proxy: "caddy", configuration: options + sites, settings: { APP_URL, ...others } };
}

/** Starts a program and waits until it accepts connections. */
export async function startListening(
  command: string[],
  port: number,
  env: Record<string, string>,
): Promise<RunningProcess> {
  const program = start(command, { cwd: process.cwd(), env });
  const accepts = async () => !(await isRefused(port));
  await Promise.race([program.waitFor(/(?!)/), until(accepts, `${command[0]} accepts connections`)]);
  return program;
}

export type StartApplication = (port: number, env: Record<string, string>) => Promise<{ stop(): Promise<unknown> }>;

export const python = "/usr/bin/python3"; // Debian's, which has python3-jwt

export const startApplication: StartApplication = (port, env) =>
  startListening([python, "examples/application.py"], port, { PORT: String(port), ...env });

export async function register(example: Example, email: string): Promise<Visitor> {
  const visitor = new Visitor(example.url, undefined, sendPlainly);
  expect(await visitor.register(example.server, email)).toMatchObject({ status: 302 });
  return visitor;
}

export type Example = Awaited<ReturnType<typeof startExample>>;

/** Starts Latchkey, an application and a proxy. Only the ports are replaced. */
export async function startExample(
  { proxy, configuration, settings, application: env = {} }: Installation,
  startBehind = startApplication,
  newDatabase = createDatabase,
) {
  const ports = { public: await freePort(), latchkey: await freePort(), application: await freePort() };
  const withPorts = (text: string) =>
    text
      .replaceAll(":3000", `:${ports.latchkey}`)
      .replaceAll(":8000", `:${ports.application}`)
      .replace(/\b8080\b/g, String(ports.public));
  const allWithPorts = (texts: Record<string, string>) =>
    Object.fromEntries(Object.entries(texts).map(([name, value]) => [name, withPorts(value)]));
  const url = withPorts(settings.APP_URL);
  const [database, provider, place] = await Promise.all([
    newDatabase(),
    startIdentityProvider(`${url}/auth/idp/callback`),
    temporaryFolder(),
  ]);
  const serverSettings = {
    PORT: String(ports.latchkey),
    DATABASE_URL: database.url,
    ...provider.settings,
    ...allWithPorts(settings),
  };
  let server = await startServer(serverSettings);
  const application = await startBehind(ports.application, {
    DATABASE: join(place.folder, "application.sqlite"),
    ...allWithPorts(env),
  });

  const file = join(place.folder, "configuration");
  await writeFile(file, withPorts(configuration));
  const command = [proxy, ...proxies[proxy].args(place.folder, file)];
  const running = await startListening(command, ports.public, { HOME: place.folder });

  return {
    url,
    withPorts,
    get server() {
      return server;
    },
    /** Runs a command of Latchkey beside it. */
    command: (...words: string[]) => latchkey(words, serverSettings),
    /** Changes the database while Latchkey is stopped. */
    async execute(sql: string) {
      await server.stop();
      const { orm, close } = await openDatabase(database.url);
      await orm.em.fork().execute(sql);
      await close();
      server = await startServer(serverSettings);
    },
    mail: async (to: string, subject: string) => (await server.mail(to, subject)).text,
    async stop() {
      await Promise.all([running.stop(), application.stop(), server.stop(), provider.stop()]);
      await Promise.all([database.drop(), place.remove()]);
    },
  };
}
