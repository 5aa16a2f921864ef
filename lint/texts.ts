import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import ts from "typescript";
import { en } from "../server/languages/en";

/**
 * Says which texts of the language files no code uses, and which texts of pages are in code. Biome's noJsxLiterals finds
 * those between tags, and TypeScript the keys that a language does not have.
 */

const problems: string[] = [];

const sources = (...folders: string[]): ts.SourceFile[] =>
  folders
    .flatMap((folder) => readdirSync(folder, { recursive: true, encoding: "utf8" }).map((file) => join(folder, file)))
    .filter((file) => /\.tsx?$/.test(file))
    .map((file) => ts.createSourceFile(file, readFileSync(file, "utf8"), ts.ScriptTarget.Latest, true));

function each(source: ts.SourceFile, visit: (node: ts.Node) => void): void {
  const walk = (node: ts.Node): void => {
    visit(node);
    ts.forEachChild(node, walk);
  };
  walk(source);
}

const escaped = (text: string) => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");

/** What the strings of the files can be: `errors.title${status}` can be every key that starts so. */
function stringsIn(files: ts.SourceFile[]): RegExp[] {
  const found = new Set<string>();
  for (const file of files) {
    each(file, (node) => {
      if (ts.isStringLiteralLike(node)) found.add(escaped(node.text));
      if (!ts.isTemplateExpression(node) || !/^\w+\./.test(node.head.text)) return;
      found.add(
        [node.head, ...node.templateSpans.map(({ literal }) => literal)]
          .map(({ text }) => escaped(text))
          .join("[\\w.]+"),
      );
    });
  }
  return [...found].filter((text) => /^\w+\\\.[\w\\+.[\]]+$/.test(text)).map((text) => new RegExp(`^${text}$`));
}

const keysOf = (texts: Record<string, object>) =>
  Object.entries(texts).flatMap(([section, entries]) => Object.keys(entries).map((name) => `${section}.${name}`));

const users = {
  pages: stringsIn(sources("app")),
  answers: stringsIn(sources("app", "server")),
  mails: stringsIn(sources("server/mail", "server/features")),
};

for (const part of ["pages", "answers", "mails"] as const) {
  for (const key of keysOf(en[part])) {
    if (!users[part].some((use) => use.test(key))) problems.push(`server/languages/en.ts: ${part}.${key} is not used`);
  }
}
const pageKeys = new Set(keysOf(en.pages));
for (const key of keysOf(en.answers)) {
  if (pageKeys.has(key)) problems.push(`server/languages/en.ts: ${key} is in pages and in answers`);
}

const textAttributes =
  /^(?:alt|aria-(?:description|label|placeholder|roledescription)|label|placeholder|submit|title)$/;
const isSentence = (text: string) => /^\p{Lu}.*\p{L}\s\p{L}/su.test(text) || /\p{L}\s.*\p{L}[.?!]$/su.test(text);

/** Words for a program, a log or a protocol, not for the reader of a page. */
function isTechnical(node: ts.Node): boolean {
  const { parent } = node;
  if (ts.isNewExpression(parent)) return /Error$/.test(parent.expression.getText());
  if (ts.isCallExpression(parent)) return /^(?:plainText|formRefused)$/.test(parent.expression.getText());
  return ts.isPropertyAssignment(parent) && parent.name.getText() === "statusText";
}

function isText(node: ts.Node, text: string): boolean {
  if (!/\p{L}/u.test(text) || isTechnical(node)) return false;
  const { parent } = node;
  if (ts.isJsxAttribute(parent)) return textAttributes.test(parent.name.getText());
  if (ts.isJsxExpression(parent) && !ts.isJsxAttribute(parent.parent)) return true;
  return isSentence(text);
}

for (const file of sources("app")) {
  if (/routes[\\/]dev\./.test(file.fileName)) continue; // pages for developers
  if (/^\/\/ biome-ignore-all lint\/style\/noJsxLiterals:/m.test(file.text)) continue; // pages in one language
  each(file, (node) => {
    const literal = ts.isStringLiteralLike(node) ? node.text : ts.isTemplateExpression(node) ? node.getText() : "";
    if (!isText(node, literal)) return;
    const { line } = file.getLineAndCharacterOfPosition(node.getStart());
    problems.push(`${file.fileName}:${line + 1}: ${JSON.stringify(literal)} belongs into server/languages/`);
  });
}

for (const problem of problems) console.error(problem);
process.exitCode = problems.length > 0 ? 1 : 0;
