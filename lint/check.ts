import { spawnSync } from "node:child_process";

// Runs every check to its end, so that one run names all that is wrong. With the argument `lint`, the rules alone.

const rules = [
  "biome check .",
  "depcruise app server",
  "tsx lint/texts.ts",
  "tsx lint/words.ts",
  "tsx lint/documents.ts",
  "tsx lint/settings.ts --check",
  "tsx lint/events.ts --check",
  "tsx lint/migrations.ts",
  "tsx lint/migration-list.ts --check",
  "tsx lint/schema.ts",
  "tsx lint/evidence/evidence.ts --check",
];
const checks = process.argv[2] === "lint" ? rules : [...rules, "tsc", "npm run build", "knip"];

const failed = checks.filter((check) => spawnSync(check, { shell: true, stdio: "inherit" }).status !== 0);
for (const check of failed) console.error(`Failed: ${check}`);
process.exitCode = failed.length > 0 ? 1 : 0;
