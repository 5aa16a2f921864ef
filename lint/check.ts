import { spawn } from "node:child_process";
import { once } from "node:events";

// Runs every check to its end, so that one run names all that is wrong. With the argument `lint`, the rules alone.

const rules = [
  "biome check .",
  "depcruise app server",
  "tsx lint/texts.ts",
  "tsx lint/words.ts",
  "tsx lint/order.ts",
  "tsx lint/documents.ts",
  "tsx lint/settings.ts --check",
  "tsx lint/events.ts --check",
  "tsx lint/migrations.ts",
  "tsx lint/migration-list.ts --check",
  "tsx lint/schema.ts",
  "tsx lint/evidence/evidence.ts --check",
];

async function failed(checks: string[]): Promise<string[]> {
  const names: string[] = [];
  for (const check of checks) {
    const [status] = await once(spawn(check, { shell: true, stdio: "inherit" }), "close");
    if (status !== 0) names.push(check);
  }
  return names;
}

// tsc takes as long as all others.
const sequences = process.argv[2] === "lint" ? [rules] : [["tsc"], [...rules, "npm run build", "knip"]];
const failures = (await Promise.all(sequences.map(failed))).flat();
for (const check of failures) console.error(`Failed: ${check}`);
process.exitCode = failures.length > 0 ? 1 : 0;
