import { StartError } from "./errors";
import { processValue } from "./process-value";
import { brandConfig } from "./settings/branding";
import { identityProviderConfig } from "./settings/identity-provider";
import { mailConfig } from "./settings/mail";
import { type Environment, readSettings } from "./settings/read-settings";
import { registrationConfig } from "./settings/registration";
import { allowedTarget, type ReturnOrigins } from "./settings/return-to";
import { appUrlOf, brokenRules } from "./settings/rules";
import { metricsConfig } from "./settings/service";
import { given } from "./settings/setting";
import type { AllValues } from "./settings/settings";

export type { Environment };
export type Config = Readonly<ReturnType<typeof configOf>>;

function configOf(v: AllValues, production: boolean) {
  const allowed: ReturnOrigins = { appUrl: appUrlOf(v) as string, returnOrigins: v.RETURN_ORIGINS };
  return {
    production,
    ...allowed,
    /** Where a sign-in ends that names no other place: a path of ours, or a URL of an allowed origin. */
    afterSignIn: given(allowedTarget(v.AFTER_SIGN_IN, allowed)),
    /** The domain of the session cookie; `null`: the cookie belongs to this host alone. */
    sessionDomain: v.SESSION_DOMAIN,
    /** `postgresql://…`, or `pglite:FOLDER` for the embedded database. */
    databaseUrl: v.DATABASE_URL,
    port: v.PORT,
    /** `null`: all interfaces. */
    host: v.HOST,
    /** How many processes serve the port. */
    processes: v.PROCESSES,
    /** How many reverse proxies stand in front; 0 trusts no forwarded header. */
    trustedProxies: v.TRUST_PROXY,
    mail: mailConfig(v),
    brand: brandConfig(v),
    metrics: metricsConfig(v),
    /** For a visitor who asks for no language that there is, and for mails that no page asked for. */
    defaultLanguage: v.DEFAULT_LOCALE,
    registration: registrationConfig(v),
    identityProvider: identityProviderConfig(v),
  };
}

/** Lists every problem of the environment, one per line, and no value of a secret. */
export class ConfigurationError extends StartError {
  override name = "ConfigurationError";

  constructor(readonly problems: readonly string[]) {
    super(["The configuration is not usable:", ...problems.map((problem) => `  - ${problem}`)].join("\n"));
  }
}

/**
 * Reads the whole configuration from the environment, and the secrets that it says are in files.
 *
 * @throws ConfigurationError naming every setting that is missing or malformed, and every file that cannot be read
 */
export function loadConfig(environment: Environment): Config {
  const production = environment.NODE_ENV === "production";
  const { values, problems } = readSettings(environment);
  problems.push(...brokenRules(values, production));
  if (problems.length > 0) throw new ConfigurationError(problems);
  return configOf(values as AllValues, production); // complete: what has no value has a problem
}

const provided = processValue<Config>("config");

/** Makes a configuration the one of this process. */
export function provideConfig(config: Config): void {
  provided.current = config;
}

/** The configuration of this process. */
export function config(): Config {
  if (!provided.current) throw new Error("The configuration has not been loaded.");
  return provided.current;
}
