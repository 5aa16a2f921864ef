import { readFileSync } from "node:fs";
import { names } from "#server/settings/formats";
import { type Setting, settings } from "#server/settings/settings";
import { withList, wrapped, writeGenerated } from "./generated";

/**
 * Writes `.env.example`, and the list below each heading of `docs/settings.md`, from the declarations of the settings.
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

const meaningOf = ({ help, requiredWith }: Setting) =>
  [help, requiredWith && `Required with ${names(requiredWith)}.`].filter(Boolean).join(" ");

const comment = (text: string) => wrapped(text, "#", "#");

const itemsOf = (subject: Record<string, Setting>) =>
  Object.entries(subject).map(([name, setting]) => {
    const usual = setting.default ? ` (\`${setting.default}\`)` : "";
    return `\`${name}\`${usual}: ${meaningOf(setting)}${setting.secret ? " Secret." : ""}`;
  });

function exampleOf([name, setting]: [string, Setting]): string {
  const { default: usual, example, secret } = setting;
  const file = secret && `\`${name}_FILE\` may name a file that holds it.`;
  const text = [meaningOf(setting), file, usual && `Default: ${usual}`].filter(Boolean).join(" ");
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
for (const [title, subject] of subjects) page = withList(page, title, itemsOf(subject));

writeGenerated({ ".env.example": [comment(introduction), ...blocks].join("\n"), "docs/settings.md": page });
