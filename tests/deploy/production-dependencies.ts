import { execFile } from "node:child_process";
import { cp, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import type { TestProject } from "vitest/node";

declare module "vitest" {
  interface ProvidedContext {
    /** A folder in which the production dependencies are installed. */
    production: string;
  }
}

const execute = promisify(execFile);

/** Installs the production dependencies once, as deploy/Containerfile and docs/operation.md do. */
export default async function setup({ provide }: TestProject) {
  const folder = await mkdtemp(join(tmpdir(), "latchkey-production-"));
  for (const name of ["package.json", "package-lock.json", ".npmrc"]) await cp(name, join(folder, name));
  const options = ["--omit=dev", "--ignore-scripts", "--no-audit", "--no-fund", "--prefer-offline"];
  await execute("npm", ["ci", ...options], { cwd: folder });
  await execute("chmod", ["-R", "a+rX", folder]);
  provide("production", folder);
  return () => rm(folder, { recursive: true });
}
