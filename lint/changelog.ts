import { readFileSync } from "node:fs";

// `npm version` runs this before it changes anything: a version has its section in CHANGELOG.md first.

const version = process.env.npm_new_version ?? process.env.npm_package_version;
const changelog = readFileSync("CHANGELOG.md", "utf8");
const [, latest, first] = /^## \[(.+)\](?: - \d{4}-\d{2}-\d{2})\n\n### (.+)$/m.exec(changelog) ?? [];

if (latest !== version || first !== "Before you upgrade") {
  console.error(
    `The first section of CHANGELOG.md must be "## [${version}] - DATE", and its first part "### Before you upgrade".`,
  );
  process.exit(1);
}
