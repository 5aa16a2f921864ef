import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import type { Command } from "commander";
import { latchkeyProgram } from "#server/commands/command-line";
import { settings } from "#server/settings/settings";
import { providerNames, providers } from "../server/provider/providers";

/**
 * Says whether README is over its size, which link or anchor leads nowhere, which command of README nothing runs,
 * which event, reason, webhook type, command, provider, table or mail driver no document names, which setting is not
 * read, and which page the browser tests do not visit.
 */

const problems: string[] = [];

const documents = [...readdirSync(".").map((name) => name), ...readdirSync("docs").map((name) => join("docs", name))]
  .concat("examples/README.md")
  .filter((path) => path.endsWith(".md"));

const mostLinesOfReadme = 230;

const textOf = (path: string) => readFileSync(path, "utf8");
const withoutCode = (text: string) => text.replace(/^( *)```[\s\S]*?^\1```/gm, "").replace(/`[^`\n]*`/g, "code");

const linesOfReadme = textOf("README.md").split("\n").length - 1;
if (linesOfReadme > mostLinesOfReadme) problems.push(`README.md: ${linesOfReadme} lines, ${mostLinesOfReadme} allowed`);

/** The anchors of a document's headings, as GitHub makes them. */
function anchorsOf(path: string): Set<string> {
  const headings = [
    ...textOf(path)
      .replace(/^( *)```[\s\S]*?^\1```/gm, "")
      .matchAll(/^#+ (.*)$/gm),
  ];
  return new Set(
    headings.map(([, title = ""]) =>
      title
        .toLowerCase()
        .replace(/[^\p{L}\p{N}\s_-]/gu, "")
        .replace(/\s/g, "-"),
    ),
  );
}

for (const path of documents) {
  for (const [, target = ""] of withoutCode(textOf(path)).matchAll(/\]\(([^)\s]+)\)/g)) {
    if (/^[a-z]+:/.test(target)) continue;
    const [file = "", anchor] = target.split("#", 2);
    const linked = file === "" ? path : relative(".", join(dirname(path), file));
    if (!existsSync(linked)) problems.push(`${path}: ${target} leads nowhere`);
    else if (anchor && linked.endsWith(".md") && !anchorsOf(linked).has(anchor)) {
      problems.push(`${path}: ${target} names no heading`);
    }
  }
}

/** The commands in README: of its blocks, and between backticks. */
function commandsOfReadme(): string[] {
  const readme = textOf("README.md");
  const blocks = [...readme.matchAll(/^```sh\n([\s\S]*?)^```$/gm)].flatMap(([, block = ""]) => block.split(/\n|&&/));
  const inline = [...readme.matchAll(/`([^`\n]+)`/g)].map(([, code = ""]) => code);
  const commands = [...blocks, ...inline].map((command) => command.trim());
  return [...new Set(commands.filter((command) => /^(?:npm|npx|node) /.test(command)))];
}

const isCode = (name: string) => /\.(?:ts|js)$/.test(name);
const testFiles = readdirSync("tests", { recursive: true, encoding: "utf8" }).filter(isCode);
const runs = [".ci/run", ...testFiles.map((file) => join("tests", file))].map(textOf).join("\n");

for (const command of commandsOfReadme()) {
  if (!runs.includes(command)) problems.push(`README.md: nothing in .ci/run or tests/ runs \`${command}\``);
}

const stringsOf = (code: string) => [...code.matchAll(/"([\w.]+)"/g)].map(([, text = ""]) => text);
const wordsOf = (command: Command): string[] =>
  command.commands.length === 0
    ? [command.name()]
    : command.commands.flatMap(wordsOf).map((words) => `${command.name()} ${words}`);
const between = (code: string, start: string, end: string) => code.split(start)[1]?.split(end)[0] ?? "";
const declarations = textOf("server/settings/settings.ts");
const choices = (name: string) =>
  stringsOf(between(declarations, `${name}: {`, "help:")).filter((text) => text !== "log");

const routes = readdirSync("app/routes").map((file) => textOf(join("app/routes", file)));
const titles = routes.flatMap((code) => [...code.matchAll(/\btitled\("([\w.]+)"/g)].map(([, key = ""]) => key));

const labels = Object.values(providers).flatMap(({ label }) => label ?? []);

const tables = [...textOf("server/database/entities.ts").matchAll(/tableName: "(\w+)"/g)].map(([, name = ""]) => name);

const named: [what: string, names: string[], document: string][] = [
  ["event or reason", stringsOf(textOf("server/events.ts")), "docs/monitoring.md"],
  [
    "webhook type",
    stringsOf(between(textOf("server/queue/jobs.ts"), "type AccountChange =", ";")),
    "docs/applications.md",
  ],
  ["command", latchkeyProgram().commands.flatMap(wordsOf), "docs/commands.md"],
  ["provider", providerNames, "README.md"],
  ["provider", providerNames, "docs/providers.md"],
  ["provider's label", labels, "app/components/provider-marks.svg"],
  ["table", tables, "docs/requirements.md"],
  ["setting", Object.values(settings).flatMap(Object.keys), "server/config.ts"],
  ["title of a page", titles, "tests/support/browser/visits.ts"],
  ["mail driver", choices("MAIL_DRIVER"), "docs/operation.md"],
];
for (const [what, names, document] of named) {
  const text = textOf(document);
  if (names.length === 0) problems.push(`lint/documents.ts finds no ${what}`);
  for (const name of names) {
    if (!new RegExp(`\\b${name.replaceAll(".", "\\.")}\\b`).test(text))
      problems.push(`${document}: no word of the ${what} ${name}`);
  }
}

for (const problem of problems) console.error(problem);
process.exitCode = problems.length > 0 ? 1 : 0;
