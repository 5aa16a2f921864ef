import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import ts from "typescript";
import { events } from "#server/events/events";
import { settings } from "#server/settings/settings";
import { advisories } from "./advisories";
import { type Denied, type Reason, reasons } from "./reasons";
import { chapters, requirements, sections } from "./requirements";

/**
 * Writes docs/evidence/asvs.md: each requirement with the tests that have its number as a tag (`{ tags: "6.2.4" }`),
 * and with the reason why it has none or is met in part only. With `--check` it only says whether the page is up to
 * date.
 */

interface NamedTest {
  file: string;
  name: string;
  tags: string[];
}

const stringsOf = (node: ts.Node) =>
  (ts.isArrayLiteralExpression(node) ? [...node.elements] : [node]).filter(ts.isStringLiteral).map(({ text }) => text);

function propertyOf(node: ts.Expression | undefined, name: string): ts.Expression | undefined {
  if (!node || !ts.isObjectLiteralExpression(node)) return undefined;
  const property = node.properties.find((each) => each.name?.getText() === name);
  return property && ts.isPropertyAssignment(property) ? property.initializer : undefined;
}

/** A title without what a row of `test.each` fills in. */
function nameOf(title: ts.Expression): string {
  const text = ts.isStringLiteralLike(title) ? title.text : title.getText().slice(1, -1);
  return text.replace(/%[sdij]|\$\{[^}]*\}|\$\w+/g, "…");
}

/** The tests of a file that name a requirement or an advisory. */
function namedTests(file: string): NamedTest[] {
  const text = readFileSync(file, "utf8");
  if (!text.includes("tags: ")) return []; // Reading every file takes twice as long.
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
  const found: NamedTest[] = [];
  const visit = (node: ts.Node, groups: string[]) => {
    let inner = groups;
    if (ts.isCallExpression(node)) {
      const [title, options] = node.arguments;
      const tags = propertyOf(options, "tags");
      if (title && tags) {
        const name = [...groups, nameOf(title)].join(": ");
        found.push({ file: file.replace(/^tests./, ""), name, tags: stringsOf(tags) });
      }
      if (title && /^describe\b/.test(node.expression.getText())) inner = [...groups, nameOf(title)];
    }
    ts.forEachChild(node, (child) => visit(child, inner));
  };
  visit(source, []);
  return found;
}

const testFiles = readdirSync("tests", { recursive: true, encoding: "utf8" }).filter((file) => /\.tsx?$/.test(file));
const tests = testFiles.sort().flatMap((file) => namedTests(join("tests", file)));
const problems: string[] = [];
const testLines = (found: NamedTest[]) => found.map(({ file, name }) => `  - ${file}: ${name}`);

/** What a reason may deny, by kind: the names of what there is, one a line. */
function existing(): Record<keyof Denied, string> {
  const sources = ["app", "server"].flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: "utf8" }).map((file) => join(folder, file)),
  );
  const code = sources.filter((file) => /\.[jt]sx?$/.test(file) && !file.startsWith("server/languages"));
  const { dependencies } = JSON.parse(readFileSync("package.json", "utf8"));
  return {
    settings: Object.values(settings).flatMap(Object.keys).join("\n"),
    events: Object.keys(events).join("\n"),
    routes: readdirSync("app/routes")
      .map((file) => file.replace(/\.tsx?$/, ""))
      .join("\n"),
    packages: Object.keys(dependencies).join("\n"),
    code: code.map((file) => readFileSync(file, "utf8")).join("\n"),
  };
}
const there = existing();

/** The text of a reason, after the check that what it denies does not exist. */
function textOf(id: string, reason: Reason | undefined): string | undefined {
  if (reason === undefined || typeof reason === "string") {
    if (reason?.startsWith("Does not apply")) problems.push(`${id}: the reason does not name what must not exist`);
    return reason;
  }
  const [text, denied] = reason;
  for (const [kind, pattern] of Object.entries(denied)) {
    const [found] = new RegExp(pattern, "im").exec(there[kind as keyof Denied]) ?? [];
    if (found !== undefined) problems.push(`${id}: there is \`${found}\` (${kind}), which the reason denies: ${text}`);
  }
  return text;
}

const texts = Object.fromEntries(Object.entries(reasons).map(([id, reason]) => [id, textOf(id, reason)]));

const isExclusive = (reason: string) => /^(?:Does not apply|Documented)\b/.test(reason);

const shownBy = (id: string) => tests.filter(({ tags }) => tags.includes(id));
const reasonFor = (id: string, section: string) => texts[id] ?? texts[section] ?? texts[section.split(".", 1)[0] ?? ""];

/** The requirements of a section. Those that have one reason and no test are one item. */
function sectionLines(section: string): string[] {
  const lines: string[] = [];
  let previous: string | undefined;
  for (const { id, level } of requirements.filter((each) => each.section === section)) {
    const shown = shownBy(id);
    const reason = reasonFor(id, section);
    if (shown.length === 0 && !reason) problems.push(`${id} has neither a test nor a reason`);
    if (shown.length > 0 && reason && isExclusive(reason)) problems.push(`${id} has a test and the reason: ${reason}`);
    const name = `- **${id}** (level ${level})`;
    if (shown.length === 0 && reason === previous)
      lines.push(`${lines.pop()?.slice(0, -`: ${reason}`.length)}, ${name.slice(2)}: ${reason}`);
    else lines.push(reason ? `${name}: ${reason}` : name, ...testLines(shown));
    previous = shown.length === 0 ? reason : undefined;
  }
  return lines;
}

function advisoryLines([id, advisory]: [string, string | [string, Reason]]): string[] {
  const [what, why] = typeof advisory === "string" ? [advisory] : advisory;
  const shown = shownBy(id);
  if (shown.length === 0 && !why) problems.push(`${id} has neither a test nor the reason why it cannot happen here`);
  return [`- **${id}**, ${what}${why ? ` ${textOf(id, why)}` : ""}`, ...testLines(shown)];
}

const chapterLines = Object.entries(chapters).flatMap(([chapter, name]) => [
  "",
  `## ${chapter} ${name}`,
  ...Object.entries(sections)
    .filter(([section]) => section.startsWith(`${chapter}.`))
    .flatMap(([section, { name }]) => ["", `### ${section} ${name}`, "", ...sectionLines(section)]),
]);

const startOf = (id: string, section: string) =>
  /^(?:In part|Not met|Does not apply)/.exec(reasonFor(id, section) ?? "")?.[0] ??
  (shownBy(id).length > 0 ? "shown" : "");
const count = (start: string) => requirements.filter(({ id, section }) => startOf(id, section) === start).length;

/** The requirements whose reason begins with `start`, by reason. */
function shortfalls(start: "Not met" | "In part"): string[] {
  const reasonOf = ({ id, section }: { id: string; section: string }) => reasonFor(id, section) ?? "";
  const short = requirements.filter((requirement) => reasonOf(requirement).startsWith(start));
  return [...new Set(short.map(reasonOf))].map((reason) => {
    const ids = short.filter((requirement) => reasonOf(requirement) === reason).map(({ id }) => `**${id}**`);
    return `- ${ids.join(", ")}: ${reason.replace(`${start}: `, "")}`;
  });
}

const page = [
  "# Requirements and their tests",
  "",
  "For whoever audits Latchkey, or compares it to a checklist: every requirement of",
  "[OWASP ASVS 5.0.0](https://github.com/OWASP/ASVS), levels 1 and 2, with the tests below `tests/` that show it. A",
  "requirement that is met in part, by somebody else, or not at all says so, and these come first. At the end: advisories, and",
  "the tests that hold the same attack off here, or why it cannot happen. A reason that denies a feature names what must not",
  "exist, and `npm run check` fails when it does. `npx vitest run --tags-filter 6.2.4` runs the tests of one requirement, and",
  "`npm run evidence` writes this page; `npm run check` compares it. What was asked for is in [requirements.md](../requirements.md).",
  "",
  `Of ${requirements.length} requirements, ${count("shown")} are shown by tests, ${count("In part")} are met in part, ${count("Not met")} are not met, and`,
  `${count("Does not apply")} do not apply. The other ${count("")} are documented, or the proxy's or the operator's.`,
  "",
  "## What is not met",
  "",
  ...shortfalls("Not met"),
  "",
  "## What is met in part",
  "",
  ...shortfalls("In part"),
  ...chapterLines,
  "",
  "## Advisories of other products",
  "",
  ...Object.entries(advisories).flatMap(advisoryLines),
  "",
].join("\n");

if (process.argv.includes("--check")) {
  if (readFileSync("docs/evidence/asvs.md", "utf8") !== page)
    problems.push("docs/evidence/asvs.md is out of date: npm run evidence");
} else if (problems.length === 0) {
  writeFileSync("docs/evidence/asvs.md", page);
}
for (const problem of problems) console.error(problem);
process.exitCode = problems.length > 0 ? 1 : 0;
