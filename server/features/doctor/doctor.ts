import { type Config, ConfigurationError, type Environment, loadConfig, provideConfig } from "../../config";
import { closeMailer, createMailer, provideMailer } from "../../mail/mailer";
import { checkAddress } from "./address";
import { type Check, checksOf } from "./check";
import { checkDatabase } from "./database";
import { checkFolder } from "./folder";
import { checkMail, checkTestMail } from "./mail";
import { checkProvider } from "./provider";

const settings = checksOf("settings");

/** One finding for each problem. */
function readSettings(environment: Environment): Config | Check[] {
  try {
    return loadConfig(environment);
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error;
    return error.problems.map((problem) => settings.fail(problem, "correct it, then run the doctor again"));
  }
}

/**
 * Looks for what is wrong with an installation, on the machine and with the settings of its service. Nothing is changed,
 * except that an embedded database is opened as a start of the service opens it.
 *
 * @param testAddress where to send a test mail; `null`: none
 */
export async function* examine(environment: Environment, testAddress: string | null): AsyncGenerator<Check> {
  const config = readSettings(environment);
  if (Array.isArray(config)) return yield* config;
  provideConfig(config);
  yield settings.ok(`usable; ${config.production ? "production" : "not production"}`);
  const { databaseUrl } = config;
  if (databaseUrl.startsWith("pglite:")) yield await checkFolder(databaseUrl.slice("pglite:".length));
  const { checks, installationId } = await checkDatabase(databaseUrl);
  yield* checks;
  provideMailer(createMailer(config.mail));
  yield await checkMail(config);
  if (testAddress !== null) yield await checkTestMail(config, testAddress);
  await closeMailer();
  yield await checkProvider(config);
  yield* await checkAddress(config, installationId);
}
