import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { z } from "zod";

/**
 * Compares the known advisories in docs/dependencies.md with the packages that package-lock.json installs, and with what
 * npm's audit knows of them. Where the registry answers no audit, it says so: the date in the document is then what is known.
 */

const document = readFileSync("docs/dependencies.md", "utf8").split("\n## Known advisories\n")[1] ?? "";
const date = /As of ([^.]+)\./.exec(document)?.[1];
const rows = [...document.matchAll(/^\| (GHSA-[\w-]+)[^|]*\| (\S+) (\d[\w.]*)/gm)];
const known = new Set(document.match(/GHSA-[\w-]+/g));

const lock = z.object({ packages: z.record(z.string(), z.object({ version: z.string().optional() })) });
const { packages } = lock.parse(JSON.parse(readFileSync("package-lock.json", "utf8")));
const installed = new Set(
  Object.entries(packages).map(([path, { version }]) => `${path.replace(/^.*node_modules\//, "")} ${version}`),
);

const problems = rows
  .filter(([, , name, version]) => !installed.has(`${name} ${version}`))
  .map(([, id, name, version]) => `${id}: ${name} ${version} is not installed any more`);
if (rows.length === 0) problems.push("docs/dependencies.md has no table of advisories");

const audit = z.object({
  vulnerabilities: z.record(
    z.string(),
    z.object({ via: z.array(z.union([z.string(), z.object({ url: z.string(), title: z.string() })])) }),
  ),
});
const { stdout } = spawnSync("npm", ["audit", "--json"], { encoding: "utf8", timeout: 60_000 });
const report = audit.safeParse(JSON.parse(stdout || "null"));
if (report.success) {
  for (const [name, { via }] of Object.entries(report.data.vulnerabilities)) {
    for (const advisory of via) {
      if (typeof advisory === "string") continue; // the package that has the advisory is listed itself
      const id = advisory.url.split("/").pop() ?? "";
      if (!known.has(id)) problems.push(`${id}: ${name}: ${advisory.title}`);
    }
  }
} else {
  console.error(`The registry has no audit. The advisories are those that were known on ${date}.`);
}

for (const problem of problems) console.error(problem);
process.exitCode = problems.length > 0 ? 1 : 0;
