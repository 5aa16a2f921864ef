import { type Command, InvalidArgumentError, Option } from "commander";
import { type Config, ConfigurationError, type Environment, loadConfig, setConfig } from "../../config";
import { folderOf } from "../../database/embedded";
import type { Database } from "../../database/orm";
import { storeProbe } from "../../features/operator/probe";
import { closeMailer, createMailer, setMailer } from "../../mail/mailer";
import { askingTerminal } from "../../process/context";
import { plainIssuerWarning } from "../../settings/combinations";
import type { Network } from "../../settings/formats";
import { ignoredSettings } from "../../settings/read-settings";
import { withDatabase } from "../open-database";
import { CommandError, counted, jsonOption, print } from "../program";
import { checkAddress, checkBinding } from "./address";
import { type Check, checksOf } from "./check";
import { checkDatabase, examineDatabase, mintProbe } from "./database";
import { checkFolder } from "./folder";
import { checkMail, checkMailEvents, checkSender, checkTestMail } from "./mail";
import { checkOutside } from "./outside";
import { checkProvider } from "./provider";
import { checkWebhook } from "./webhook";

const settings = checksOf("settings");

export function addDoctor(program: Command): void {
  program
    .command("doctor")
    .option("--mail <ADDRESS>", "send a test mail there")
    .option("--webhook", "send the application a webhook of the type latchkey.test")
    .addOption(outsideOption)
    .addOption(atOption)
    .option(...jsonOption)
    .summary("find out what is wrong with this installation")
    .description(
      "Checks the settings, the data folder, the database, the mail service, the identity provider, APP_URL and the " +
        "proxy in front, with one line for each: ok, warn, fail or skip, what was found, and how to fix it. Run it where the " +
        "service runs, as its user and with its settings, while it runs. The status is 1 when a check fails. A running " +
        "service that holds its embedded database looks at it for the doctor.",
    )
    .action(doctor);
}

const outsideOption = new Option(
  "--outside",
  "ask the public origins what any stranger can ask, in place of the other checks",
).conflicts(["mail", "webhook"]);
const atOption = new Option("--at <URL>", "ask an application there, not at /; implies --outside")
  .argParser(collectUrls)
  .implies({ outside: true });

function collectUrls(url: string, others: string[] = []): string[] {
  if (!/^https?:/.test(url) || !URL.canParse(url)) throw new InvalidArgumentError("This is not an http or https URL.");
  return [...others, url];
}

interface Options {
  json?: true;
  mail?: string;
  webhook?: true;
  outside?: true;
  at?: string[];
}

async function doctor({ json, mail, webhook, outside, at = [] }: Options): Promise<void> {
  // The doctor of a command line asks this service, which holds the database.
  if (askingTerminal()) {
    const part = (opened: Database) => (outside ? storeProbe(opened.orm.em.fork()) : examineDatabase(opened));
    return print(JSON.stringify(await withDatabase<unknown>(part)));
  }
  const checks: Check[] = [];
  for await (const check of outside ? examineOutside(process.env, at) : examine(process.env, mail, webhook)) {
    checks.push(check);
    if (!json) print(lineOf(check));
  }
  if (json) print(JSON.stringify(checks, null, 2));
  const failed = checks.filter(({ status }) => status === "fail").length;
  if (failed > 0) throw new CommandError(`${counted(failed, "check")} failed.`);
}

async function* examineOutside(environment: Environment, at: string[]): AsyncGenerator<Check> {
  const config = configOrProblems(environment);
  if (Array.isArray(config)) return yield* config;
  setConfig(config);
  yield* checkOutside({ config, at, mintProbe });
}

/** Changes nothing, except that it opens an embedded database as a start of the service does. */
async function* examine(environment: Environment, testAddress?: string, webhook?: true): AsyncGenerator<Check> {
  const config = configOrProblems(environment);
  if (Array.isArray(config)) return yield* [...config, ...checkNames(environment)];
  setConfig(config);
  yield settings.ok(`usable; ${config.production ? "production" : "not production"}`);
  yield checkNode(process.versions.node);
  yield* checkNames(environment);
  yield* plainIssuerWarning(config.identityProvider?.issuer).map((found) =>
    settings.warn(found, "give it a certificate"),
  );
  yield* checkRegistration(config, environment);
  yield* checkHost(config);
  yield checkPasskeys(config);
  yield checkTokens(config);
  yield* checkWebhookSessions(config);
  yield* await checkBinding(config);
  const folder = folderOf(config.databaseUrl);
  if (folder !== null) yield await checkFolder(folder);
  yield* await checkDatabase(config.databaseUrl, config.databaseDirectUrl);
  setMailer(createMailer(config.mail));
  yield* checkSender(config);
  yield await checkMail(config);
  yield* checkMailEvents(config);
  if (testAddress !== undefined) yield await checkTestMail(config, testAddress);
  await closeMailer();
  if (webhook) yield await checkWebhook(config);
  yield await checkProvider(config);
  yield* await checkAddress(config);
}

function configOrProblems(environment: Environment): Config | Check[] {
  try {
    return loadConfig(environment);
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error;
    return error.problems.map((problem) => settings.fail(problem, "correct it, then run the doctor again"));
  }
}

const checkNames = (environment: Environment): Check[] =>
  ignoredSettings(environment).map((found) =>
    settings.warn(found, "correct or remove it; docs/settings.md has all names"),
  );

/** @param version of Node; 20 has been without updates since April 2026 */
export function checkNode(version: string): Check {
  const node = checksOf("node");
  const isSupported = Number.parseInt(version, 10) >= 22;
  return isSupported ? node.ok(version) : node.warn(`${version}, which gets no updates any more`, "run Node 24");
}

/** Everybody who may register may enter the application behind the proxy. */
function checkRegistration({ trustedProxies, returnOrigins }: Config, { REGISTRATION }: Environment): Check[] {
  if (REGISTRATION || (trustedProxies === 0 && returnOrigins.length === 0)) return [];
  const found = "anybody can register, and so enter what stands behind /auth/verify";
  return [checksOf("registration").warn(found, "set REGISTRATION to closed or domains, or to open if that is meant")];
}

function checkHost({ trustedProxies, host }: Config): Check[] {
  if (typeof trustedProxies !== "number") {
    const isWide = ([address, prefix]: Network) => prefix < (address.kind() === "ipv4" ? 8 : 32);
    const wide = trustedProxies.filter(isWide).map((network) => network.join("/"));
    const found = `whoever is in ${wide.join(" or ")} chooses the client's address and host (TRUST_PROXY)`;
    return wide.length > 0 ? [checksOf("host").warn(found, "name the proxies' own addresses or networks")] : [];
  }
  if (trustedProxies === 0 || ![null, "0.0.0.0", "::"].includes(host)) return [];
  const found = "whoever reaches the port past the proxy chooses the client's address and host (TRUST_PROXY)";
  return [checksOf("host").warn(found, "set HOST=127.0.0.1, or let only the proxy reach the port")];
}

function checkPasskeys({ relyingPartyId, appUrl }: Config): Check {
  const passkeys = checksOf("passkeys");
  if (relyingPartyId !== null) return passkeys.ok(`on, for ${relyingPartyId}`);
  const found = `off, because browsers have none for ${appUrl}`;
  return passkeys.warn(found, "set APP_URL to an https address with a host name");
}

/** A token counts for the origin that the proxy names. */
function checkTokens({ accessTokens, trustedProxies }: Config): Check {
  const tokens = checksOf("tokens");
  if (!accessTokens) return tokens.ok("off (ACCESS_TOKENS): tokens=on of a proxy changes nothing");
  if (trustedProxies !== 0) return tokens.ok("on, where the proxy asks /auth/verify?tokens=on");
  return tokens.warn("none counts, because no proxy names the origin of a request", "set TRUST_PROXY");
}

/** Behind the proxy, an application learns the `sid` of a session from Remote-Token alone. */
function checkWebhookSessions({ webhook, identityKey }: Config): Check[] {
  if (!webhook?.sessions || identityKey) return [];
  const found = "session.ended names sessions by sid, which no application behind the proxy learns (WEBHOOK_SESSIONS)";
  return [checksOf("webhook").warn(found, "set IDENTITY_TOKENS=on")];
}

const lineOf = ({ status, name, found, fix }: Check) =>
  `${status.padEnd(4)}  ${name.padEnd(12)}  ${found}${fix ? `. Fix: ${fix}` : ""}`;
