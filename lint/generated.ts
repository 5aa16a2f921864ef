import { readFileSync, writeFileSync } from "node:fs";

/** The words in lines of at most 120 characters, the first line after `start`, the others after `margin`. */
export function wrapped(text: string, start: string, margin: string): string {
  const lines = [start];
  for (const word of text.split(" ")) {
    const line = lines.at(-1) ?? "";
    if (line.length + 1 + word.length > 120) lines.push(`${margin} ${word}`);
    else lines[lines.length - 1] = `${line} ${word}`;
  }
  return `${lines.join("\n")}\n`;
}

/** Puts the items in the place of the list below the heading. */
export function withList(page: string, heading: string, items: string[]): string {
  const place = new RegExp(`(?<=^#+ ${heading}\\n\\n)(?:(?:(?:-|  ).*\\n)+\\n)?`, "m");
  if (!place.test(page)) throw new Error(`No document has the heading ${heading}.`);
  return page.replace(place, () => `${items.map((item) => wrapped(item, "-", " ")).join("")}\n`);
}

/** Writes the files; with `--check` it fails where one of them is stale. */
export function writeGenerated(files: Record<string, string>): void {
  for (const [path, text] of Object.entries(files)) {
    if (!process.argv.includes("--check")) writeFileSync(path, text);
    else if (readFileSync(path, "utf8") !== text) {
      console.error(`${path} is stale: run \`npm run format\`.`);
      process.exitCode = 1;
    }
  }
}
