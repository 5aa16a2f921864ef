import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** Says where a word of this project's own stands for one of the field's, in code, tests and documents. */

const words: [word: RegExp, instead: string][] = [
  [/\b[Mm]end(?:s|ed|ing)?\b/, "fix"],
  [/\b\w*Troubles?(?:\b|[A-Z])|\btroubleOf\b/, "failure, error, finding"],
  [/\bmost(?=[A-Z])/, "max"],
  [/\b(?:Doer|Surroundings)\b/, "author, environment"],
  [/\b(?:outbox|inTurn)\b/, "preview, lock, semaphore"],
];

const filesBelow = (folder: string) =>
  readdirSync(folder, { recursive: true, encoding: "utf8" }).map((file) => join(folder, file));

const files = ["app", "server", "tests", "bench", "demo", "docs"]
  .flatMap(filesBelow)
  .concat("README.md", "CONTRIBUTING.md", "SECURITY.md")
  .filter((file) => /\.(?:tsx?|md)$/.test(file));

for (const file of files) {
  if (/\b(?:utils?|helpers?|misc|common|manager)\b/i.test(file)) {
    console.error(`${file}: a file is named for what is in it`);
    process.exitCode = 1;
  }
  for (const [index, line] of readFileSync(file, "utf8").split("\n").entries()) {
    for (const [word, instead] of words) {
      const found = word.exec(line);
      if (!found) continue;
      console.error(`${file}:${index + 1}: not "${found[0]}", but ${instead}`);
      process.exitCode = 1;
    }
  }
}
