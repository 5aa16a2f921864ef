import { accessSync, constants, existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { TestProject } from "vitest/node";

declare module "vitest" {
  interface ProvidedContext {
    programs: Program[];
  }
}

/** The Debian package of each program that a suite of its own starts. `npm test` starts none but Node and `sh`. */
const packages = {
  apache2: "apache2-bin",
  caddy: "caddy",
  WebKitWebDriver: "webkit2gtk-driver",
  Xvfb: "xvfb",
  chromium: "chromium",
  "chromium-headless-shell": "chromium-headless-shell",
  curl: "curl",
  "dbus-run-session": "dbus",
  "dist-packages/caldav": "python3-caldav",
  "dist-packages/jwt": "python3-jwt",
  "firefox-esr": "firefox-esr",
  "icingaweb2/public": "icingaweb2 libapache2-mod-php",
  initdb: "postgresql",
  java: "default-jre-headless",
  nginx: "nginx",
  pgbouncer: "pgbouncer",
  php: "php-cli php-pgsql php-mbstring php-xml php-intl",
  postfix: "postfix",
  promtool: "prometheus",
  python3: "python3",
  radicale: "radicale",
  script: "bsdutils",
  "systemd-analyze": "systemd",
  testssl: "testssl.sh",
  "tt-rss/www": "tt-rss dbconfig-no-thanks", // without the latter it asks for a database server
};

type Program = keyof typeof packages;

const data = ["/usr/lib/python3", "/usr/share"]; // where Debian has modules and pages: a folder is executable, too
const postgres = "/usr/lib/postgresql"; // where Debian has PostgreSQL's programs, outside PATH

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** The path of a program, the newest PostgreSQL's; `undefined` when it is not installed. */
export function findProgram(name: Program): string | undefined {
  const versions = existsSync(postgres) ? readdirSync(postgres).sort((a, b) => Number(b) - Number(a)) : [];
  const path = (process.env.PATH ?? "").split(":");
  const folders = [...path, "/usr/sbin", ...data, ...versions.map((version) => join(postgres, version, "bin"))];
  return folders.map((folder) => join(folder, name)).find(isExecutable);
}

const missingPackages = (programs: Program[]) =>
  programs.filter((name) => findProgram(name) === undefined).flatMap((name) => packages[name].split(" "));

/** Ends the process with one line when a program is not installed. */
export function requirePrograms(programs: Program[]): void {
  const missing = missingPackages(programs);
  if (missing.length === 0) return;
  console.error(`Debian packages are missing: apt-get install ${missing.join(" ")}`);
  process.exit(1);
}

/** Vitest's global setup: {@link requirePrograms} with what the suite's configuration provides as `programs`. */
export default function setup({ config }: TestProject): void {
  requirePrograms(config.provide.programs ?? []);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  process.stdout.write(`${missingPackages(Object.keys(packages) as Program[]).join("\n")}\n`);
}
