import { type Config, type Environment, loadConfig, provideConfig } from "#server/config";
import { createMailer, provideMailer } from "#server/mail/mailer";

/** Puts a configuration in force as a start does, with `environment` and nothing else of this machine's. */
export function configure(environment: Environment): Config {
  const config = loadConfig({ NODE_ENV: "test", ...environment });
  provideConfig(config);
  provideMailer(createMailer(config.mail));
  return config;
}
