import { readdirSync, readFileSync, writeFileSync } from "node:fs";

/**
 * Writes the list in `server/database/migrations/index.ts` from the files beside it: the bundle has no folder to search.
 * With `--check` it writes nothing, and fails if the list is stale.
 */

const folder = "server/database/migrations";
const index = `${folder}/index.ts`;

const names = readdirSync(folder).flatMap((file) => /^(Migration\d+)\.ts$/.exec(file)?.[1] ?? []);
const entries = names.sort().map((name) => `  ${name}: async () => (await import("./${name}")).${name},\n`);

const text = readFileSync(index, "utf8");
const listed = text.replace(/(?<=^const migrations: MigrationClasses = \{\n)(?: {2}Migration.*\n)*/m, entries.join(""));

if (!process.argv.includes("--check")) writeFileSync(index, listed);
else if (listed !== text) {
  console.error(`${index} is stale: run \`npm run format\`.`);
  process.exitCode = 1;
}
