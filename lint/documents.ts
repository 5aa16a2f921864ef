import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import type { Command } from "commander";
import { latchkeyProgram } from "#server/commands/command-line";
import { events } from "#server/events/events";
import { mailDrivers, mailServices } from "#server/mail-services/services";
import { providerNames } from "#server/settings/provider-names";
import { settings } from "#server/settings/settings";
import { providers } from "../server/provider/providers";

/**
 * Says whether README is over its size, which link or anchor leads nowhere, which command of README nothing runs,
 * which event, reason, webhook type, command, provider, table or mail driver no document names, which setting is not
 * read, which page the browser tests do not visit, and what CHANGELOG.md does not tell.
 */

const problems: string[] = [];

const filesBelow = (folder: string) =>
  readdirSync(folder, { recursive: true, encoding: "utf8" }).map((name) => join(folder, name));

const documents = [...readdirSync("."), ...filesBelow("docs"), "examples/README.md"].filter((path) =>
  path.endsWith(".md"),
);

const maxLinesOfReadme = 230;

const textOf = (path: string) => readFileSync(path, "utf8");
const withoutCode = (text: string) => text.replace(/^( *)```[\s\S]*?^\1```/gm, "").replace(/`[^`\n]*`/g, "code");

const linesOfReadme = textOf("README.md").split("\n").length - 1;
if (linesOfReadme > maxLinesOfReadme) problems.push(`README.md: ${linesOfReadme} lines, ${maxLinesOfReadme} allowed`);

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
const runs = [".ci/run", ...filesBelow("tests").filter(isCode)].map(textOf).join("\n");

for (const command of commandsOfReadme()) {
  if (!runs.includes(command)) problems.push(`README.md: nothing in .ci/run or tests/ runs \`${command}\``);
}

const wordsOf = (command: Command): string[] =>
  command.commands.length === 0
    ? [command.name()]
    : command.commands.flatMap(wordsOf).map((words) => `${command.name()} ${words}`);

const routes = readdirSync("app/routes").map((file) => textOf(join("app/routes", file)));
const titles = routes.flatMap((code) => [...code.matchAll(/\btitled\("([\w.]+)"/g)].map(([, key = ""]) => key));

/** `config.ts` reads the keys of mail services by their table. */
const isNoKey = (name: string) => Object.values(mailServices).every(({ setting }) => setting !== name);

const labels = Object.values(providers).flatMap(({ label }) => label ?? []);

const tables = [...textOf("server/database/entities.ts").matchAll(/tableName: "(\w+)"/g)].map(([, name = ""]) => name);

const webhookTypes = Object.values(events).flatMap((event) => ("webhook" in event ? [event.webhook] : []));

const named: [what: string, names: string[], document: string][] = [
  ["event", Object.keys(events), "docs/monitoring.md"],
  ["webhook type", webhookTypes, "docs/applications.md"],
  ["command", latchkeyProgram().commands.flatMap(wordsOf), "docs/commands.md"],
  ["provider", [...providerNames], "docs/providers.md"],
  ["provider's label", labels, "app/components/provider-marks.svg"],
  ["table", tables, "docs/requirements.md"],
  ["setting", Object.values(settings).flatMap(Object.keys).filter(isNoKey), "server/config.ts"],
  ["title of a page", titles, "tests/support/browser/visits.ts"],
  ["mail driver", [...mailDrivers], "docs/operation.md"],
];
for (const [what, names, document] of named) {
  const text = textOf(document);
  if (names.length === 0) problems.push(`lint/documents.ts finds no ${what}`);
  for (const name of names) {
    if (!new RegExp(`\\b${name.replaceAll(".", "\\.")}\\b`).test(text))
      problems.push(`${document}: no word of the ${what} ${name}`);
  }
}

/** What came without a line of its own in CHANGELOG.md, before this check. */
const earlier = `
  login.succeeded, login.throttled, password_reset.requested, password_reset.sent, password_reset.completed,
  password_reset.refused, password.changed, email_change.requested, email_change.completed,
  email_change.refused, registration.requested, registration.sent, registration.completed, registration.refused,
  idp.started, idp.succeeded, idp.linked, idp.unlinked, idp.logout_refused, passkey.added, passkey.removed,
  passkey.succeeded, session.ended, account.deleted, user.suspended, user.restored, user.groups_changed,
  password.not_looked_up, users.imported, user.created, user.email_changed, user.provider_linked,
  user.provider_unlinked, user.password_changed, user.deleted, user reset-link, user end-sessions, user unlink,
  user delete, user restore, user clear-limits, user end-all-sessions, mail retry, webhook retry, database copy,
  gitlab, session.started, limits.cleared, IDP_CLIENT_ID, IDP_CLIENT_SECRET, IDP_PROVIDER,
  IDP_AUTHORIZE_URL, IDP_SCOPE, IDP_PKCE, BRAND_LOGO, BRAND_COLOR, TERMS_URL, PRIVACY_URL, DEFAULT_LOCALE,
  METRICS_PORT, METRICS_HOST, resend, postmark
`
  .trim()
  .split(/,\s+/);

const changelog = textOf("CHANGELOG.md");
const told = ["event", "webhook type", "command", "provider", "setting", "mail driver"];
for (const [what, names] of named.filter(([what]) => told.includes(what))) {
  const news = names.filter((name) => !earlier.includes(name));
  for (const name of news)
    if (!changelog.includes(name)) problems.push(`CHANGELOG.md: no line has the ${what} ${name}`);
}

for (const problem of problems) console.error(problem);
process.exitCode = problems.length > 0 ? 1 : 0;
