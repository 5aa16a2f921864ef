import { type Config, type Environment, loadConfig, provideConfig } from "#server/config";
import { createMailer, provideMailer } from "#server/mail/mailer";

/** Sets the configuration from `environment` only, as a start does. */
export function configure(environment: Environment): Config {
  const config = loadConfig({ NODE_ENV: "test", ...environment });
  provideConfig(config);
  provideMailer(createMailer(config.mail));
  return config;
}
