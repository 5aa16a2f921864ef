import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

/**
 * Refuses a migration beside which the last release may not run: its docstring names that release, and its statements
 * add tables, columns and functions and nothing else. What is removed or renamed is missing in the older release's statements, and
 * a rewritten, validated or indexed table is locked while requests wait for it. A second statement that locks an
 * existing table can wait for requests that wait for the first one: a deadlock.
 */

const folder = "server/database/migrations";
const lastUnchecked = "Migration20261123000000"; // of 1.1.0, which is older than this check
const statement = /Releases from (\d+\.\d+\.\d+) may run beside it/;

/**
 * Made while requests that write users wait: 0.7 s for 100,000 of them (PostgreSQL 15). Concurrently it would wait for
 * the other processes, which wait for the lock of the start.
 */
const briefIndex = /^create index users_password_kinds_index on users /;

const constant = String.raw`(?:'[^']*'(?:::[\w[\]]+)?|-?\d+|true|false|now\(\))`;
const type = String.raw`(?!\w*serial)(?:(?!not|null|default|generated|references|unique|primary|check|constraint)\w+ ?)+(?:\(\d+\))?(?:\[\])?`;
const addedColumn = new RegExp(
  String.raw`^add column \w+ ${type}(?: ?null| ?(?:not null )?default ${constant}| ?default ${constant} not null)?$`,
);

/** The statements of `up`, on one line each, without the quotes of names. */
function statementsOf(source: string): string[] {
  const up = /\bup\(\)[\s\S]*?(?=\bdown\(\)|$)/.exec(source)?.[0] ?? "";
  const calls = [...up.matchAll(/addSql\(\s*(["'`])([\s\S]*?)\1\s*,?\s*\)/g)];
  if (calls.length !== up.split("this.").length - 1) return ["what is not a literal of addSql"];
  return calls.map(([, , sql = ""]) => sql.toLowerCase().replaceAll('"', "").replace(/\s+/g, " ").replace(/;? ?$/, ""));
}

export function problemsOf(source: string, releases: string[]): string[] {
  const docstring = /\/\*\*[\s\S]*?\*\//.exec(source)?.[0].replace(/[\s*]+/g, " ") ?? "";
  const release = statement.exec(docstring)?.[1];
  const stated = release !== undefined && releases.includes(release);
  const problems = stated ? [] : [`its docstring must say "Releases from X.Y.Z may run beside it", of a release`];
  const own = new Set<string>();
  let locks = 0;
  for (const sql of statementsOf(source)) {
    const created = /^create table (?:if not exists )?(\w+)/.exec(sql)?.[1];
    if (created) own.add(created);
    const table = /^(?:alter table|create (?:unique )?index \w+ on|insert into) (\w+)/.exec(sql)?.[1] ?? "";
    const clauses = /^alter table \w+ (.*)$/.exec(sql)?.[1]?.split(/, ?(?=add |drop |alter |rename )/) ?? [];
    const addsColumns = clauses.length > 0 && clauses.every((clause) => addedColumn.test(clause));
    const isOne = !sql.includes(";");
    if (
      !isOne ||
      !(created || sql.startsWith("create function ") || own.has(table) || addsColumns || briefIndex.test(sql))
    )
      problems.push(`the release before cannot run beside: ${sql}`);
    const locked = [...sql.matchAll(/(?:^alter table|\breferences) (\w+)/g)];
    if (locked.some(([, name = ""]) => !own.has(name)) && ++locks === 2)
      problems.push(`needs a migration of its own: ${sql}`);
  }
  return problems;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const headings = readFileSync("CHANGELOG.md", "utf8").matchAll(/^## \[(\d[^\]]*)\]/gm);
  const releases = [...headings].map(([, version = ""]) => version);
  for (const name of readdirSync(folder).filter((name) => /^Migration\d+\.ts$/.test(name))) {
    if (name <= `${lastUnchecked}.ts`) continue;
    for (const problem of problemsOf(readFileSync(`${folder}/${name}`, "utf8"), releases)) {
      console.error(`${folder}/${name}: ${problem}`);
      process.exitCode = 1;
    }
  }
}
