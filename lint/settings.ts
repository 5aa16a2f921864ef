import { readFileSync, writeFileSync } from "node:fs";
import { type Setting, settings } from "#server/settings/settings";

/**
 * Writes `.env.example`, and the table below each heading of `docs/settings.md`, from the declarations of the settings.
 * With `--check` it writes nothing, and fails where one of them is stale.
 */

const titles: Record<keyof typeof settings, string> = {
  address: "Address",
  database: "Database and processes",
  mail: "Mail",
  identityProvider: "External sign-in",
  registration: "Registration",
  passwords: "Passwords",
  sessions: "Sessions",
  applications: "Applications",
  brand: "Branding",
  language: "Language",
  metrics: "Metrics",
};

const subjects = Object.entries(settings).map(([group, subject]): [string, Record<string, Setting>] => [
  titles[group as keyof typeof settings],
  subject,
]);

const meaningOf = (name: string, { help, secret, requiredWith }: Setting) =>
  [
    help,
    requiredWith && `Required with \`${requiredWith}\`.`,
    secret && `\`${name}_FILE\` may name a file that holds it.`,
  ]
    .filter(Boolean)
    .join(" ");

function tableOf(subject: Record<string, Setting>): string {
  const rows = Object.entries(subject).map(([name, setting]) => [
    `\`${name}\``,
    setting.default ? `\`${setting.default}\`` : "",
    meaningOf(name, setting),
  ]);
  const table = [["Setting", "Default", "Meaning"], ["", "", ""], ...rows];
  const widths = [0, 1, 2].map((column) => Math.max(...table.map((row) => row[column]?.length ?? 0)));
  const lines = table.map((row, index) =>
    row.map((cell, column) => cell.padEnd(widths[column] ?? 0, index === 1 ? "-" : " ")).join(" | "),
  );
  return lines.map((line) => `| ${line} |\n`).join("");
}

/** Lines of at most 120 characters, as comments. */
function comment(text: string): string {
  let lines = "#";
  for (const word of text.split(" ")) {
    const width = lines.length - lines.lastIndexOf("\n") - 1 + 1 + word.length;
    lines += width > 120 ? `\n# ${word}` : ` ${word}`;
  }
  return `${lines}\n`;
}

function exampleOf([name, setting]: [string, Setting]): string {
  const { default: usual, example } = setting;
  const text = [meaningOf(name, setting), usual && `Default: ${usual}`].filter(Boolean).join(" ");
  return `${comment(text)}# ${name}=${example ?? usual ?? ""}\n`;
}

const blocks = subjects.flatMap(([title, subject]) => [
  `# ${`--- ${title} `.padEnd(118, "-")}\n`,
  ...Object.entries(subject).map(exampleOf),
]);
const introduction =
  "Settings for development. Copy this file to `.env` and change what you need; without any setting, everything works " +
  "on your own machine. Do not commit `.env`. In production, set the same names in the environment: they override " +
  "`.env`. docs/settings.md says more. This file is written by `npm run settings`.";

let page = readFileSync("docs/settings.md", "utf8");
for (const [title, subject] of subjects) {
  const place = new RegExp(`(?<=^## ${title}\\n\\n)(?:(?:\\|.*\\n)+\\n)?`, "m");
  if (!place.test(page)) throw new Error(`docs/settings.md has no heading ${title}.`);
  page = page.replace(place, () => `${tableOf(subject)}\n`);
}

const files = { ".env.example": [comment(introduction), ...blocks].join("\n"), "docs/settings.md": page };
for (const [path, text] of Object.entries(files)) {
  if (!process.argv.includes("--check")) writeFileSync(path, text);
  else if (readFileSync(path, "utf8") !== text) {
    console.error(`${path} is stale: run \`npm run settings\`.`);
    process.exitCode = 1;
  }
}
