import { execFileSync } from "node:child_process";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createAuthority } from "../support/certificates";
import { freePort, type RunningProcess } from "../support/server";
import { until } from "../support/until";
import { asStranger, isRoot, start, stranger, temporaryFolder } from "./host";
import { publicHost } from "./https-visitor";

export type RunningProxy = Awaited<ReturnType<typeof startProxy>>;

interface Place {
  folder: string;
  port: number;
  httpPort: number;
  upstreams: number[];
}

/** Replaces each text, which the file must have. */
function substitute(file: string, replacements: [from: string, to: string][]): string {
  return replacements.reduce((text, [from, to]) => {
    if (!text.includes(from)) throw new Error(`The file has no ${from}`);
    return text.replaceAll(from, to);
  }, file);
}

/** nginx with deploy/nginx.conf, as an ordinary user. Debian's nginx.conf includes such a file in the same way. */
async function startNginx({ folder, port, httpPort, upstreams }: Place): Promise<RunningProcess> {
  const site = substitute(await readFile("deploy/nginx.conf", "utf8"), [
    ["listen 443 ", `listen ${port} `],
    ["listen [::]:443 ", `listen [::]:${port} `],
    ["listen 80;", `listen ${httpPort};`],
    ["listen [::]:80;", `listen [::]:${httpPort};`],
    ["server 127.0.0.1:3000;", upstreams.map((upstream) => `server 127.0.0.1:${upstream};`).join("\n  ")],
    ["/etc/letsencrypt/live/login.example.com/fullchain.pem", join(folder, "cert.pem")],
    ["/etc/letsencrypt/live/login.example.com/privkey.pem", join(folder, "key.pem")],
    ["/var/log/nginx/", `${folder}/`],
  ]);
  await writeFile(join(folder, "latchkey.conf"), site);
  const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map((name) => `${name}_temp_path ${folder};`);
  const main = [
    "daemon off;",
    `pid ${folder}/nginx.pid;`,
    "events {}",
    `http { ${temporary.join(" ")} include ${folder}/latchkey.conf; }`,
  ];
  await writeFile(join(folder, "nginx.conf"), main.join("\n"));
  const command = ["nginx", "-e", "stderr", "-p", folder, "-c", join(folder, "nginx.conf")];
  return start(command, { cwd: folder, ...asStranger });
}

/** Caddy with deploy/Caddyfile, as an ordinary user. */
async function startCaddy({ folder, port, httpPort, upstreams }: Place): Promise<RunningProcess> {
  const options = ["admin off", `http_port ${httpPort}`, `https_port ${port}`, `storage file_system ${folder}/storage`];
  const file = substitute(await readFile("deploy/Caddyfile", "utf8"), [
    ["\n{\n", `\n{\n${options.join("\n")}\n`],
    [`\n${publicHost} {\n`, `\n${publicHost} {\ntls ${folder}/cert.pem ${folder}/key.pem\n`],
    ["127.0.0.1:3000", upstreams.map((upstream) => `127.0.0.1:${upstream}`).join(" ")],
  ]);
  await writeFile(join(folder, "Caddyfile"), file);
  const command = ["caddy", "run", "--adapter", "caddyfile", "--config", join(folder, "Caddyfile")];
  return start(command, { cwd: folder, env: { HOME: folder, XDG_DATA_HOME: folder }, ...asStranger });
}

const programs = {
  nginx: { run: startNginx, logs: ["latchkey.log", "latchkey-error.log"] },
  Caddy: { run: startCaddy, logs: [] },
};

export type ProxyName = keyof typeof programs;

export async function startProxy(name: ProxyName, ...upstreams: number[]) {
  const { folder, remove } = await temporaryFolder();
  const authority = createAuthority();
  const { key, cert } = authority.sign(`DNS:${publicHost}`);
  await writeFile(join(folder, "ca.pem"), authority.ca);
  await writeFile(join(folder, "cert.pem"), cert);
  await writeFile(join(folder, "key.pem"), key);
  await mkdir(join(folder, "storage"));
  const [port, httpPort] = [await freePort(), await freePort()];
  if (isRoot) execFileSync("chown", ["-R", `${stranger}:${stranger}`, folder]);
  const { run, logs } = programs[name];
  const proxy = await run({ folder, port, httpPort, upstreams });
  const answers = () =>
    fetch(`http://127.0.0.1:${httpPort}/`, { redirect: "manual" }).then(
      () => true,
      () => false,
    );
  await Promise.race([proxy.waitFor(/(?!)/), until(answers, `${name} answers`)]);
  return {
    /** nginx.conf, latchkey.conf and the logs of nginx. */
    folder,
    port,
    httpPort,
    /** The certificate of the authority that signed the proxy's certificate. */
    ca: authority.ca,
    logs: async () => {
      const files = await Promise.all(logs.map((file) => readFile(join(folder, file), "utf8")));
      return proxy.output() + files.join("");
    },
    async stop() {
      await proxy.stop();
      await remove();
    },
  };
}
