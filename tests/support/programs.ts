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
  caddy: "caddy",
  WebKitWebDriver: "webkit2gtk-driver",
  Xvfb: "xvfb",
  chromium: "chromium",
  curl: "curl",
  "dbus-run-session": "dbus",
  "dist-packages/jwt": "python3-jwt",
  "firefox-esr": "firefox-esr",
  initdb: "postgresql",
  nginx: "nginx",
  pgbouncer: "pgbouncer",
  postfix: "postfix",
  python3: "python3",
  script: "bsdutils",
  "systemd-analyze": "systemd",
};

type Program = keyof typeof packages;

const python = "/usr/lib/python3"; // where Debian has Python's modules: a folder is executable, too
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
  const folders = [...path, "/usr/sbin", python, ...versions.map((version) => join(postgres, version, "bin"))];
  return folders.map((folder) => join(folder, name)).find(isExecutable);
}

const missingPackages = (programs: Program[]) =>
  programs.filter((name) => findProgram(name) === undefined).map((name) => packages[name]);

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
