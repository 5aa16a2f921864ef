import { exec, execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import type { TestProject } from "vitest/node";

export interface Release {
  version: string;
  /** A folder with its build and its production dependencies. */
  folder: string;
}

declare module "vitest" {
  interface ProvidedContext {
    /** The last release and the one before. */
    releases: [last: Release, before: Release];
  }
}

const run = promisify(exec);
const git = (...options: string[]) => execFileSync("git", options, { encoding: "utf8" }).trim();

function fail(reason: string): never {
  console.error(`The upgrade tests need the history of git: ${reason}.`);
  process.exit(1);
}

function isShallow(): boolean {
  try {
    return git("rev-parse", "--is-shallow-repository") === "true";
  } catch {
    return fail("this folder is no clone");
  }
}

/** A release is the commit that gave CHANGELOG.md its section. The section of a release to come is not in an earlier one. */
function findReleases(): { version: string; revision: string }[] {
  if (isShallow()) fail("`git fetch --unshallow` brings what this clone lacks");
  const head = git("rev-parse", "HEAD");
  const headings = readFileSync("CHANGELOG.md", "utf8").matchAll(/^## \[(\d[^\]]*)\]/gm);
  const releases = [...headings].map(([, version = ""]) => {
    const commits = git("log", "--format=%H", `-S## [${version}]`, "--", "CHANGELOG.md").split("\n");
    return { version, revision: commits.at(-1) ?? "" };
  });
  return releases.filter(({ revision }) => revision !== "" && revision !== head);
}

async function build({ version, revision }: ReturnType<typeof findReleases>[number], folder: string): Promise<Release> {
  await run(`git archive ${revision} | tar --extract --directory=${folder}`);
  const options = "--no-audit --no-fund --prefer-offline";
  await run(`unset NODE_ENV; npm ci ${options} && npm run build && npm prune --omit=dev ${options}`, { cwd: folder });
  return { version, folder };
}

/** Builds and installs the last two releases once, as the operators of them have. */
export default async function setup({ provide }: TestProject) {
  const [last, before] = findReleases();
  if (!last || !before) fail("it does not have the last two releases that CHANGELOG.md names");
  const folders = await Promise.all([last, before].map(() => mkdtemp(join(tmpdir(), "latchkey-release-"))));
  const [lastFolder = "", beforeFolder = ""] = folders;
  provide("releases", await Promise.all([build(last, lastFolder), build(before, beforeFolder)]));
  return async () => {
    for (const folder of folders) await rm(folder, { recursive: true });
  };
}
