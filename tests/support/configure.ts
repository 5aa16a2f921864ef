import { type Config, type Environment, loadConfig, setConfig } from "#server/config";
import { createMailer, setMailer } from "#server/mail/mailer";

/** Sets the configuration from `environment` only, as a start does. */
export function configure(environment: Environment): Config {
  const config = loadConfig({ NODE_ENV: "test", ...environment });
  setConfig(config);
  setMailer(createMailer(config.mail));
  return config;
}
