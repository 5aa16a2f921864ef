import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";

const sources = ["app", "server", "remix.config.js", "package-lock.json"];
const outputs = ["build/index.js", "build/cli.js", "build/processes.js"];

function below(path: string): string[] {
  if (!statSync(path).isDirectory()) return [path];
  return [path, ...readdirSync(path, { recursive: true, encoding: "utf8" }).map((name) => join(path, name))];
}

/** Why the build is not a production build of the sources; `null` if it is. */
export function staleness(folder = "."): string | null {
  const inFolder = (path: string) => join(folder, path);
  const times = outputs.map(inFolder).map((path) => statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0);
  const built = Math.min(...times);
  if (built === 0) return "There is no build";
  // `npm run dev` leaves one with the pages for developers.
  if (!/\bmode = "production"/.test(readFileSync(inFolder("build/index.js"), "utf8")))
    return "The build is of development";
  const newer = sources
    .map(inFolder)
    .flatMap(below)
    .find((path) => statSync(path).mtimeMs > built);
  return newer === undefined ? null : `The build is older than ${newer}`;
}

export default function setup(): void {
  const stale = staleness();
  if (stale === null) return;
  console.error(`${stale}: \`npm run build\` makes it.`);
  process.exit(1);
}
