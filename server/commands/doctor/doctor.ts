import type { Command } from "commander";
import { type Config, ConfigurationError, type Environment, loadConfig, setConfig } from "../../config";
import { folderOf } from "../../database/embedded";
import { closeMailer, createMailer, setMailer } from "../../mail/mailer";
import { plainIssuerWarning } from "../../settings/combinations";
import type { Network } from "../../settings/formats";
import { unknownNames } from "../../settings/read-settings";
import { CommandError, counted, jsonOption, print } from "../program";
import { checkAddress, checkBinding } from "./address";
import { type Check, checksOf } from "./check";
import { checkDatabase } from "./database";
import { checkFolder } from "./folder";
import { checkMail, checkMailEvents, checkSender, checkTestMail } from "./mail";
import { checkProvider } from "./provider";
import { checkWebhook } from "./webhook";

const settings = checksOf("settings");

const checkNames = (environment: Environment): Check[] =>
  unknownNames(environment).map((found) =>
    settings.warn(found, "correct or remove the name; docs/settings.md has all of them"),
  );

function readSettings(environment: Environment): Config | Check[] {
  try {
    return loadConfig(environment);
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error;
    return error.problems.map((problem) => settings.fail(problem, "correct it, then run the doctor again"));
  }
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

/** Changes nothing, except that it opens an embedded database as a start of the service does. */
async function* examine(environment: Environment, testAddress?: string, webhook?: true): AsyncGenerator<Check> {
  const config = readSettings(environment);
  if (Array.isArray(config)) return yield* [...config, ...checkNames(environment)];
  setConfig(config);
  yield settings.ok(`usable; ${config.production ? "production" : "not production"}`);
  yield* checkNames(environment);
  yield* plainIssuerWarning(config.identityProvider?.issuer).map((found) =>
    settings.warn(found, "give it a certificate"),
  );
  yield* checkRegistration(config, environment);
  yield* checkHost(config);
  yield checkPasskeys(config);
  yield* await checkBinding(config);
  const folder = folderOf(config.databaseUrl);
  if (folder !== null) yield await checkFolder(folder);
  const { checks, installation } = await checkDatabase(config.databaseUrl, config.databaseDirectUrl);
  yield* checks;
  setMailer(createMailer(config.mail));
  yield* checkSender(config);
  yield await checkMail(config);
  yield* checkMailEvents(config);
  if (testAddress !== undefined) yield await checkTestMail(config, testAddress);
  await closeMailer();
  if (webhook) yield await checkWebhook(config);
  yield await checkProvider(config);
  yield* await checkAddress(config, installation);
}

const lineOf = ({ status, name, found, mend }: Check) =>
  `${status.padEnd(4)}  ${name.padEnd(12)}  ${found}${mend ? `. Mend: ${mend}` : ""}`;

async function doctor({ json, mail, webhook }: { json?: true; mail?: string; webhook?: true }): Promise<void> {
  const checks: Check[] = [];
  for await (const check of examine(process.env, mail, webhook)) {
    checks.push(check);
    if (!json) print(lineOf(check));
  }
  if (json) print(JSON.stringify(checks, null, 2));
  const failed = checks.filter(({ status }) => status === "fail").length;
  if (failed > 0) throw new CommandError(`${counted(failed, "check")} failed.`);
}

export function addDoctor(program: Command): void {
  program
    .command("doctor")
    .option("--mail <ADDRESS>", "send a test mail there")
    .option("--webhook", "send the application a webhook of the type latchkey.test")
    .option(...jsonOption)
    .summary("find out what is wrong with this installation")
    .description(
      "Checks the settings, the data folder, the database, the mail service, the identity provider, APP_URL and the " +
        "proxy in front, with one line for each: ok, warn, fail or skip, what was found, and how to mend it. Run it where the " +
        "service runs, as its user and with its settings, while it runs. The status is 1 when a check fails. A running " +
        "service holds its embedded database: that check is skipped, and the service says whether it is ready.",
    )
    .action(doctor);
}
